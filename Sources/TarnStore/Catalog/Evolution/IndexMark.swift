// The remaining work of an index. It is stored, so that any process continues where another one
// stopped.

internal import LMDB

/// The progress of the work on an index. An index without a mark is complete.
///
/// In `meta`, "index <id>": u8 phase, u8 flags (1: the index is new), u64 big-endian count, then a
/// key.
///
/// Only the presence and the phase are part of a generation: the count and the key change with
/// every step.
package struct IndexMark: Equatable {
    package enum Phase: UInt8 {
        /// Rows up to the key, a storage key, have their entries.
        ///
        /// Later rows have them if they were written since the build began.
        case building = 1
        /// Every row has its entries. Values up to the key, an index entry, are in one record each.
        case checking = 2
    }

    package var phase: Phase
    /// Whether taking the index back removes it; otherwise it only becomes not unique.
    var isNew: Bool
    /// The number of rows or entries up to the key.
    package internal(set) var count = 0
    package var key: [UInt8] = []

    init(_ phase: Phase, isNew: Bool) {
        self.phase = phase
        self.isNew = isNew
    }

    package init?(_ value: Bytes) {
        guard value.count >= 10, let phase = Phase(rawValue: value[0]) else { return nil }
        self.phase = phase
        isNew = value[1] & 1 != 0
        count = Int(clamping: value.loadBigEndian(2, UInt64.self))
        key = Array(value.dropFirst(10))
    }

    private static func metaKey(_ index: UInt32) -> [UInt8] { Array((MetaKey.indexPrefix + String(index)).utf8) }

    /// Returns the mark of an index; nil if it is complete.
    static func of(_ index: UInt32, _ raw: RawTransaction, _ meta: ChecksummedTable) throws -> IndexMark? {
        try raw.get(meta, metaKey(index)).flatMap { IndexMark($0) }
    }

    /// Returns the marks of all indexes that have one.
    static func all(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [UInt32: IndexMark] {
        let cursor = try raw.cursor(meta)
        defer { cursor.close() }
        let prefix = Array(MetaKey.indexPrefix.utf8)
        var marks: [UInt32: IndexMark] = [:]
        var entry = try cursor.seek(prefix)
        while let (key, value) = entry, key.starts(with: prefix) {
            if let id = UInt32(String(decoding: key.dropFirst(prefix.count), as: UTF8.self)),
                let mark = IndexMark(value)
            {
                marks[id] = mark
            }
            entry = try cursor.next()
        }
        return marks
    }

    func put(_ index: UInt32, _ raw: RawTransaction, _ meta: ChecksummedTable) throws {
        var value = ByteWriter()
        value.append(phase.rawValue)
        value.append(isNew ? 1 : 0)
        value.appendBigEndian(UInt64(count))
        value.append(key)
        try raw.willAdd()
        try raw.put(meta, IndexMark.metaKey(index), value.bytes)
    }

    static func remove(_ index: UInt32, _ raw: RawTransaction, _ meta: ChecksummedTable) throws {
        _ = try raw.delete(meta, metaKey(index))
    }
}
