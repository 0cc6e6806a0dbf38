// Entries of indexes: what a row contributes to each, and how an entry is split again.
//
//   attribute:  the value as a tuple element (at most 270 bytes; a longer one is cut there and FF follows) ++ storage key
//   reference:  the target's storage key ++ (position, u32 big-endian, if the derived side is ordered) ++ storage key
//
// The value of an entry is empty. Absent and null attributes stand as the tuple's null; an absent reference has no entry.

package import LMDB

package enum IndexEntry {
    static let longestValue = 270

    /// Calls the closure with every entry that a value of a field contributes for a record.
    static func forEach(
        _ field: Catalog.Field, _ value: EncodedValue?, owner: Bytes, scratch: inout ByteWriter, _ body: (Bytes) -> Void
    ) {
        switch field.kind {
        case .attribute:
            scratch.removeAll()
            appendValue(value, to: &scratch)
            scratch.append(owner)
            body(scratch.bytes)
        case .reference(let reference):
            guard let value, !value.isNull else { return }
            func entry(_ target: Bytes) {
                scratch.removeAll()
                scratch.append(target)
                if reference.inverseIsOrdered { scratch.appendBigEndian(value.position ?? 0) }
                scratch.append(owner)
                body(scratch.bytes)
            }
            if let target = value.reference { return entry(target) }
            value.forEachReference(entry)
        }
    }

    /// Appends the indexed form of an attribute's value.
    package static func appendValue(_ value: EncodedValue?, to writer: inout ByteWriter) {
        let start = writer.count
        switch value?.tag {
        case ValueTag.false: writer.appendTuple(false)
        case ValueTag.true: writer.appendTuple(true)
        case ValueTag.int: writer.appendTuple(value?.int ?? 0)
        case ValueTag.uint: writer.appendTuple(value?.eightBytes ?? 0)
        case ValueTag.double: writer.appendTuple(Double(bitPattern: value?.eightBytes ?? 0))
        case ValueTag.date: writer.appendTuple(Int64(bitPattern: value?.eightBytes ?? 0))
        case ValueTag.decimal:
            if let decimal = value.flatMap({ ExactDecimal(ascii: $0.payload) }) { writer.appendTuple(decimal) }
        case ValueTag.bytes:
            if let payload = value?.payload {
                writer.appendTuple(bytes: payload.slice(0..<min(payload.count, longestValue)))
            }
        case ValueTag.string, ValueTag.url, ValueTag.json:
            if let payload = value?.payload {
                // What is beyond the limit would be cut off again.
                writer.appendTuple(string: payload.slice(0..<min(payload.count, longestValue)))
            }
        case ValueTag.uuid where value?.bytes.count == 17:
            if let payload = value?.payload { writer.appendTuple(uuid: payload) }
        default: writer.appendTupleNull()
        }
        if writer.count - start > longestValue {
            writer.truncate(to: start + longestValue)
            writer.append(0xFF)
        }
    }

    /// The storage key at the end of an entry whose values are that long.
    package static func owner(in entry: Bytes, afterValuesOf length: Int, positioned: Bool) -> Bytes? {
        let start = length + (positioned ? 4 : 0)
        guard start < entry.count else { return nil }
        return entry.slice(start..<entry.count)
    }
}

/// Changes of indexes that are collected, and applied in key order, table by table.
struct IndexChanges: ~Copyable {
    private struct Change {
        /// The first bytes of the key, so that most comparisons need no more.
        var prefix: UInt64
        var offset: Int
        var length: Int
        var isInsertion: Bool
    }

    private var keys = ByteWriter(capacity: 1 << 14)
    private var changes: [UInt32: [Change]] = [:]

    var isEmpty: Bool { changes.isEmpty }

    mutating func add(_ key: Bytes, to index: UInt32, insertion: Bool) {
        changes[index, default: []].append(
            Change(prefix: key.prefix64, offset: keys.count, length: key.count, isInsertion: insertion))
        keys.append(key)
    }

    /// Applies everything. Of several changes of one key the last one counts.
    mutating func apply(_ raw: RawTransaction, _ state: StoreState) throws {
        for (index, var list) in changes {
            let all = keys.bytes
            func key(_ change: Change) -> Bytes { all.slice(change.offset..<change.offset + change.length) }
            list.sort {
                if $0.prefix != $1.prefix { return $0.prefix < $1.prefix }
                let order = Bytes.compare(key($0), key($1))
                return order != 0 ? order < 0 : $0.offset < $1.offset
            }
            let table = try state.index(index)
            var appender = try Appender(raw, table)
            // Neighbours in key order are neighbours in the tree, where a cursor need not search from the root.
            let cursor = try raw.cursor(table)
            defer { cursor.close() }
            for position in list.indices {
                let change = list[position]
                if position + 1 < list.count, Bytes.equal(key(change), key(list[position + 1])) { continue }
                if change.isInsertion {
                    try cursor.put(key(change), .empty, append: appender.isPastTheEnd(key(change)))
                } else {
                    _ = try raw.delete(table, key(change))
                }
            }
        }
        changes.removeAll(keepingCapacity: true)
        keys.removeAll()
    }
}

/// Tells whether ascending keys lie past the last key of a table, where they can be appended: pages fill up that way.
package struct Appender {
    private var last: [UInt8]
    private var isPast: Bool

    package init(_ raw: RawTransaction, _ table: Table) throws(LMDBError) {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        let entry = try cursor.last()
        last = entry.map { Array($0.key) } ?? []
        isPast = entry == nil
    }

    /// Keys must be asked for in ascending order, and each that is past the end must then be put.
    package mutating func isPastTheEnd(_ key: Bytes) -> Bool {
        if !isPast { isPast = last.withUnsafeBytes { Bytes.compare(key, $0) > 0 } }
        return isPast
    }
}

/// Fills a new index from the rows that are there.
enum IndexBuild {
    static func run(
        _ access: StoreAccess, entity: Catalog.Entity, field: Catalog.Field, from records: Table, to index: Table
    ) throws {
        let raw = access.raw
        let cursor = try raw.cursor(records)
        defer { cursor.close() }
        var scratch = ByteWriter(), entries: [[UInt8]] = []
        var entry = try cursor.first()
        while let (key, value) = entry {
            let mark = access.rowMark
            defer { access.release(to: mark) }
            let row = try access.view(value, entity, key)
            IndexEntry.forEach(field, row.body.value(of: field.id), owner: key, scratch: &scratch) { entries.append(Array($0)) }
            entry = try cursor.next()
        }
        entries.sort { a, b in a.withUnsafeBytes { a in b.withUnsafeBytes { b in Bytes.compare(a, b) < 0 } } }
        var appender = try Appender(raw, index)
        for entry in entries {
            try entry.withUnsafeBytes { key in
                try raw.put(index, key, Bytes(start: nil, count: 0), append: appender.isPastTheEnd(key))
            }
        }
    }
}
