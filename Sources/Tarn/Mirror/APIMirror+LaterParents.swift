// Records of a `for_each` that another endpoint of the sync has stored after their turn.

import TarnStore

extension APIMirror {
    /// Counts the records whose lists a sync has not requested, because another endpoint has stored
    /// them since the one with the `for_each` began: one of two endpoints that each list the
    /// records of the other's `for_each` is scanned first.
    ///
    /// - Parameters:
    ///   - before: for each endpoint, those that had ended before it began.
    ///   - reports: the reports of the endpoints, in the order of the requests.
    func noteLaterParents(
        _ requests: [EndpointRequest], endedBefore before: [BitSet], in reports: inout [SyncReport.Endpoint?]
    ) {
        guard !options.isPartial else { return }
        for index in requests.indices {
            guard let forEach = requests[index].endpoint.forEach, let report = reports[index],
                report.failures.isEmpty, !report.wasStopped, report.newParents == 0
            else { continue }
            let isLater = requests.indices.contains { other in
                other != index && !before[index].contains(other) && requests[other].endpoint.forEach != nil
                    && (reports[other].map { brings(forEach.entity, requests[other].endpoint, $0) } ?? false)
            }
            guard isLater else { continue }
            do {
                reports[index]?.newParents = try newParents(of: requests[index], forEach)
            } catch {
                reports[index]?.failures.append(MirrorError(error, url: "", place: requests[index].place))
            }
        }
    }

    /// Whether an endpoint that lists records of a tree of entities has created some.
    private func brings(_ entity: String, _ endpoint: Endpoint, _ report: SyncReport.Endpoint) -> Bool {
        let root = store.catalog.entity(entity)?.root
        func isOfTree(_ name: String) -> Bool { store.catalog.entity(name)?.root == root }
        let listed = endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
        return listed.contains(where: isOfTree)
            && report.report.entities.contains { $0.value.created > 0 && isOfTree($0.key) }
    }

    /// The number of stored records whose lists no scan has begun.
    private func newParents(of request: EndpointRequest, _ forEach: Endpoint.ForEach) throws -> Int {
        let found = try request.parents(forEach).parents.filter { !$0.isPartial || request.endpoint.listsExcerpts }
        let names = request.listNames(of: found.map(\.key)).prefix(found.count)
        return try store.read { reader in try names.count { try reader.checkpoint($0) == nil } }
    }
}
