// What `Store.write` lends: the one path by which rows, indexes and the change log change.

import Foundation
internal import LMDB

/// The write transaction of a store, lent to a closure. Everything in it is committed together, or nothing.
public struct StoreWriter: ~Copyable {
    package let access: StoreAccess
    private var indexChanges = IndexChanges()
    private var scratch = ByteWriter(capacity: 1024)
    private var row = ByteWriter(capacity: 8192)
    private var compressed = ByteWriter(capacity: 8192)
    private var merged = BodyBuilder()
    /// The commit sequence that this transaction gets if it changes something.
    package let sequence: UInt64
    private var changeCount: UInt32 = 0
    /// Entries of the change log that are not in its table yet: for each u8 length of the value, key, value.
    private var pendingLog = ByteWriter(capacity: 4096)
    private static let pendingLogLimit = 1 << 20

    init(_ access: StoreAccess) throws {
        self.access = access
        sequence = try access.sequence + 1
    }

    public var catalog: Catalog { access.catalog }

    package enum Outcome: Sendable {
        case created, updated, unchanged
    }

    /// Stores what is said about a record: fields of `body` set or clear, fields it does not have stay as they are.
    ///
    /// - Parameter isComplete: whether the record is known completely by this; otherwise it stays or becomes partial as long
    ///   as a field that is not optional is absent.
    package mutating func merge(
        _ entity: Catalog.Entity, _ key: Bytes, _ body: RowBody, isComplete: Bool, appending: Bool = false
    ) throws -> Outcome {
        let table = try access.state.records(of: entity.id)
        let mark = access.rowMark
        defer { access.release(to: mark) }
        guard !appending, let oldBytes = try access.raw.get(table, key) else {
            let isPartial = !isComplete && lacksRequiredField(entity, body)
            try index(entity, key, old: nil, new: body)
            try put(
                table, entity, key, body.bytes, isWide: body.isWide, isPartial: isPartial, appending: appending)
            try log(.create, entity, key)
            return .created
        }
        let old = try access.view(oldBytes, entity, key)
        if StorageKey.isDigest(key) { try checkSameKey(entity, old.body, body) }
        if Bytes.equal(old.body.bytes, body.bytes), !old.isPartial || !isComplete { return .unchanged }
        merged.merge(old: old.body, new: body)
        row.removeAll()
        let isWide = merged.isWide
        merged.finish(into: &row)
        guard let new = RowBody(row.bytes, isWide: isWide) else {
            throw StoreError.damagedRow(entity: entity.name, key: access.describe(key))
        }
        let isPartial = old.isPartial && !isComplete && lacksRequiredField(entity, new)
        if isPartial == old.isPartial, Bytes.equal(old.body.bytes, row.bytes) { return .unchanged }
        try index(entity, key, old: old.body, new: new)
        try put(table, entity, key, row.bytes, isWide: isWide, isPartial: isPartial, appending: false)
        try log(.update, entity, key)
        return .updated
    }

    /// Deletes a record, and the entries of responses that list it. References to it stay: their target is missing then.
    ///
    /// - Returns: whether it was there.
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`, `.damagedRow`.
    @discardableResult
    public mutating func delete(_ entity: String, _ key: RecordKey) throws -> Bool {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        let table = try access.state.records(of: entity.id)
        let storageKey = key.storageKey
        let mark = access.rowMark
        defer { access.release(to: mark) }
        return try storageKey.withUnsafeBytes { bytes in
            guard let row = try access.row(entity, bytes) else { return false }
            // A digest may stand for another long key.
            if StorageKey.isDigest(bytes), access.key(entity, bytes, row) != key { return false }
            try index(entity, bytes, old: row.body, new: nil)
            _ = try access.raw.delete(table, bytes)
            try access.removeResponses(listing: entity.id, bytes)
            try log(.delete, entity, bytes)
            return true
        }
    }

    /// Stores values of a record: those that are named are set, `null` clears, the others stay as they are.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`, `.wrongKey`, `.wrongType`, `.keyCollision`, `.damagedRow`.
    public mutating func put(_ entity: String, _ key: RecordKey, _ values: [Record.Field]) throws {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        var byID: [UInt16: Value] = [:]
        for (id, component) in zip(entity.key, key.components) { byID[id] = Value(component) }
        for field in values {
            guard let id = entity.field(field.name)?.id else {
                throw StoreError.unknownField(entity: entity.name, name: field.name, known: entity.fields.map(\.name))
            }
            if byID[id] == nil { byID[id] = field.value }
        }
        var builder = BodyBuilder(), body = ByteWriter()
        for (id, value) in byID.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.appendValue(value) } }
        let isWide = builder.isWide
        builder.finish(into: &body)
        guard let view = RowBody(body.bytes, isWide: isWide) else { return }
        for index in 0..<view.count {
            guard let field = entity.field(id: view.id(at: index)), let value = view.value(at: index) else { continue }
            try access.check(value, fits: field, of: entity)
        }
        _ = try key.storageKey.withUnsafeBytes { try merge(entity, $0, view, isComplete: true) }
    }

    /// For a batch in ascending order of keys: tells which rows can be appended to an entity's table.
    package func appender(_ entity: Catalog.Entity) throws -> Appender {
        try Appender(access.raw, access.state.records(of: entity.id))
    }

    /// Brings the indexes up to date, so that they can be read in this transaction.
    package mutating func applyIndexChanges() throws {
        try indexChanges.apply(access.raw, access.state)
    }

    mutating func finish() throws {
        try applyIndexChanges()
        try writeLog()
        if changeCount > 0 { try access.raw.put(access.state.meta, key: MetaKey.sequence, number: sequence) }
    }

    private func lacksRequiredField(_ entity: Catalog.Entity, _ body: RowBody) -> Bool {
        entity.fields.contains { !$0.isOptional && body.value(of: $0.id) == nil }
    }

    private func checkSameKey(_ entity: Catalog.Entity, _ old: RowBody, _ new: RowBody) throws(StoreError) {
        for id in entity.key {
            // A change that was found by the storage key alone, as of a reference, does not say the key again.
            guard let b = new.value(of: id) else { continue }
            guard let a = old.value(of: id), Bytes.equal(a.bytes, b.bytes) else {
                throw .keyCollision(entity: entity.name)
            }
        }
    }

    /// Collects the difference that a change makes to every index of the entity.
    private mutating func index(_ entity: Catalog.Entity, _ key: Bytes, old: RowBody?, new: RowBody?) throws {
        for position in entity.fields.indices {
            guard let index = entity.fields[position].index else { continue }
            let field = entity.fields[position]
            let before = old?.value(of: field.id), after = new?.value(of: field.id)
            if old != nil, new != nil, Bytes.equal(before?.bytes ?? .empty, after?.bytes ?? .empty) { continue }
            // A removal and an insertion of the same entry leave the insertion: the last change of a key counts.
            if old != nil {
                IndexEntry.forEach(field, before, owner: key, scratch: &scratch) {
                    indexChanges.add($0, to: index, insertion: false)
                }
            }
            if new != nil {
                IndexEntry.forEach(field, after, owner: key, scratch: &scratch) {
                    indexChanges.add($0, to: index, insertion: true)
                }
            }
        }
    }

    private mutating func put(
        _ table: Table, _ entity: Catalog.Entity, _ key: Bytes, _ body: Bytes, isWide: Bool, isPartial: Bool, appending: Bool
    ) throws {
        try access.raw.willAdd()
        compressed.removeAll()
        let dictionary = access.compress(body, of: entity, into: &compressed)
        let stored = dictionary == nil ? body : compressed.bytes
        let row = try access.raw.reserve(table, key, count: RowFormat.headerSize + stored.count, append: appending)
        RowView.writeHeader(
            to: row, isPartial: isPartial, isWide: isWide, entity: entity.id, version: sequence, dictionary: dictionary ?? 0)
        UnsafeMutableRawBufferPointer(rebasing: row[RowFormat.headerSize...]).copyMemory(from: stored)
        let checksum = RowView.checksum(of: Bytes(row), table: UInt32(entity.id), key: key)
        row.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
    }

    private enum Operation: UInt8 {
        case create = 1, update = 2, delete = 3
    }

    /// An entry of the change log: key = commit sequence (u64, big-endian) ++ ordinal (u32, big-endian); value = operation
    /// (u8), entity (u16, little-endian), storage key.
    private mutating func log(_ operation: Operation, _ entity: Catalog.Entity, _ key: Bytes) throws {
        pendingLog.append(UInt8(3 + key.count))
        pendingLog.appendBigEndian(sequence)
        pendingLog.appendBigEndian(changeCount)
        pendingLog.append(operation.rawValue)
        pendingLog.appendLittleEndian(entity.id)
        pendingLog.append(key)
        changeCount += 1
        if pendingLog.count > StoreWriter.pendingLogLimit { try writeLog() }
    }

    /// Through one cursor, which stays at the end of the table.
    private mutating func writeLog() throws {
        guard pendingLog.count > 0 else { return }
        let cursor = try access.raw.cursor(access.state.changes)
        defer { cursor.close() }
        let entries = pendingLog.bytes
        var offset = 0
        while offset < entries.count {
            let value = offset + 1 + 12, end = value + Int(entries[offset])
            try cursor.put(entries.slice(offset + 1..<value), entries.slice(value..<end), append: true)
            offset = end
        }
        pendingLog.removeAll()
    }
}

extension Value {
    init(_ component: KeyComponent) {
        self =
            switch component {
            case .int(let x): .int(x)
            case .string(let x): .string(x)
            case .uuid(let x): .uuid(x)
            }
    }
}

extension Bytes {
    package static var empty: Bytes { Bytes(start: nil, count: 0) }

}
