// Groups of requests: fetched concurrently, reported together, stored one by one or as one change.

import Foundation
import TarnImport
import TarnStore

extension APIMirror {
    /// Fetches a group of requests and stores their records.
    ///
    /// All first pages are requested at once, as far as the pace allows; they are imported in the
    /// order of the group. A failure concerns one request: the others continue, unless they would
    /// fail for the same reason. Records that a request does not list are no orphans, since it may
    /// cover only a part of the endpoint's list.
    ///
    /// - Parameters:
    ///   - requests: the requests of the group.
    ///   - isAtomic: whether the group is one change of the store, with the entries of its
    ///     responses. If one request fails, nothing is stored. Hooks after drafts and after merging
    ///     are then called for the whole group, those of each endpoint once: also for records that
    ///     another request lists.
    ///   - progress: called when a request is done.
    /// - Returns: a report with an entry for every request, in the order of the group. The first
    ///   entry of an atomic group has the import report of all requests.
    public func sync(
        batch requests: [BatchRequest], isAtomic: Bool = false,
        progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
    ) async -> SyncReport {
        await sync(isAtomic: isAtomic, progress: progress) { pipeline, scope in
            var scans: [EndpointScan] = []
            for request in requests { scans.append(try await scan(request, pipeline, scope)) }
            return scans
        }
    }

    /// Fetches a group of scans, which are made anew for the repetition of an atomic group.
    ///
    /// - Parameter atCommit: runs at the end of the transaction of an atomic group.
    func sync(
        isAtomic: Bool, atCommit: EndpointScan.AtCommit? = nil,
        progress: @escaping @Sendable (BatchProgress) -> Void = { _ in },
        scans make: (ImportPipeline, _ authScope: String) async throws -> [EndpointScan]
    ) async -> SyncReport {
        var sync = SyncReport()
        do {
            let pipeline = try ImportPipeline(description.mapping, store.catalog, plans: description.plans),
                scope = try await client.authScope()
            // If a 304 of an atomic group is void, the group is repeated once, without conditions.
            for isUnconditional in [false, true] {
                var scans = try await make(pipeline, scope)
                for index in scans.indices { scans[index].isUnconditional = isUnconditional }
                // All first pages are requested before the first one is imported.
                for index in scans.indices { scans[index].askFirst() }
                var done = 0, isOver = false, requested = 0
                for index in scans.indices {
                    scans[index].holdsCommits = isAtomic
                    if isOver {
                        scans[index].giveUp()
                    } else {
                        await scans[index].run()
                        requested += 1
                    }
                    let failures = scans[index].report.failures
                    isOver = isOver || failures.contains(where: \.endsEverything) || isAtomic && !failures.isEmpty
                    done += 1
                    guard !isUnconditional else { continue }
                    progress(
                        BatchProgress(
                            index: index, hasFailed: isOver || !failures.isEmpty, done: done, count: scans.count))
                }
                let isCommitted = isAtomic && !isOver ? await EndpointScan.commitHeld(&scans, atCommit: atCommit) : true
                sync.endpoints = scans.map(\.report)
                if isCommitted {
                    for scan in scans.prefix(requested) { await scan.noteOutcome() }
                    break
                }
            }
        } catch {
            sync.endpoints = [failed(error)]
        }
        await saveBudgets(&sync)
        return sync
    }

    private func scan(
        _ request: BatchRequest, _ pipeline: ImportPipeline, _ scope: String
    ) async throws -> EndpointScan {
        guard var endpoint = description.endpoints.first(where: { $0.name == request.endpoint }) else {
            throw MirrorError.endpoint(place: description.file, message: "unknown endpoint \(request.endpoint)")
        }
        let fingerprint = description.fingerprint(of: endpoint)
        endpoint.replaceParameters(by: request.parameters)
        endpoint.orphans = nil
        if let limits = request.limits { endpoint.limits = limits }
        let own = client.client(of: endpoint)
        let scan = EndpointScan(
            EndpointRequest(
                client: own, endpoint: endpoint, fingerprint: fingerprint,
                authScope: endpoint.api == nil ? scope : try await own.authScope()), options,
            pipeline: pipeline, retry: request.retry)
        // A checkpoint of its own: the endpoint's describes the whole list.
        scan.variant = EndpointScan.variant(of: request.parameters)
        return scan
    }
}

extension EndpointScan {
    /// The name of a scan with these parameters, beside the endpoint's own; nil without parameters.
    static func variant(of parameters: [Endpoint.Parameter]) -> String? {
        guard !parameters.isEmpty else { return nil }
        return SHA256.shortHexadecimal(parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "\n"))
    }

    /// Whether the name of a checkpoint, behind that of the endpoint, begins with a variant.
    ///
    /// The key of a record may begin with `#`, too.
    static func isVariant(_ name: Substring) -> Bool {
        let parts = name.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let digest = parts.first?.utf8, digest.count == 17, digest.first == UInt8(ascii: "#") else {
            return false
        }
        return digest.dropFirst().allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
    }
}

extension Endpoint {
    /// Replaces parameters of the same names; others are added.
    package mutating func replaceParameters(by others: [Parameter]) {
        let names = Set(others.map(\.name))
        parameters = parameters.filter { !names.contains($0.name) } + others
    }
}
