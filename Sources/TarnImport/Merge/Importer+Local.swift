// Merging with local changes that the server does not have yet.

internal import TarnStore

extension Importer {
    /// The part of a draft that applies to a marked record.
    enum LocalOutcome {
        /// All of it: the record is not marked, or the server takes precedence.
        case whole
        /// Nothing: the record was deleted locally.
        case nothing
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
        guard var mark = try access.localChanges.mark(entity.root, key) else { return .whole }
        // The root entity: the record may be of any concrete entity.
        let tree = root(of: entity)
        let row = try access.lending { try access.records.row(tree, key).map { Array($0.body.bytes) } }
        let (isWide, stored) =
            try access.lending { try access.records.row(tree, key).map { ($0.isWide, $0.entity) } } ?? (
                false, entity.id
            )
        // A record that is not stored has no local values to keep.
        guard plan.policies.local != .server, mark.operation == .delete || row != nil else {
            try writer.removeLocalMark(entity.root, key)
            return .whole
        }
        var builder = BodyBuilder(), kept: [String] = [], isNews = mark.isGoneAtServer
        mark.isGoneAtServer = false
        let isWhole = plan.policies.local == .keep || mark.operation != .update
        let keptPlan = keptKind(planIndex, stored, isWhole: isWhole)
        let known = keptPlan.map { Set(self.plan.plans[$0].entity.fields.map(\.id)) }
        for index in 0..<body.count {
            let id = body.id(at: index)
            guard let value = body.value(at: index) else { continue }
            // Fields that the kept entity lacks are not lost: they come again after the server has
            // the change.
            if let known, id != WholeKey.field, !known.contains(id) { continue }
            guard id != WholeKey.field, !entity.key.contains(id), isWhole || mark.covers(id) else {
                builder.field(id, value)
                continue
            }
            if mark.remember(id, value) { isNews = true }
            let isSame = try row?.withUnsafeBytes { bytes in
                try RowBody(bytes, isWide: isWide)?.value(of: id).map { try haveSameContent($0, value, access) }
                    ?? value.isNull
            }
            if isSame != true { kept.append(entity.field(id: id)?.name ?? "#\(id)") }
        }
        if isNews { try writer.putLocalMark(mark, entity.root, key) }
        if mark.operation == .delete {
            reportKept(
                entity, key, nil, "it was deleted here, which the server does not know yet; it does not come back")
            return .nothing
        }
        if let keptPlan {
            let kind = self.plan.plans[keptPlan].entity
            reportKept(
                kind, key, nil,
                "changed here, which the server does not know yet: it stays a \(kind.name), and the response says that it is a \(entity.name)"
            )
        }
        if !kept.isEmpty {
            reportKept(
                entity, key, kept.count == 1 ? kept[0] : nil,
                "changed here, which the server does not know yet: \(kept.joined(separator: ", ")) keeps the local value"
            )
        }
        rest.removeAll()
        let restIsWide = builder.isWide
        builder.finish(into: &rest)
        return .part(isWide: restIsWide, kept: keptPlan)
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
        guard plan.policies.local != .server, mark.operation != .delete else {
            // Both sides agree, or the server takes precedence.
            try writer.removeLocalMark(plan.entity.root, key)
            return false
        }
        if !mark.isGoneAtServer {
            mark.isGoneAtServer = true
            try writer.putLocalMark(mark, plan.entity.root, key)
        }
        reportKept(
            plan.entity, key, nil,
            "it is no more at the server, and was changed here, which the server does not know yet; it stays")
        return true
    }

    /// Returns whether a reference keeps its local value against another record's list.
    func keepsLocalReference(
        _ plan: EntityPlan, _ key: Bytes, _ field: UInt16, to target: [UInt8]?, _ writer: inout StoreWriter
    ) throws -> Bool {
        guard plan.policies.local != .server, var mark = try writer.access.localChanges.mark(plan.entity.root, key),
            mark.operation != .update || plan.policies.local == .keep || mark.covers(field)
        else { return false }
        var value = ByteWriter()
        if let target {
            target.withUnsafeBytes { value.appendValue(tag: ValueTag.reference, $0) }
        } else {
            value.appendValueNull()
        }
        if mark.remember(field, EncodedValue(value.bytes)) { try writer.putLocalMark(mark, plan.entity.root, key) }
        let name = plan.entity.field(id: field)?.name
        reportKept(
            plan.entity, key, name,
            "changed here, which the server does not know yet: \(name ?? "it") keeps the local value")
        return true
    }

    func reportKept(_ entity: Catalog.Entity, _ key: Bytes, _ field: String?, _ message: String) {
        report(
            Diagnostic(
                code: .localKept, path: "$", entity: entity.name, key: RecordKey(storageKey: key)?.description,
                field: field,
                message: message))
    }

    /// Counts a diagnostic, and keeps it if there is room.
    func report(_ diagnostic: Diagnostic) {
        if drafter.diagnostics.keepsNext(diagnostic.code, diagnostic.entity, diagnostic.field) {
            drafter.diagnostics.add(diagnostic)
        }
    }
}
