// Several requests as one group: fetched side by side, reported together, and stored one by one or as one change.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension Mirror {
    /// Fetches a group of requests and stores what they answer.
    ///
    /// The first pages of all of them are asked for at once, as far as the pace allows; they are imported in the order of the group. A failure
    /// is that request's own: the others go on, unless they would fail for the same reason. Records that a request does not list are no
    /// orphans, since it may be about a part of the endpoint's list only.
    ///
    /// - Parameters:
    ///   - isAtomic: whether all of it is one change of the store, with the answers' entries: then nothing is stored if one fails. Hooks after
    ///     drafts and after merging are then called for the whole of it, those of each endpoint once: also for what another request lists.
    ///   - progress: called when a request is done.
    /// - Returns: a report with an entry for every request, in the order of the group. Of an atomic group what happened to records is in the
    ///   first entry, since it happened to all at once.
    public func sync(
        batch requests: [BatchRequest], isAtomic: Bool = false, progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport()
        do {
            let pipeline = try ImportPipeline(description.mapping, store.catalog), scope = try await scope()
            // Once more, without conditions, if a 304 of an atomic group does not count any more.
            for isUnconditional in [false, true] {
                var walks: [Walk] = []
                for request in requests { walks.append(try walk(request, pipeline, scope, isUnconditional: isUnconditional)) }
                // Side by side, though they are taken one after the other.
                for index in walks.indices { walks[index].askFirst() }
                var done = 0, isOver = false
                for index in walks.indices {
                    walks[index].holdsCommits = isAtomic
                    if isOver { walks[index].giveUp() } else { await walks[index].run() }
                    let failures = walks[index].report.failures
                    isOver = isOver || failures.contains(where: \.endsEverything) || isAtomic && !failures.isEmpty
                    done += 1
                    guard !isUnconditional else { continue }
                    progress(BatchProgress(index: index, hasFailed: isOver || !failures.isEmpty, done: done, count: walks.count))
                }
                let isCommitted = isAtomic && !isOver ? await Walk.commitHeld(&walks) : true
                sync.endpoints = walks.map(\.report)
                if isCommitted { break }
            }
        } catch {
            sync.endpoints = [failed(error)]
        }
        await saveBudgets(&sync)
        return sync
    }

    private func walk(_ request: BatchRequest, _ pipeline: ImportPipeline, _ scope: String, isUnconditional: Bool) throws -> Walk {
        guard var endpoint = description.endpoints.first(where: { $0.name == request.endpoint }) else {
            throw MirrorError.endpoint(place: description.file, message: "there is no endpoint \(request.endpoint)")
        }
        let fingerprint = description.fingerprint(of: endpoint), names = Set(request.parameters.map(\.name))
        endpoint.parameters = endpoint.parameters.filter { !names.contains($0.name) } + request.parameters
        endpoint.orphans = nil
        if let limits = request.limits { endpoint.limits = limits }
        var walk = Walk(
            mirror: self, endpoint: endpoint, pipeline: pipeline, authScope: scope, fingerprint: fingerprint, progress: { _ in },
            retry: request.retry)
        walk.isUnconditional = isUnconditional
        // Progress of its own: the endpoint's is about the whole list.
        walk.variant = request.parameters.isEmpty
            ? nil : SHA256.hexadecimal(request.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")).prefix(16).description
        return walk
    }
}
