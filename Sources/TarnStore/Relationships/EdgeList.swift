// Edge lists: long lists of references, stored in a table of their own. The cost of a change
// depends
// on the size of the change, not on the length of the list.
//
//   row     tag 17, u64 list id, u32 count, the first 16 bytes of the SHA-256 of the list's value
//           in the form of a list in the row
//   edges   u64 list id, u32 position (both big-endian) → the target's storage key
//
// The value contains the list id, so a list can be read without the key of its row.
// Ids are never reused.

/// The value of a row that refers to an edge list.
package struct EdgeList: Equatable {
    /// The longest value of a list in a row, in bytes. Longer lists become edge lists.
    static let longestInRow = 2048
    static let valueSize = 29

    package var id: UInt64
    package var count: UInt32
    /// The digest by which contents are compared.
    var digest: UInt128

    init(id: UInt64, of list: EncodedValue) {
        self.id = id
        count = 0
        digest = SHA256.digest(list.bytes).withUnsafeBytes { $0.load(0, UInt128.self) }
        var count: UInt32 = 0
        list.forEachReference { _ in count += 1 }
        self.count = count
    }

    /// Decodes a value. Nil if it is no edge list.
    package init?(_ value: EncodedValue?) {
        guard let value, value.tag == ValueTag.edges, value.bytes.count == EdgeList.valueSize else { return nil }
        id = value.bytes.load(1)
        count = value.bytes.load(9)
        digest = value.bytes.load(13)
    }

    func append(to writer: inout ByteWriter) {
        writer.append(ValueTag.edges)
        writer.appendLittleEndian(id)
        writer.appendLittleEndian(count)
        withUnsafeBytes(of: digest) { writer.append($0) }
    }

    /// Passes the table's key of a position to the closure.
    func withKey<Result>(_ position: UInt32, _ body: (Bytes) throws -> Result) rethrows -> Result {
        var key = (id.bigEndian, position.bigEndian)
        // The elements of a tuple are laid out in order, so the first 12 bytes are the key.
        return try withUnsafeBytes(of: &key) { try body($0.slice(0..<12)) }
    }
}
