// Records of `for_each` that come while an endpoint is scanned for the others, as those of a tree.

import TarnStore

extension EndpointScan {
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
        guard report.failures.isEmpty, report.leftOut == 0, let found = changedParents() ?? newParents() else {
            return false
        }
        let new = found.filter(hasList), room = roomForParents
        let next = new.prefix(room), rest = new.count - next.count
        report.newParents = found.count - new.count + (options.limit == nil ? rest : 0)
        if options.limit != nil { report.leftOut += rest * parents.listsOfEach }
        leavesNewParents = next.count < found.count
        parents.append(Array(next))
        queue.append(next.count * parents.listsOfEach)
        measured.lists = queue.count
        return !next.isEmpty
    }

    /// Whether the list of a record is requested in the sync that has found the record.
    private func hasList(_ parent: ParentRecord) -> Bool { !parent.isPartial || endpoint.listsExcerpts }

    /// The number of further records whose lists this sync requests.
    private var roomForParents: Int {
        min(
            max(0, options.mostNewParents - (parents.all.count - storedParents)),
            (options.mostLists - queue.count) / max(1, parents.listsOfEach))
    }

    /// Counts the records whose lists this scan has not requested, because it has ended before.
    func noteNewParents() async {
        guard !report.wasStopped, report.leftOut == 0, let new = newParents() else { return }
        report.newParents = new.count
    }

    /// The number of created and updated records, if it has grown since new records were looked
    /// for; else nil.
    ///
    /// An update may complete a partial record, or bring a value for the path.
    private var changed: Int? {
        let changed = report.report.created + report.report.updated
        return changed > changedBefore && mayBringParents ? changed : nil
    }

    /// The records of the next round, if the log of changes has them: a deep tree does not read all
    /// stored records for each of its levels.
    ///
    /// - Returns: nil if ``newParents()`` has to look: the log does not tell, or it has none, or
    ///   more than one sync requests.
    private func changedParents() -> [ParentRecord]? {
        guard let changed, let forEach = endpoint.forEach, let token = parentsToken else { return nil }
        guard let found = try? request.parents(forEach, since: token) else { return nil }
        let new = parents.others(in: found.parents, isByKey: forEach.parent != nil), count = new.count(where: hasList)
        guard count > 0, count < roomForParents else { return nil }
        (changedBefore, parentsToken, hasToLookAgain) = (changed, found.token, true)
        return new
    }

    /// The stored records that the scan is not requested for; nil if it has changed none since it
    /// has looked for them last.
    private func newParents() -> [ParentRecord]? {
        guard changed != nil || hasToLookAgain, let forEach = endpoint.forEach else { return nil }
        changedBefore = changed ?? changedBefore
        hasToLookAgain = false
        do {
            let found = try request.parents(forEach)
            parentsToken = found.token
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
