// Records of `for_each` that come while an endpoint is scanned for the others, as those of a tree.

import TarnStore

extension EndpointScan {
    /// The number of such records whose lists one sync requests. Further ones wait for the next.
    private static let mostNewParents = 10_000

    /// Whether the lists of the scan may bring records that have lists of their own: the end of the
    /// last one is not that of the scan.
    var mayBringParents: Bool {
        guard let forEach = endpoint.forEach, givenParents == nil, !options.isDryRun else { return false }
        let catalog = client.store.catalog, root = catalog.entity(forEach.entity)?.root
        let listed = endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
        return listed.contains { catalog.entity($0)?.root == root }
    }

    /// Queues the lists of the records that the scan itself has stored since the last round: a tree
    /// is scanned to its end. A record is requested once, so that a cycle ends. Partial records, to
    /// which others only refer, wait for the next sync: there is no end of all that refer to more.
    ///
    /// - Returns: false if there are none, or none is to be requested.
    func addNewParents() async -> Bool {
        guard report.failures.isEmpty, report.leftOut == 0, let found = await newParents() else {
            return false
        }
        let new = found.filter { !$0.isPartial || endpoint.listsExcerpts }
        let room = min(
            max(0, EndpointScan.mostNewParents - (parents.all.count - storedParents)),
            (options.mostLists - queue.count) / max(1, parents.listsOfEach))
        let next = new.prefix(room), rest = new.count - next.count
        report.newParents = found.count - new.count + (options.limit == nil ? rest : 0)
        if options.limit != nil { report.leftOut += rest * parents.listsOfEach }
        leavesNewParents = next.count < found.count
        parents.append(Array(next))
        queue.append(next.count * parents.listsOfEach)
        measured.lists = queue.count
        return !next.isEmpty
    }

    /// Counts the records whose lists this scan has not requested, because it has ended before.
    func noteNewParents() async {
        guard !report.wasStopped, report.leftOut == 0, let new = await newParents() else { return }
        report.newParents = new.count
    }

    /// The stored records that the scan is not requested for; nil if it has changed none since it
    /// has looked for them last.
    private func newParents() async -> [ParentRecord]? {
        // An update may complete a partial record, or bring a value for the path.
        let changed = report.report.created + report.report.updated
        guard changed > changedBefore, mayBringParents, let forEach = endpoint.forEach else { return nil }
        changedBefore = changed
        do {
            let found = try request.parents(forEach)
            report.skippedParents = found.skipped
            scannedLists.formUnion(request.lists(of: found.lacking))
            lackingParents = found.lacking
            return parents.others(in: found.parents, isByKey: forEach.parent != nil)
        } catch {
            report.failures.append(MirrorError(error, url: "", place: endpoint.place))
            return nil
        }
    }
}
