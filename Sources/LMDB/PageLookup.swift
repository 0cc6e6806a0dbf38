// Values of several keys of a snapshot, found together.

import CLMDB

/// Finds values of keys. In a snapshot several at a time, so that what is far away is asked for before it is looked at: first the pages, then
/// what is there, then the values. In a write transaction values are where liblmdb says.
package struct PageLookup {
    /// How many keys are looked for at a time.
    package static let most = 8

    private let tree: PageTree?
    private let transaction: RawTransaction
    private let table: Table

    /// - Parameter name: the table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        tree = try PageTree.of(table, name(), transaction)
        self.transaction = transaction
        self.table = table
    }

    /// The values of at most `most` keys; nil for each that is not there.
    package func find(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer?>
    ) throws(LMDBError) {
        precondition(keys.count <= PageLookup.most && values.count >= keys.count)
        guard let tree else {
            for index in keys.indices { values[index] = try transaction.get(table, keys[index]) }
            return
        }
        guard let root = tree.root else {
            for index in keys.indices { values[index] = nil }
            return
        }
        try withUnsafeTemporaryAllocation(of: PageSearch.self, capacity: PageLookup.most) { room throws(LMDBError) in
            for index in keys.indices { room.initializeElement(at: index, to: PageSearch(SoughtKey(keys[index]), root)) }
            let searches = UnsafeMutableBufferPointer(rebasing: room[..<keys.count])
            try tree.findLeaves(searches)
            for search in searches { PageLookup.askForKeys(of: search.page) }
            for index in searches.indices { values[index] = try tree.value(of: searches[index].key, in: searches[index].page) }
        }
    }

    private static func askForKeys(of leaf: Page) {
        // Of many entries only some are looked at, and they lie close together.
        let count = leaf.count
        guard count <= 6 else { return }
        for index in 0..<count { tarn_prefetch(leaf.start + min(leaf.node(index), leaf.size - 1)) }
    }
}
