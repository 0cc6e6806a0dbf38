// Responses to credentials that are no longer in use.

import TarnHTTP
import TarnStore

extension APIMirror {
    /// Removes the responses of mirrors to other credentials than those of a complete sync.
    ///
    /// They stay if they were requested after the sync before this one had begun: two accounts may
    /// use a store in turn. Responses of caches are left to the limits of the cache.
    func removeUnused(_ used: Set<String>, _ run: SyncRun, _ sync: inout SyncReport) async {
        guard let time = run.previous, !options.isDryRun, sync.failures.isEmpty else { return }
        do {
            var ids = try unusedResponses(but: used, before: time)[...]
            while !ids.isEmpty {
                let step = Array(ids.prefix(APIMirror.removalStep))
                ids = ids.dropFirst(step.count)
                try await store.write(alone: true) { writer in
                    for id in step { try writer.removeResponse(id: id) }
                }
            }
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
    }

    /// The number of responses that one transaction removes.
    private static let removalStep = 1000

    private func unusedResponses(but used: Set<String>, before time: Timestamp) throws -> [UInt64] {
        typealias Listing = ResponseEntry.Listing
        return try store.read { reader in
            let responses = reader.access.responses
            var ids: [UInt64] = []
            // Requests without credentials have no scope.
            for scope in try responses.scopes().subtracting(used) where !scope.isEmpty {
                try responses.forEachID(withPrefix: "", scope: scope) { id in
                    guard let view = try responses.view(id: id), view.validatedAt < time,
                        let identity = view.entry?.listing.identity, !identity.hasPrefix(Listing.cachedIdentity),
                        !identity.hasPrefix(Listing.listIdentity)
                    else { return true }
                    ids.append(id)
                    return true
                }
            }
            return ids
        }
    }
}
