// Responses to credentials that are no longer in use.

import TarnStore

extension APIMirror {
    /// Removes the responses of mirrors to other credentials than those of a complete sync.
    ///
    /// They stay if they were requested after the sync before this one had begun: two accounts may
    /// use a store in turn. Responses of caches are left to the limits of the cache, and those of
    /// endpoints that the description does not have may be of another mirror in the store.
    func removeUnused(_ used: Set<String>, _ run: SyncRun, _ sync: inout SyncReport) async {
        guard let time = run.previous, sync.failures.isEmpty, !options.isPartial else { return }
        let declared = Set(description.endpoints.map(\.name))
        await removeUnused(but: used, &sync) { _, endpoint in declared.contains(endpoint) ? time : nil }
    }

    /// Removes the responses of single endpoints to other credentials than those of complete scans.
    ///
    /// They stay if they were requested after the scan of the endpoint before this one had begun.
    func removeUnused(of requests: [EndpointRequest], _ sync: inout SyncReport) async {
        if options.isPartial { return }
        var scans: [String: (scope: String, time: Timestamp)] = [:]
        let reports = Dictionary(sync.endpoints.map { ($0.name, $0) }) { first, _ in first }
        for request in requests {
            guard let report = reports[request.endpoint.name],
                report.failures.isEmpty, !report.wasStopped, let time = report.previous
            else { continue }
            scans[request.endpoint.name] = (request.authScope, time)
        }
        guard !scans.isEmpty else { return }
        let apis = Set(requests.map(\.client.apiName))
        let others = Set(
            description.endpoints.filter { !apis.contains(description.apiName(of: $0)) }.map(\.name))
        await removeUnused(but: Set(requests.map(\.authScope)), others: others, &sync) { scope, endpoint in
            scans[endpoint].flatMap { $0.scope == scope ? nil : $0.time }
        }
    }

    /// - Parameters:
    ///   - others: the endpoints of other APIs: credentials whose first response is to one of them
    ///     are passed over.
    ///   - time: returns the time before which a response to a scope of credentials and an endpoint
    ///     must have been confirmed to go; nil if it stays.
    private func removeUnused(
        but used: Set<String>, others: Set<String> = [], _ sync: inout SyncReport,
        before time: (_ scope: String, _ endpoint: String) -> Timestamp?
    ) async {
        do {
            try await store.removeResponses(try unusedResponses(but: used, others, before: time))
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
    }

    private func unusedResponses(
        but used: Set<String>, _ others: Set<String>,
        before time: (_ scope: String, _ endpoint: String) -> Timestamp?
    ) throws -> [UnusedResponse] {
        typealias Listing = ResponseEntry.Listing
        let now = client.now
        return try store.read { reader in
            let responses = reader.access.responses
            var found: [UnusedResponse] = []
            // Requests without credentials have no scope.
            for scope in try responses.scopes().subtracting(used) where !scope.isEmpty {
                var isFirst = true
                try responses.forEachID(withPrefix: "", scope: scope) { id in
                    guard let view = try responses.view(id: id) else { return true }
                    let name = String(RequestKey.name(ofEndpoint: view.endpoint))
                    if isFirst, others.contains(name) { return false }
                    isFirst = false
                    guard let time = time(scope, name), time.isLater(than: view.validatedAt, at: now),
                        let identity = view.entry?.listing.identity, !identity.hasPrefix(Listing.cachedIdentity),
                        !identity.hasPrefix(Listing.listIdentity)
                    else { return true }
                    found.append(UnusedResponse(view))
                    return true
                }
            }
            return found
        }
    }
}

/// A response that nothing uses, as it was when that was found.
struct UnusedResponse: Sendable {
    let id: UInt64
    private let validatedAt: Timestamp
    private let scan: UInt64?

    init(_ view: ResponseView) { (id, validatedAt, scan) = (view.id, view.validatedAt, view.scan) }

    /// Whether no other writer has confirmed or replaced the response since.
    fileprivate func isUnchanged(_ access: StoreAccess) throws -> Bool {
        try access.responses.view(id: id).map { $0.validatedAt == validatedAt && $0.scan == scan } ?? false
    }
}

extension Store {
    /// The number of responses that one transaction removes.
    private static let removalStep = 1000

    /// Removes responses, some in each of several transactions.
    ///
    /// One that was confirmed or replaced since it was found stays.
    func removeResponses(_ found: [UnusedResponse]) async throws {
        var rest = found[...]
        while !rest.isEmpty {
            let step = Array(rest.prefix(Store.removalStep))
            rest = rest.dropFirst(step.count)
            try await write(alone: true) { writer in
                for response in step where try response.isUnchanged(writer.access) {
                    try writer.removeResponse(id: response.id)
                }
            }
        }
    }
}
