// Values of several keys of a snapshot, found together.

import CLMDB

/// Finds values of keys in steps, so that what is far away is asked for before it is looked at: of many keys first the places, then what is
/// there, then the values. In a write transaction values are where liblmdb says, at once.
package struct PageLookup {
    /// Where a value is, as far as that is known.
    package struct Place {
        fileprivate let leaf: Page?
    }

    private let tree: PageTree?
    private let transaction: RawTransaction
    private let table: Table

    /// - Parameter name: the table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        tree = try PageTree.of(table, name(), transaction)
        self.transaction = transaction
        self.table = table
    }

    /// Where a key is, if it is anywhere. What is there is asked for.
    package func place(of key: UnsafeRawBufferPointer) throws(LMDBError) -> Place {
        guard let tree, let leaf = try tree.leaf(for: SoughtKey(key)) else { return Place(leaf: nil) }
        tarn_prefetch(leaf.start)
        return Place(leaf: leaf)
    }

    /// Asks for the keys at a place.
    package func ask(for place: Place) {
        // Of many entries only some are looked at, and they lie close together.
        guard let leaf = place.leaf, leaf.count <= 6 else { return }
        for index in 0..<leaf.count { tarn_prefetch(leaf.start + min(leaf.node(index), leaf.size - 1)) }
    }

    /// The value of a key.
    package func value(of key: UnsafeRawBufferPointer, at place: Place) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let tree else { return try transaction.get(table, key) }
        guard let leaf = place.leaf else { return nil }
        return try tree.value(of: SoughtKey(key), in: leaf)
    }
}
