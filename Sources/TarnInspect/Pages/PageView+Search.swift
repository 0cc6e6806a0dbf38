// The search for a key in a page of unknown health.

import LMDBPages
import TarnStore

extension PageView {
    /// Returns the child of a branch that covers a key; nil if a node is unreadable.
    func child(for key: Bytes) -> UInt64? { childIndex(for: key).flatMap { child($0) } }

    /// Returns the index of the node whose child covers a key; nil if a node is unreadable.
    func childIndex(for key: Bytes) -> Int? {
        // The first key of a branch counts as less than every key (mdb.c, `mdb_node_search`).
        var low = 1, high = count
        guard high > 0 else { return nil }
        while low < high {
            let middle = (low + high) / 2
            guard let found = self.key(middle) else { return nil }
            if Bytes.compare(found, key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return self.key(low - 1) == nil ? nil : low - 1
    }

    /// Returns the node of a leaf that has a key.
    ///
    /// Nil if there is none, or if a node is unreadable.
    func leafNode(for key: Bytes) -> LeafNode? { leafIndex(for: key).flatMap { leafNode($0) } }

    /// Returns the index of the node of a leaf that has a key.
    ///
    /// Nil if there is none, or if a node is unreadable.
    func leafIndex(for key: Bytes) -> Int? {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            guard let found = leafNode(middle) else { return nil }
            if Bytes.compare(found.key, key) < 0 { low = middle + 1 } else { high = middle }
        }
        guard low < count, let node = leafNode(low), Bytes.compare(node.key, key) == 0 else { return nil }
        return low
    }

    /// Returns the first node whose key is out of order, or outside of the bounds of the page.
    ///
    /// Unreadable nodes are passed over.
    func misplacedNode(within bounds: KeyInterval) -> Int? {
        var last: Bytes?
        // The first key of a branch is ignored: it may even be empty.
        for index in (kind == .branch ? 1 : 0)..<max(1, count) {
            guard index < count, let key = key(index) else { continue }
            let isInOrder = last.map { Bytes.compare($0, key) < 0 } ?? true
            guard isInOrder, bounds.contains(key) else { return index }
            last = key
        }
        return nil
    }
}
