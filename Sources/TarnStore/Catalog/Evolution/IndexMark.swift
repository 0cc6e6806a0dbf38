// What is still to be done for an index: it stands in the store, so that any process goes on where another one ended.

internal import LMDB

/// How far the work on an index has come. `meta`, "index <id>": u8 phase, u8 flags (1: the index is new), u64 big-endian
/// count, then a key. An index without one is complete.
///
/// Only the presence and the phase are part of a generation: the count and the key move with every step.
package struct IndexMark: Equatable {
    package enum Phase: UInt8 {
        /// Rows up to the key, a storage key, have their entries. Others have them if they were written since.
        case building = 1
        /// Every row has its entries. Values up to the key, an entry of the index, stand in one record only.
        case checking = 2
    }

    package var phase: Phase
    /// Whether taking the index back means that there is none; otherwise only that it is not unique.
    var isNew: Bool
    /// Rows, or entries, up to the key.
    var count = 0
    package var key: [UInt8] = []

    init(_ phase: Phase, isNew: Bool) {
        self.phase = phase
        self.isNew = isNew
    }

    package init?(_ value: Bytes) {
        guard value.count >= 10, let phase = Phase(rawValue: value[0]) else { return nil }
        self.phase = phase
        isNew = value[1] & 1 != 0
        count = Int(clamping: UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 2, as: UInt64.self)))
        key = Array(value.dropFirst(10))
    }

    private static func metaKey(_ index: UInt32) -> [UInt8] { Array((MetaKey.indexPrefix + String(index)).utf8) }

    /// Of one index; nil if it is complete.
    static func of(_ index: UInt32, _ raw: RawTransaction, _ meta: ChecksummedTable) throws -> IndexMark? {
        try metaKey(index).withUnsafeBytes { try raw.get(meta, $0) }.flatMap { IndexMark($0) }
    }

    /// Of every index that has one.
    static func all(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [UInt32: IndexMark] {
        let cursor = try raw.cursor(meta)
        defer { cursor.close() }
        let prefix = Array(MetaKey.indexPrefix.utf8)
        var marks: [UInt32: IndexMark] = [:]
        var entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while let (key, value) = entry, key.starts(with: prefix) {
            if let id = UInt32(String(decoding: key.dropFirst(prefix.count), as: UTF8.self)), let mark = IndexMark(value) {
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
        try IndexMark.metaKey(index).withUnsafeBytes { try raw.put(meta, $0, value.bytes) }
    }

    static func remove(_ index: UInt32, _ raw: RawTransaction, _ meta: ChecksummedTable) throws {
        _ = try metaKey(index).withUnsafeBytes { try raw.delete(meta, $0) }
    }
}
