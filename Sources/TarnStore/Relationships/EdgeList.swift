// Long lists of references: in a table of their own, so that a change costs what it changes, not what the list is long.
//
//   row     tag 17, u64 list id, u32 count, the first 16 bytes of the SHA-256 of the value that the list would be in the row
//   edges   u64 list id, u32 position (both big-endian) → the target's storage key
//
// A value names its list by itself, so it can be read without its row's key. Ids are never reused.

internal import LMDB

/// What a row has instead of a long list.
package struct EdgeList: Equatable {
    /// A list whose value is longer than this has its references in the table.
    static let longestInRow = 2048
    static let valueSize = 29

    package var id: UInt64
    package var count: UInt32
    /// What the content is compared by.
    package var digest: UInt128

    package init(id: UInt64, of list: EncodedValue) {
        self.id = id
        count = 0
        digest = SHA256.digest(list.bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt128.self) }
        var count: UInt32 = 0
        list.forEachReference { _ in count += 1 }
        self.count = count
    }

    /// Nil if the value is no long list.
    package init?(_ value: EncodedValue?) {
        guard let value, value.tag == ValueTag.edges, value.bytes.count == EdgeList.valueSize else { return nil }
        id = value.bytes.load(1)
        count = value.bytes.load(9)
        digest = value.bytes.loadUnaligned(fromByteOffset: 13, as: UInt128.self)
    }

    func append(to writer: inout ByteWriter) {
        writer.append(ValueTag.edges)
        writer.appendLittleEndian(id)
        writer.appendLittleEndian(count)
        withUnsafeBytes(of: digest) { writer.append($0) }
    }

    /// Lends the key of a position.
    func withKey<Result>(_ position: UInt32, _ body: (Bytes) throws -> Result) rethrows -> Result {
        var key = (id.bigEndian, position.bigEndian)
        // A tuple lies in memory in its order, the second behind the first.
        return try withUnsafeBytes(of: &key) { try body($0.slice(0..<12)) }
    }
}

extension StoreAccess {
    /// Every storage key of a list of references, wherever the list is, until the closure returns false. A value that is no
    /// list has none.
    ///
    /// - Returns: false if the list is damaged.
    @discardableResult
    package func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool {
        guard let list = EdgeList(value) else {
            guard value.tag == ValueTag.references else { return value.tag != ValueTag.edges }
            var reader = ReferenceReader(value)
            while let target = reader.next() {
                guard try body(target) else { return true }
            }
            return reader.offset == value.bytes.count
        }
        guard list.count > 0 else { return true }
        let table = try state.edgeTable(), cursor = try raw.cursor(table.table)
        defer { cursor.close() }
        var position: UInt32 = 0
        var entry = try list.withKey(0) { try cursor.seek($0) }
        while let (key, value) = entry, list.withKey(position, { Bytes.equal($0, key) }), let target = table.content(value, key: key) {
            guard try body(target) else { return true }
            position += 1
            guard position < list.count else { return true }
            entry = try cursor.next()
        }
        return false
    }
}
