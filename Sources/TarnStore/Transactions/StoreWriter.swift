// The writer of `Store.write`: every change of rows, indexes and the change log.

import Foundation
internal import LMDB

/// The write transaction of a store, borrowed by a closure. It is committed as a whole.
public struct StoreWriter: ~Copyable {
    package let access: StoreAccess
    var indexChanges = IndexChanges()
    var edges = EdgeListChanges()
    var scratch = ByteWriter(capacity: 1024)
    private var other = ByteWriter(capacity: 1024)
    private var row = ByteWriter(capacity: 8192)
    private var compressed = ByteWriter(capacity: 8192)
    /// The end of the most recently written table.
    var tail = TableTail()
    private var merged = BodyBuilder()
    /// Buffers for encoding structs. Nil while in use.
    var rowBuffers: RowBuffers?
    /// The commit sequence of this transaction, if it changes something.
    let sequence: UInt64
    var changes: ChangeLogWriter
    /// The sequence that no change of this transaction so far exceeds.
    package var changedSequence: UInt64 { changes.isChanged ? sequence : sequence - 1 }
    /// The responses, and what the transaction knows about its changes of them.
    package var responses: ResponseWriter
    /// The outbox, and what the transaction knows about its changes of it.
    var operations: OutboxWriter
    /// Values of unique indexes that occurred twice at some moment of this transaction.
    private(set) var doubles: Set<DuplicateValues> = []
    /// The records of which a change is noted; nil for none.
    package var watched: RepeatedBodies?
    /// The records that the server has deleted and whose mark has ended without being sent: see
    /// ``deleteGone(except:)``.
    var goneRecords: Set<ListedRecord> = []
    /// Enables undo for records of entities with unique indexes: see `dropDuplicates`.
    package var remembersRecords = false
    var remembered: [RememberedKey: RememberedRecord] = [:]

    /// Whether updates of records without unique indexes are remembered, too.
    package var remembersAllRecords = false
    /// Whether a one-to-one reference that is set is taken from the record that has it. The
    /// importer decides itself about the references of its drafts.
    package var claimsOwners = true
    /// The owners of targets that this transaction has changed.
    var pendingOwners: [TakenReference.Target: [UInt8]] = [:]
    /// Whether references were written without ``pendingOwners``, and without index entries yet.
    var hasUnknownOwners = false
    /// Whether a reference that is written is a former one: it yields to the present owner.
    var restoresOwners = false
    /// Whether the versions of deleted records are kept: a discard may restore the records.
    var keepsVersionsOfDeleted = false
    /// The references that were cleared for new owners, while they are collected.
    var clearedOwners: [StoredOperation.FieldChange]?
    /// The number of members of all cascades that were found for deletions to queue.
    var cascadeMemberCount = 0

    init(_ access: StoreAccess) throws {
        self.access = access
        let (next, isTooLarge) = try access.settings.sequence.addingReportingOverflow(1)
        guard !isTooLarge else {
            throw StoreError.lmdb(
                LMDBError(.corrupted, operation: "count a commit: the commit sequence of the store has no successor"))
        }
        sequence = next
        responses = ResponseWriter(access.responses, sequence: next)
        operations = OutboxWriter(access, sequence: next)
        changes = ChangeLogWriter(access.state.changeOptions, sequence: next)
    }

    /// The entities of the store and their ids.
    package var catalog: Catalog { access.catalog }

    package enum Outcome: Sendable {
        case created, updated, unchanged
    }

    /// Merges a body into a record. Fields in `body` set or clear values, absent ones keep them.
    ///
    /// If the record exists with another entity of the same tree, it changes to `entity`, unless
    /// its entity already descends from `entity`. Fields that the new entity does not have are
    /// removed.
    ///
    /// - Parameter isComplete: Whether the body is all that is known of the record. If false, the
    ///   record is partial as long as a required field is absent; a complete record stays complete.
    /// - Parameter isExact: Whether the record changes to `entity` even if its entity descends from
    ///   it.
    package mutating func merge(
        _ entity: Catalog.Entity, _ key: Bytes, _ body: RowBody, isComplete: Bool, isExact: Bool = false
    ) throws -> Outcome {
        try merge(access.state.rules(of: entity.id), key, body, isComplete: isComplete, isExact: isExact)
    }

    /// Sets one field of a listed record to null. A partial record stays partial, a complete one
    /// complete.
    package mutating func clear(
        _ field: UInt16, of listed: ListedRecord, _ entity: Catalog.Entity
    ) throws -> Outcome {
        var builder = BodyBuilder(), bytes = ByteWriter()
        builder.field(field) { $0.appendValueNull() }
        builder.finish(into: &bytes)
        return try listed.storageKey.withUnsafeBytes { key in
            guard let body = RowBody(bytes.bytes, isWide: false) else { preconditionFailure("a body of one field") }
            return try merge(entity, key, body, isComplete: false)
        }
    }

    /// Merges a body into a record.
    ///
    /// - Parameters:
    ///   - removed: fields that a stored record loses.
    ///   - mayBePartial: whether a complete record becomes partial if it lacks a required field.
    mutating func merge(
        _ rules: EntityRules, _ key: Bytes, _ body: RowBody, isComplete: Bool, isExact: Bool = false,
        removing removed: Set<UInt16> = [], mayBePartial: Bool = false
    ) throws -> Outcome {
        let table = try access.state.records(of: rules.root)
        let mark = access.rowMark
        defer { access.release(to: mark) }
        let appending = try tail.isPast(key, rules.root, access.raw, table)
        guard !appending, let oldBytes = try access.raw.get(table, key) else {
            let body = try edges.replacing(body, old: nil, rules, access)
            try create(rules, table, key, body, isComplete: isComplete, appending: appending)
            return .created
        }
        let old = try access.records.view(oldBytes, rules.entity, key)
        if StorageKey.isDigest(key) { try checkSameKey(rules.entity, old.body, body) }
        let body = try edges.replacing(body, old: old.body, rules, access)
        if old.entity == rules.id, Bytes.equal(old.body.bytes, body.bytes), !old.isPartial || !isComplete,
            removed.isEmpty
        {
            return .unchanged
        }
        var newRules = rules, oldRules = rules
        if old.entity != rules.id {
            oldRules = try access.state.rules(of: old.entity)
            if !isExact, catalog.isKind(old.entity, of: rules.id) { newRules = oldRules }
        }
        let isMoved = oldRules !== newRules
        let dropped = isMoved ? newRules.foreignFields(in: catalog).union(removed) : removed
        merged.merge(old: old.body, new: body, dropping: dropped)
        let new = try finishMerged(key, newRules, withDefaults: old.isPartial && isComplete)
        let isPartial = (old.isPartial || mayBePartial) && !isComplete && newRules.isLacking(new)
        if !isMoved, isPartial == old.isPartial, Bytes.equal(old.body.bytes, new.bytes) { return .unchanged }
        if remembersRecords, remembersAllRecords || newRules.hasUnique || oldRules.hasUnique {
            try remember(key, newRules.root, old, .updated)
        }
        edges.drop(dropped, old.body)
        try index(key, old: old.body, oldRules, new: new, newRules)
        try edges.index(oldRules.entity, newRules.entity, key, access, into: &indexChanges)
        let taken = newRules.exclusive.isEmpty ? [] : takenReferences(key, old: old.body, new, newRules)
        // Before the row is written, because writing may invalidate the old row.
        responses.noteCrossing(newRules.root, key, old, body)
        try log(.update, newRules, key, old: old.body, new, isPartial: isPartial)
        try put(table, newRules, key, new, isPartial: isPartial, version: sequence)
        try edges.store(access)
        if !taken.isEmpty { try takeOver(taken, newRules) }
        return .updated
    }

    private mutating func create(
        _ rules: EntityRules, _ table: Table, _ key: Bytes, _ body: RowBody, isComplete: Bool, appending: Bool
    ) throws {
        var body = body
        if isComplete, rules.hasDefaults {
            rules.withDefaults { merged.merge(old: $0, new: body) }
            body = try finishMerged(key, rules, withDefaults: false)
        }
        let isPartial = !isComplete && rules.isLacking(body)
        if remembersRecords, rules.hasUnique { try remember(key, rules.root, nil, .created) }
        try index(key, old: nil, rules, new: body, rules)
        try edges.index(rules.entity, rules.entity, key, access, into: &indexChanges)
        let taken = rules.exclusive.isEmpty ? [] : takenReferences(key, old: nil, body, rules)
        try log(.create, rules, key, old: nil, body, isPartial: isPartial)
        try put(table, rules, key, body, isPartial: isPartial, version: sequence, appending: appending)
        try edges.store(access)
        if !taken.isEmpty { try takeOver(taken, rules) }
    }

    /// Finishes the merged body, which is valid until the next call.
    private mutating func finishMerged(_ key: Bytes, _ rules: EntityRules, withDefaults: Bool) throws -> RowBody {
        func finish(_ builder: inout BodyBuilder) -> RowBody? {
            row.removeAll()
            let isWide = builder.isWide
            builder.finish(into: &row)
            return RowBody(row.bytes, isWide: isWide)
        }
        var new = finish(&merged)
        if withDefaults, rules.hasDefaults, let known = new {
            var filled = BodyBuilder()
            rules.withDefaults { filled.merge(old: $0, new: known) }
            new = finish(&filled)
        }
        guard let new else { throw StoreError.damagedRow(entity: rules.entity.name, key: access.describe(key)) }
        return new
    }

    /// Removes a row, its index entries, and the entries of responses that list it.
    mutating func remove(_ key: Bytes, _ row: EncodedRow) throws {
        let rules = try access.state.rules(of: row.entity)
        if remembersRecords, rules.hasUnique { try remember(key, rules.root, row, .updated) }
        edges.removeAll()
        try index(key, old: row.body, rules, new: nil, rules)
        try edges.indexRemoved(rules.entity, key, row.body, access, into: &indexChanges)
        try log(.delete, rules, key, old: row.body, nil)
        _ = try access.raw.delete(access.state.records(of: rules.root), key)
        try edges.store(access)
        try access.responses.removeAll(
            listing: rules.root, key, keepingVersions: keepsVersionsOfDeleted ? sequence : nil)
        if try access.localChanges.hasMarks { _ = try access.localChanges.remove(rules.root, key) }
        // Without this record, the key would lead to the one that had it before.
        if try operations.hasAliases() { try operations.removeAlias(of: ListedRecord(rules.root, key)) }
    }

    /// Stores fields of a record, without a check of its version.
    package mutating func put(_ entity: String, _ key: RecordKey, _ values: [Record.Field]) throws {
        try put(entity, key, values, isComplete: true)
    }

    /// Stores fields of a record.
    ///
    /// - Parameter isComplete: Whether the fields are all that the record has; else it is partial.
    package mutating func put(
        _ entity: String, _ key: RecordKey, _ values: [Record.Field], isComplete: Bool
    ) throws {
        try StoreWriter.withBody(entity, key, values, access) {
            _ = try merge($0, $1, $2, isComplete: isComplete)
        }
    }

    /// Encodes the fields of a record as the body of a row.
    ///
    /// - Parameter isStored: Whether another store has the record with these values.
    static func withBody<Result>(
        _ entity: String, _ key: RecordKey, _ values: [Record.Field], _ access: StoreAccess, isStored: Bool = false,
        _ body: (Catalog.Entity, _ key: Bytes, RowBody) throws -> Result
    ) throws -> Result {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        guard !key.isDigest else {
            throw StoreError.wrongKey(
                entity: entity.name, expected: "the whole key \(entity.keyForm)", found: key.description)
        }
        let said = entity.keyValues(key), storageKey = key.storageKey
        // A record may have thousands of fields: they are not searched for one by one.
        let ids = values.count > 64 ? entity.fieldIDs : nil
        var byID = said
        for field in values {
            let found: UInt16? = if let ids { ids[field.name] } else { entity.field(field.name)?.id }
            guard let id = found else {
                throw StoreError.unknownField(entity: entity.name, name: field.name, known: entity.fields.map(\.name))
            }
            if byID[id] == nil { byID[id] = field.value }
            guard said[id].map({ Value.haveSameBytes($0, field.value) }) ?? true else {
                throw StoreError.wrongKey(
                    entity: entity.name, expected: "the record's key \(key), which cannot be changed",
                    found: "\(field.name): \(field.value.plainText)")
            }
        }
        var builder = BodyBuilder(), bytes = ByteWriter()
        storageKey.withUnsafeBytes { builder.wholeKey(entity, $0) { key.tuple } }
        for (id, value) in byID.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.appendValue(value) } }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let view = RowBody(bytes.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: entity.name, key: key.description)
        }
        for index in 0..<view.count {
            guard let field = entity.field(id: view.id(at: index)), let value = view.value(at: index) else { continue }
            try access.catalog.check(value, fits: field, of: entity, isStored: isStored)
        }
        return try storageKey.withUnsafeBytes { try body(entity, $0, view) }
    }

    /// Applies pending changes to the indexes, so that this transaction can read them.
    package mutating func applyIndexChanges() throws {
        var found: [DuplicateValues] = []
        try indexChanges.apply(access.raw, table: access.state.index) {
            found.append(DuplicateValues(index: $0, values: Array($1)))
        }
        doubles.formUnion(found)
    }

    /// Writes what is pending.
    ///
    /// - Returns: The number of changes; 0 if all of them were undone.
    mutating func finish() throws -> Int {
        try checkUnique()
        try changes.write(to: access.changes)
        guard changes.isChanged else { return 0 }
        try access.settings.setSequence(sequence)
        return Int(changes.count)
    }

    private func checkSameKey(_ entity: Catalog.Entity, _ old: RowBody, _ new: RowBody) throws(StoreWriteError) {
        guard access.saySameKey(entity, old, new) else { throw .keyCollision(entity: entity.name) }
    }

    /// Collects the changes of all indexes due to a change of a record.
    mutating func index(
        _ key: Bytes, old: RowBody?, _ oldRules: EntityRules, new: RowBody?, _ newRules: EntityRules
    ) throws {
        guard oldRules === newRules else {
            // The last change of an entry counts, so an entry of both rows is inserted again.
            if let old { add(key, old, oldRules, insertion: false) }
            if let new { add(key, new, newRules, insertion: true) }
            return
        }
        for index in oldRules.indexes {
            if let old, let new {
                if let field = index.field {
                    let before = old.value(of: field), after = new.value(of: field)
                    if Bytes.equal(before?.bytes ?? .empty, after?.bytes ?? .empty) { continue }
                } else if hasSameEntry(index, key, old, new) {
                    continue
                }
            }
            // If an entry is removed and inserted, the insertion remains.
            if let old { add(key, old, index, insertion: false) }
            if let new { add(key, new, index, insertion: true) }
        }
        if (old == nil) != (new == nil) {
            for members in oldRules.members { indexChanges.add(key, to: members, insertion: new != nil) }
        }
    }

    private mutating func add(_ key: Bytes, _ row: RowBody, _ rules: EntityRules, insertion: Bool) {
        for index in rules.indexes { add(key, row, index, insertion: insertion) }
        for members in rules.members { indexChanges.add(key, to: members, insertion: insertion) }
    }

    private mutating func add(_ key: Bytes, _ row: RowBody, _ index: CompiledIndex, insertion: Bool) {
        // For edge lists only the differences change the index: see `EdgeListChanges.index`.
        if let field = index.field, edges.concern(field) { return }
        IndexEntry.forEach(index, row, owner: key, scratch: &scratch) { entry, unique in
            indexChanges.add(entry, to: index.id, insertion: insertion, unique: unique)
        }
    }

    /// Returns whether two rows of a record have the same entry in a declared index, or none.
    /// Unique values that are longer than the index stores count as different: they may differ
    /// after the cut, and must be compared.
    private mutating func hasSameEntry(_ index: CompiledIndex, _ key: Bytes, _ old: RowBody, _ new: RowBody) -> Bool {
        other.removeAll()
        IndexEntry.forEach(index, old, owner: key, scratch: &scratch) { entry, _ in other.append(entry) }
        var isSame = other.count == 0
        IndexEntry.forEach(index, new, owner: key, scratch: &scratch) { entry, unique in
            isSame = unique <= IndexEntry.longestValue && Bytes.equal(entry, other.bytes)
        }
        return isSame
    }

    mutating func put(
        _ table: Table, _ rules: EntityRules, _ key: Bytes, _ body: RowBody, isPartial: Bool, version: UInt64,
        appending: Bool = false
    ) throws {
        try access.raw.willAdd()
        compressed.removeAll()
        let compression =
            rules.isCompressed ? access.records.compressWritten(body, ofRoot: rules.root, into: &compressed) : nil
        let stored = compression == nil ? body.bytes : compressed.bytes
        let count = RowFormat.headerSize + stored.count
        let row =
            appending
            ? try tail.append(key, count: count, rules.root, access.raw, table)
            : try access.raw.reserve(table, key, count: count)
        EncodedRow.writeHeader(
            to: row, isPartial: isPartial, isWide: body.isWide, entity: rules.id, version: version,
            compression: compression ?? (RowFormat.uncompressed, 0))
        precondition(row.count == count, "liblmdb reserves the room that was asked for")
        UnsafeMutableRawBufferPointer(rebasing: row[RowFormat.headerSize...]).copyMemory(from: stored)
        let checksum = EncodedRow.checksum(of: Bytes(row), table: UInt32(rules.root), key: key)
        row.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
    }

    /// Notes a change of a record: in the change log, and for those that watch records.
    /// Must be called before the row is written: the references of a list that moves to the edge
    /// table are still needed.
    mutating func log(
        _ operation: ChangeEntry.Operation, _ rules: EntityRules, _ key: Bytes, old: RowBody?, _ new: RowBody?,
        isPartial: Bool = false
    ) throws {
        watched?.note(rules.root, key)
        if operation == .update { try responses.collect(listing: rules.root, key) }
        try changes.append(operation, rules, key, old: old, new, isPartial: isPartial, edges, access)
    }
}

extension Value {
    init(_ component: KeyComponent) {
        self =
            switch component {
            case .int(let x): .int(x)
            case .string(let x): .string(x)
            case .uuid(let x): .uuid(x)
            case .digest(let x): .bytes(x)
            }
    }
}
