// Pages of the map, where the page with a number is located at a multiple of the page size.

import CLMDB
import LMDBPages

extension PageView {
    /// Creates a view of the page that contains an address of the map.
    ///
    /// - Parameter size: The result of ``DirectReads/pageSize(_:)``.
    init?(holding address: UnsafeRawPointer?, size: Int) {
        guard let address, let start = UnsafeRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(size - 1)) else {
            return nil
        }
        self.init(start: start, size: size)
    }

    /// Returns the entry of a node of a leaf; nil if the node is damaged.
    ///
    /// - Parameter lastPage: The number of the last page of the file.
    @inline(__always)
    func entry(_ index: Int, lastPage: Int) -> RawCursor.Entry? {
        guard let node = leafNode(index) else { return nil }
        if node.flags == 0 { return (node.key, node.stored) }
        return overflowingEntry(node, lastPage)
    }

    private func overflowingEntry(_ node: LeafNode, _ lastPage: Int) -> RawCursor.Entry? {
        guard node.flags == PageLayout.overflowing, let first = node.overflowPage, first >= PageLayout.metaPages,
            first <= UInt64(lastPage),
            Int(first) + PageLayout.overflowPages(for: node.valueSize, pageSize: size) - 1 <= lastPage
        else { return nil }
        let page = PageView(start: start + (Int(first) - Int(truncatingIfNeeded: number)) * size, size: size)
        guard page.isOverflow, page.number == first else { return nil }
        return (node.key, UnsafeRawBufferPointer(start: page.start + PageLayout.headerSize, count: node.valueSize))
    }

    /// Counts the entries of a leaf between two keys, both excluded.
    ///
    /// - Returns: The number of entries, and the last key of the page, or nil in its place if `end`
    ///   is on the page. Nil if `key` is not on the page.
    func entries(
        behind key: UnsafeRawPointer?, upTo end: UnsafeRawPointer?
    ) -> (count: Int, last: UnsafeRawBufferPointer?)? {
        guard let key else { return nil }
        let known = key - start - PageLayout.nodeHeaderSize,
            last = end.map { $0 - start - PageLayout.nodeHeaderSize } ?? -1
        let count = count
        var behind = 0, isBehind = false
        for index in 0..<count {
            let node = offset(ofNode: index)
            if isBehind {
                if node == last { return (behind, nil) }
                behind += 1
            } else if node == known {
                isBehind = true
            }
        }
        guard isBehind, count > 0, let last = self.key(count - 1) else { return nil }
        return (behind, last)
    }
}
