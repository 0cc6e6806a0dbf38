// The orphan pass at the end of a scan: decides about unlisted records, one transaction per step.

import TarnHTTP
import TarnImport
import TarnStore

/// A pass over the records that a complete scan did not list.
///
/// A record is processed and marked as processed in the same transaction. If a pass is interrupted,
/// even by a kill, the next run continues with the remaining records.
struct OrphanPass {
    private let request: EndpointRequest
    private let options: APIMirror.Options
    let rules: Orphans
    let identity: ScanIdentity
    let parent: RecordKey?
    let scan: UInt64
    private let checkpointName: String
    /// The lists of the endpoint, by the identities in their responses.
    private let lists: Set<String>
    /// The lists of other endpoints; nil if they are unknown.
    private let others: OtherLists?
    /// Lists that are no longer requested; nil if they are unknown.
    private var unused: UnusedLists?
    /// The time when the complete scan before this one began; nil if it is unknown.
    private let previous: Timestamp?
    /// Whether only requests for records decide: what the lists miss does not count.
    var isOnlyAnswered = false
    /// The time when the earliest scan of the endpoint's lists began; nil for that of this one.
    var began: Timestamp?
    /// The last commit before that; nil for the one before the beginning of this scan.
    var begunAfter: UInt64?
    /// The scans of other endpoints to which a record may have moved; nil if there are none.
    var otherScans: OtherScans?
    /// The knowledge from these scans; nil if there are none, or before the first candidate.
    private var moves: OrphanDecision.Moves?
    /// The endpoints with progress of lists of changes that the description does not have, shared
    /// by the passes over several lists; nil before the first decision.
    var former: Set<String>?
    /// The siblings of the list of a typed request; nil for a list of a description.
    var siblings: SiblingLists?
    /// The lists of which a scan has reached all pages, shared by the passes over several lists.
    var wholeLists = WholeLists()
    private(set) var report = OrphanReport()
    private(set) var imported: ImportReport
    /// The ids of entities that are excluded from the pass.
    private var unlisted: Set<UInt16> = []
    /// The number of individual requests that are left.
    private var checksLeft: Int

    init(
        _ request: EndpointRequest, _ options: APIMirror.Options, _ rules: Orphans, _ completed: Batch.Completed,
        lists: Set<String> = [], others: OtherLists? = nil
    ) {
        self.request = request
        self.options = options
        self.rules = rules
        identity = completed.identity
        parent = completed.parent
        scan = completed.scan
        checkpointName = completed.checkpointName
        self.lists = lists
        self.others = others
        previous = completed.previous
        checksLeft = options.orphanCheckLimit
        report.isDryRun = options.reportsOrphansOnly
        imported = ImportReport(keyLimit: request.client.options.keyLimit)
    }

    private var client: APIClient { request.client }
    private var endpoint: Endpoint { request.endpoint }

    /// The result of an individual request for a record.
    enum Answer: Sendable {
        case gone, exists, unknown
    }

    private struct Candidate: Sendable {
        var record: ListedRecord
        var answer = Answer.unknown
    }

    mutating func run() async throws {
        unlisted = try unlistedEntities()
        // The records of a scope are collected once; members of scans are read step by step.
        var others = rules.scope == .listed ? [] : try scopeRecords()[...], last: ListedRecord?
        while true {
            try Task.checkCancellation()
            var candidates: [Candidate]
            if rules.scope == .listed {
                candidates = try members(after: last)
                last = candidates.last?.record
            } else {
                candidates = others.prefix(options.orphanStep).map { Candidate(record: $0) }
                others = others.dropFirst(candidates.count)
            }
            guard !candidates.isEmpty else { return }
            if moves == nil, let otherScans { moves = try await moves(otherScans) }
            if let previous {
                let others = try otherLists(candidates, before: previous)
                unused = UnusedLists(
                    previous, now: client.now, lists, client.description, endpoint, checkpointName, others: others)
            }
            try await ask(&candidates)
            // A cancelled request decides nothing, and must not lead to a deletion.
            try Task.checkCancellation()
            // A record whose deletion exceeds a step ends its step.
            var rest = candidates[...], reduced: ListedRecord?
            while !rest.isEmpty {
                let large = try await decide(on: Array(rest), reduced: reduced)
                rest = rest.dropFirst(large.done)
                guard let (entity, key) = large.record else { continue }
                _ = try await client.store.deleteMost(entity, key, step: options.orphanStep)
                reduced = rest.first?.record
            }
        }
    }

    // MARK: Candidates

    /// The known entities without a listed record, in a scan of several entities.
    ///
    /// A part of the response may be missing.
    private mutating func unlistedEntities() throws -> Set<UInt16> {
        guard !endpoint.envelope.isEmpty, !rules.allowsEmpty else { return [] }
        let scan = scan, members = identity.members
        let (unlisted, names) = try client.store.read { reader in
            var known: Set<UInt16> = [], listed: Set<UInt16> = []
            try reader.access.scans.forEach(of: members) { member in
                known.insert(member.record.entity)
                if member.lastListed == scan { listed.insert(member.record.entity) }
                return true
            }
            let unlisted = known.subtracting(listed)
            return (unlisted, unlisted.compactMap { reader.catalog.entity(id: $0)?.name }.sorted())
        }
        report.refusals = names.map { "the scan lists no \($0); set allow_empty: true if that is possible" }
        return unlisted
    }

    /// The next records that only earlier scans have listed and that are not yet processed.
    private func members(after last: ListedRecord?) throws -> [Candidate] {
        let scan = scan, limit = options.orphanStep, unlisted = unlisted
        return try client.store.read { reader in
            var candidates: [Candidate] = []
            try reader.access.scans.forEach(of: identity.members, after: last) { member in
                let isOpen =
                    member.lastListed < scan && member.decided < scan && !unlisted.contains(member.record.entity)
                if isOpen { candidates.append(Candidate(record: member.record)) }
                return candidates.count < limit
            }
            return candidates
        }
    }

    /// The records of the scope that this scan has not listed and that are not yet processed.
    ///
    /// Partial records are excluded that no earlier scan of the list has listed: others only refer
    /// to them. The list has the excerpts of records whose details never came.
    private func scopeRecords() throws -> [ListedRecord] {
        let condition: Condition
        switch rules.scope {
        case .listed: return []
        case .entity: condition = .all
        case .matching(let other): condition = other
        case .owner:
            guard let parent, let relationship = endpoint.forEach?.parent else { return [] }
            condition = .compare(FieldPath([relationship]), .equal, .reference(parent))
        }
        let scan = scan, members = identity.members
        return try client.store.read { reader in
            guard let root = reader.catalog.entity(endpoint.entity)?.root else { return [] }
            var records: [ListedRecord] = []
            try reader.forEach(Query(endpoint.entity, where: condition)) { record in
                let listed = ListedRecord(entity: root, storageKey: record.key.storageKey)
                let member = try reader.access.scans.member(listed, of: members)
                if record.isPartial, member.map({ $0.lastListed == 0 }) ?? true { return true }
                if member.map({ $0.lastListed < scan && $0.decided < scan }) ?? true { records.append(listed) }
                return true
            }
            return records
        }
    }

    /// The lists of other endpoints, if a response of one of them that was confirmed before a time
    /// lists a candidate.
    private func otherLists(
        _ candidates: [Candidate], before time: Timestamp
    ) throws -> [String: OtherLists.Lists] {
        guard let others else { return [:] }
        let own = "\(endpoint.name) ", now = client.now
        let isNeeded = try client.store.read { reader in
            let responses = reader.access.responses
            return try candidates.contains { candidate in
                try responses.ids(listing: candidate.record).contains { id in
                    guard let view = try responses.view(id: id) else { return false }
                    return UnusedLists.isEarlier(view.validatedAt, than: time, now: now)
                        && !view.endpoint.hasPrefix(own)
                }
            }
        }
        return isNeeded ? try others.all() : [:]
    }

    // MARK: Other endpoints

    /// Notes up to which scan the other endpoints are known to lack what the list has missed.
    ///
    /// A scan is settled when scans of all other lists have begun after its end and have reached
    /// their ends. Then the present one is the next to be settled.
    private func moves(_ others: OtherScans) async throws -> OrphanDecision.Moves {
        let now = client.now, name = checkpointName, scan = scan
        guard let old = try client.store.read({ try $0.checkpoint(name) }), old.scan == scan else {
            return OrphanDecision.Moves(settled: 0)
        }
        var checkpoint = old, missing: [String] = []
        // A time in the future is from when the clock was ahead.
        if let awaited = old.awaitedScan, let time = old.awaitedSince, awaited <= scan, time <= now {
            missing = try others.endpoints(notScannedSince: time)
            if missing.isEmpty {
                checkpoint.settledScan = awaited
                (checkpoint.awaitedScan, checkpoint.awaitedSince) = (scan, now)
            }
        } else {
            (checkpoint.awaitedScan, checkpoint.awaitedSince) = (scan, now)
        }
        if checkpoint != old {
            let changed = checkpoint
            try await client.store.write(alone: true) { writer in
                // Another writer may have forgotten the progress of the list since.
                guard var present = try writer.access.checkpoints.checkpoint(name), present.scan == scan else { return }
                present.settledScan = changed.settledScan
                (present.awaitedScan, present.awaitedSince) = (changed.awaitedScan, changed.awaitedSince)
                try writer.setCheckpoint(name, present)
            }
        }
        let isLate = checkpoint.awaitedScan.map { $0 < scan } ?? false
        return OrphanDecision.Moves(
            settled: checkpoint.settledScan ?? 0, resumed: checkpoint.resumedScan ?? 0,
            missing: isLate ? missing : [])
    }

    // MARK: Asking

    /// Requests candidates individually, if the endpoint declares how.
    private mutating func ask(_ candidates: inout [Candidate]) async throws {
        guard let check = rules.check else { return }
        let template = try PathTemplate(check), transport = client.transport(for: endpoint)
        for index in candidates.indices where checksLeft > 0 {
            guard let url = try url(template, candidates[index].record) else { continue }
            try Task.checkCancellation()
            checksLeft -= 1
            // A failed request decides nothing.
            guard let response = try? await transport.send(client.request(url, headers: endpoint.headers)) else {
                continue
            }
            switch response.status {
            case 404, 410: candidates[index].answer = .gone
            case 200..<400: candidates[index].answer = .exists
            default: break
            }
        }
    }

    /// The URL of a record; nil if the record is not stored, or lacks a value for the path.
    private func url(_ template: PathTemplate, _ listed: ListedRecord) throws -> String? {
        let variable = Endpoint.ForEach.variable(of: endpoint.entity), parameters = endpoint.parameters
        let values = try client.store.read { reader -> [String: String]? in
            guard let record = try reader.access.record(listed) else { return nil }
            var values: [String: String] = [:]
            for name in template.variables {
                if name.hasPrefix(variable + ".") {
                    let path = name.dropFirst(variable.count + 1).split(separator: ".").map(String.init)
                    guard let value = try reader.text(at: path[...], of: record) else { return nil }
                    values[name] = value
                } else if let parameter = parameters.first(where: { $0.name == name }) {
                    values[name] = parameter.value
                }
            }
            return values
        }
        guard let values, let path = try? template.expanded(values) else { return nil }
        let query = client.api.parameters.filter { values[$0.name] == nil }.map { ($0.name, $0.value) }
        return QueryParameters.append(query, to: client.api.base + path)
    }

    // MARK: Deciding

    /// The endpoints with progress of lists of changes that the description does not have.
    ///
    /// A first scan that is under way may not have a value yet. The checkpoint of a sync, with `*`
    /// before its name, is of no endpoint.
    private func formerEndpoints() throws -> Set<String> {
        let names = Set(client.description.endpoints.map(\.name))
        var found: Set<String> = []
        try client.store.read { reader in
            try reader.forEachCheckpoint(withPrefix: "") { list, progress in
                let name = String(list.prefix { $0 != " " })
                if progress.forgotten != nil, name != "*", !names.contains(name) { found.insert(name) }
            }
        }
        return found
    }

    /// The result of one transaction.
    private struct Step: Sendable {
        var done = 0
        var report = OrphanReport()
        var imported: ImportReport
        /// The next record, if its deletion exceeds a step.
        var record: (entity: String, key: RecordKey)?
    }

    /// Processes candidates, up to the first whose deletion exceeds a step.
    ///
    /// - Parameter reduced: see ``OrphanDecision/reduced``.
    private mutating func decide(on candidates: [Candidate], reduced: ListedRecord?) async throws -> (
        done: Int, record: (entity: String, key: RecordKey)?
    ) {
        let mapping = client.description.mapping, schema = client.description.schema, catalog = client.store.catalog
        let root = catalog.entity(endpoint.entity)?.root
        let details = client.description.endpoints.filter { other in
            // The endpoint itself does not count: each of its lists is a scan of its own.
            other.name != endpoint.name && root != nil && catalog.entity(other.entity)?.root == root
                && other.forEach.flatMap { catalog.entity($0.entity)?.root } == root
        }
        let former = try former ?? formerEndpoints()
        self.former = former
        let decision = OrphanDecision(
            endpoint: endpoint, rules: rules, identity: identity, parent: parent, scan: scan, limit: options.orphanStep,
            reduced: reduced, isDryRun: options.reportsOrphansOnly, mayDelete: options.mayDelete,
            decides: options.decidesOrphan, mark: options.marksOrphan, details: details,
            checkpointName: checkpointName,
            isOnlyAnswered: isOnlyAnswered,
            began: began,
            begunAfter: begunAfter,
            now: client.now,
            moves: moves,
            unused: unused,
            former: former,
            siblings: siblings,
            wholeLists: wholeLists,
            keepsLocal: Set(schema.entities.map(\.name).filter { mapping.local(of: $0, in: schema) != .server }))
        let keyLimit = client.options.keyLimit
        let step = try await client.store.write(alone: true) { writer in
            var step = Step(imported: ImportReport(keyLimit: keyLimit))
            let (done, record) = try decision.run(
                candidates.map { ($0.record, $0.answer) }, &writer, &step.report, &step.imported)
            step.done = done
            step.record = record
            return step
        }
        report.add(step.report)
        imported.add(step.imported)
        return (step.done, step.record)
    }
}
