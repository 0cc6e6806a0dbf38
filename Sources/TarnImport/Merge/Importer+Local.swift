// Merging with local changes that the server does not have yet.

internal import TarnStore

extension Importer {
    /// The part of a draft that applies to a marked record.
    enum LocalOutcome {
        /// All of it: the record is not marked, or the server takes precedence.
        case whole
        /// Nothing: the record was deleted locally.
        case nothing
        /// Nothing: the response may be older than a change that the server has.
        case older
        /// A part, which was written.
        ///
        /// `isWide` is of the written body. `kept` is the plan of the concrete entity that the
        /// record keeps, if it is not that of the draft.
        case part(isWide: Bool, kept: Int?)
    }

    /// Removes the locally changed fields from a draft, and stores the server's values in the mark.
    func respectLocal(
        _ planIndex: Int, _ key: Bytes, _ body: RowBody, into rest: inout ByteWriter, _ writer: inout StoreWriter
    ) throws -> LocalOutcome {
        let access = writer.access, plan = plan.plans[planIndex], entity = plan.entity
        if isOvertaken(entity.root, key) {
            return try access.lending { try access.records.row(root(of: entity), key) } == nil ? .nothing : .older
        }
        guard let mark = try access.localChanges.mark(entity.root, key) else { return .whole }
        // The root entity: the record may be of any concrete entity.
        let tree = root(of: entity)
        let row = try access.lending { try access.records.row(tree, key).map { Array($0.body.bytes) } }
        let (isWide, stored) =
            try access.lending { try access.records.row(tree, key).map { ($0.isWide, $0.entity) } } ?? (
                false, entity.id
            )
        // A record that is not stored has no local values to keep.
        guard try !yieldsToServer(plan, key, writer), mark.operation == .delete || row != nil else {
            try writer.removeLocalMark(entity.root, key)
            return .whole
        }
        let isWhole = plan.policies.local == .keep || mark.operation != .update
        let keptPlan = keptKind(planIndex, stored, isWhole: isWhole)
        var merge = LocalMerge(
            mark, keeps: isWhole, fields: keptPlan.map { Set(self.plan.plans[$0].entity.fields.map(\.id)) })
        for index in 0..<body.count {
            let id = body.id(at: index)
            guard let value = body.value(at: index) else { continue }
            guard merge.keepsLocal(id, value, entity) else { continue }
            let isSame = try row?.withUnsafeBytes { bytes in
                try RowBody(bytes, isWide: isWide)?.value(of: id).map { try haveSameContent($0, value, access) }
                    ?? value.isNull
            }
            if isSame != true { merge.kept.append(entity.field(id: id)?.name ?? "#\(id)") }
        }
        if merge.isNews { try writer.putLocalMark(merge.mark, entity.root, key) }
        if mark.operation == .delete {
            leftOut.insert(ListedRecord(entity: entity.root, storageKey: Array(key)))
            reportKept(
                entity, key, nil, "deleted locally, and not yet at the server; it is not restored")
            return .nothing
        }
        // No response tells the kind again by itself.
        if keptPlan != nil { leftOut.insert(ListedRecord(entity: entity.root, storageKey: Array(key))) }
        reportKept(merge.kept, entity, key, as: keptPlan.map { self.plan.plans[$0].entity })
        rest.removeAll()
        let restIsWide = merge.builder.isWide
        merge.builder.finish(into: &rest)
        return .part(isWide: restIsWide, kept: keptPlan)
    }

    /// The division of a draft into the fields to write and those that keep their local value.
    private struct LocalMerge: ~Copyable {
        /// The mark, with the server's values of the fields that are kept.
        var mark: LocalMark
        /// Whether the mark has changed.
        var isNews: Bool
        /// The fields to write.
        var builder = BodyBuilder()
        /// The names of the fields whose local value differs.
        var kept: [String] = []
        private let keepsAll: Bool
        /// The fields of the entity that the record keeps; nil if it takes the draft's entity.
        private let fields: Set<UInt16>?

        init(_ mark: LocalMark, keeps keepsAll: Bool, fields: Set<UInt16>?) {
            self.mark = mark
            self.keepsAll = keepsAll
            self.fields = fields
            isNews = mark.isGoneAtServer
            self.mark.isGoneAtServer = false
        }

        /// Adds a field to those to write, or stores the server's value in the mark.
        ///
        /// - Returns: whether the field keeps its local value.
        mutating func keepsLocal(_ id: UInt16, _ value: EncodedValue, _ entity: Catalog.Entity) -> Bool {
            // Fields that the kept entity lacks are not lost: they come again after the server has
            // the change.
            if let fields, id != WholeKey.field, !fields.contains(id) { return false }
            guard id != WholeKey.field, !entity.key.contains(id), keepsAll || mark.covers(id) else {
                builder.field(id, value)
                if mark.forget(id) { isNews = true }
                return false
            }
            if mark.remember(id, value) { isNews = true }
            return true
        }
    }

    /// Reports the entity and the fields that a changed record keeps.
    private func reportKept(
        _ fields: [String], _ entity: Catalog.Entity, _ key: Bytes, as kind: Catalog.Entity?
    ) {
        if let kind {
            reportKept(
                kind, key, nil,
                "changed locally, and not yet at the server; it stays a \(kind.name), although the response has a \(entity.name)"
            )
        }
        if !fields.isEmpty {
            reportKept(
                entity, key, fields.count == 1 ? fields[0] : nil,
                "changed locally, and not yet at the server; \(fields.joined(separator: ", ")) keeps the local value"
            )
        }
    }

    /// Returns the plan of the entity that a marked record keeps.
    ///
    /// Nil if the record takes the response's entity, or is of it already. /// A record that is
    /// kept as a whole keeps its entity. Another record takes the response's entity only if that is
    /// a descendant: other entities lack fields that may hold local values.
    private func keptKind(_ planIndex: Int, _ stored: UInt16, isWhole: Bool) -> Int? {
        let said = plan.plans[planIndex].entity
        guard stored != said.id, let known = plan.plans.firstIndex(where: { $0.entity.id == stored }) else {
            return nil
        }
        return !isWhole && plan.kinds.isKind(planIndex, of: known) ? nil : known
    }

    /// Returns whether two values are equal, although a long stored list may be in the edge table.
    private func haveSameContent(_ stored: EncodedValue, _ said: EncodedValue, _ access: StoreAccess) throws -> Bool {
        if said.isContained(in: stored) { return true }
        guard said.tag == ValueTag.references, stored.tag == ValueTag.edges else { return false }
        var a: [[UInt8]] = [], b: [[UInt8]] = []
        _ = said.forEachReference { a.append(Array($0)) }
        _ = try access.forEachReference(stored) {
            b.append(Array($0))
            return true
        }
        return a == b
    }

    /// Returns whether a marked record is kept although it is deleted at the server.
    ///
    /// The deletion is stored in the mark.
    func keepsDeleted(_ plan: EntityPlan, _ key: Bytes, _ writer: inout StoreWriter) throws -> Bool {
        guard var mark = try writer.access.localChanges.mark(plan.entity.root, key) else { return false }
        if mark.operation == .delete, try writer.access.outbox.hasOperations(plan.entity.root, key) {
            // The deletion is still queued. Discarding it does not restore the record.
            mark.isGoneAtServer = true
            try writer.putLocalMark(mark, plan.entity.root, key)
            return false
        }
        // An operation of another record does not keep it: no request would find it missing.
        let isServers =
            try plan.policies.local == .server && !writer.access.outbox.hasOperations(plan.entity.root, key, own: true)
        guard !isServers, mark.operation != .delete else {
            // Both sides agree, or the server takes precedence.
            try writer.removeLocalMark(plan.entity.root, key)
            return false
        }
        if !mark.isGoneAtServer {
            mark.isGoneAtServer = true
            try writer.putLocalMark(mark, plan.entity.root, key)
        }
        leftOut.insert(ListedRecord(entity: plan.entity.root, storageKey: Array(key)))
        reportKept(
            plan.entity, key, nil,
            "deleted at the server, but changed locally; it is kept")
        return true
    }

    /// Returns whether a record was changed by an operation that has reached the server after the
    /// unit's requests were sent.
    func isOvertaken(_ root: UInt16, _ key: Bytes) -> Bool {
        guard !overtaken.isEmpty, overtaken.contains(ListedRecord(entity: root, storageKey: Array(key))) else {
            return false
        }
        overtakenCount += 1
        return true
    }

    /// Returns whether responses replace local changes of a record.
    ///
    /// Not while operations that change the record wait: the conflict policy of the outbox decides
    /// about them.
    func yieldsToServer(_ plan: EntityPlan, _ key: Bytes, _ writer: borrowing StoreWriter) throws -> Bool {
        try plan.policies.local == .server && !writer.access.outbox.hasOperations(plan.entity.root, key)
    }

    /// Returns whether a reference keeps its local value against another record's list.
    ///
    /// - Parameters:
    ///   - target: the record whose list has the one with the reference; nil if a list lacks it.
    ///   - owner: the record whose list lacks it. Only if the reference leads there at the server,
    ///     as far as that is known, it is null there now: otherwise it is in another list.
    func keepsLocalReference(
        _ plan: EntityPlan, _ key: Bytes, _ field: UInt16, to target: [UInt8]?, leaving owner: [UInt8]? = nil,
        _ writer: inout StoreWriter
    ) throws -> Bool {
        if isOvertaken(plan.entity.root, key) { return true }
        guard try !yieldsToServer(plan, key, writer),
            var mark = try writer.access.localChanges.mark(plan.entity.root, key),
            plan.policies.local == .keep || mark.covers(field)
        else { return false }
        var value = ByteWriter()
        if let target {
            target.withUnsafeBytes { value.appendValue(tag: ValueTag.reference, $0) }
        } else {
            value.appendValueNull()
        }
        let record = ListedRecord(entity: plan.entity.root, storageKey: Array(key))
        let isNews = try owner == nil || writer.access.outbox.serverTarget(of: field, record) == owner
        if isNews, mark.remember(field, EncodedValue(value.bytes)) {
            try writer.putLocalMark(mark, plan.entity.root, key)
        }
        let name = plan.entity.field(id: field)?.name
        reportKept(
            plan.entity, key, name,
            "changed locally, and not yet at the server; \(name ?? "it") keeps the local value")
        return true
    }

    /// Returns whether a list of references keeps its local value against another record's list.
    ///
    /// - Parameters:
    ///   - key: the record with the list.
    ///   - target: the record whose list has, or lacks, the one with the references.
    func keepsLocalList(
        of key: [UInt8], _ relationship: DerivedRelationship, contains target: [UInt8], _ isWanted: Bool,
        _ writer: borrowing StoreWriter
    ) throws -> Bool {
        let plan = plan.plans[relationship.ownerPlan], field = relationship.field, access = writer.access
        return try key.withUnsafeBytes { key in
            if isOvertaken(plan.entity.root, key) { return true }
            guard let mark = try access.localChanges.mark(plan.entity.root, key), mark.operation != .delete,
                plan.policies.local == .keep || mark.covers(field.id),
                try !yieldsToServer(plan, key, writer)
            else { return false }
            var isThere = false
            try access.lending {
                guard let list = try access.records.row(plan.entity, key)?.body.value(of: field.id) else { return }
                _ = try access.forEachReference(list) { reference in
                    isThere = target.withUnsafeBytes { Bytes.equal($0, reference) }
                    return !isThere
                }
            }
            guard isThere != isWanted else { return false }
            // The response tells it again once the server has the local value.
            leftOut.insert(ListedRecord(entity: relationship.root, storageKey: target))
            reportKept(
                plan.entity, key, field.name,
                "changed locally, and not yet at the server; \(field.name) keeps the local value")
            return true
        }
    }

    /// Notes that the reference of a changed record no longer leads to another one at the server.
    func noteMissing(
        _ key: Bytes, _ plan: EntityPlan, _ field: UInt16, from owner: [UInt8], _ writer: inout StoreWriter
    ) throws {
        let record = ListedRecord(entity: plan.entity.root, storageKey: Array(key))
        guard try !yieldsToServer(plan, key, writer), !overtaken.contains(record),
            var mark = try writer.access.localChanges.mark(plan.entity.root, key),
            try writer.access.outbox.serverTarget(of: field, record) == owner
        else { return }
        var value = ByteWriter()
        value.appendValueNull()
        if mark.remember(field, EncodedValue(value.bytes)) { try writer.putLocalMark(mark, plan.entity.root, key) }
    }

    func reportKept(_ entity: Catalog.Entity, _ key: Bytes, _ field: String?, _ message: String) {
        let (path, source) = location(of: key, entity.root)
        var diagnostic = Diagnostic(
            code: .localKept, path: path, entity: entity.name, key: RecordKey(storageKey: key)?.description,
            field: field,
            message: message)
        diagnostic.source = source
        report(diagnostic)
    }

    /// Counts a diagnostic, and keeps it if there is room.
    func report(_ diagnostic: Diagnostic) {
        if drafter.diagnostics.keepsNext(diagnostic.code, diagnostic.entity, diagnostic.field) {
            drafter.diagnostics.add(diagnostic)
        }
    }
}
