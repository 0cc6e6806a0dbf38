// The table of edges: the references of long lists.

internal import LMDB

/// The table of edge lists in a transaction.
package struct EdgeTable {
    private let raw: RawTransaction
    private let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// Iterates over the storage keys of a reference list, until the closure returns false.
    /// The list is in the row or in the edge table. A value that is no list has none.
    ///
    /// - Returns: False if the list is damaged.
    @discardableResult
    func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool {
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
        while let (key, value) = entry, list.withKey(position, { Bytes.equal($0, key) }),
            let target = table.content(value, key: key)
        {
            guard try body(target) else { return true }
            position += 1
            guard position < list.count else { return true }
            entry = try cursor.next()
        }
        return false
    }
}
