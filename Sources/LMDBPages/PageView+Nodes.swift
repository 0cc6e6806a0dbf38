// The nodes of branches and leaves. An index is always less than `count`.

extension PageView {
    /// Returns the declared offset of a node from the start of the page.
    @inlinable @inline(__always)
    package func offset(ofNode index: Int) -> Int { Int(start.u16(at: PageLayout.nodeOffsets + 2 * index)) }

    /// Returns the key of a node; nil if it exceeds the page.
    @inlinable @inline(__always)
    package func key(_ index: Int) -> UnsafeRawBufferPointer? {
        let offset = offset(ofNode: index), key = offset + PageLayout.nodeHeaderSize
        guard offset >= PageLayout.headerSize, key <= size else { return nil }
        let count = Int(start.u16(at: offset + PageLayout.nodeKeySize))
        guard key + count <= size else { return nil }
        return UnsafeRawBufferPointer(start: start + key, count: count)
    }

    /// Returns the page number in a node of a branch; nil if the node exceeds the page.
    @inlinable @inline(__always)
    package func child(_ index: Int) -> UInt64? {
        let offset = offset(ofNode: index)
        guard offset >= PageLayout.headerSize, offset + PageLayout.nodeHeaderSize <= size else { return nil }
        return start.u64(at: offset + PageLayout.nodeChild) & PageLayout.childMask
    }

    /// Returns a node of a leaf; nil if it exceeds the page.
    @inlinable @inline(__always)
    package func leafNode(_ index: Int) -> LeafNode? {
        guard let key = key(index) else { return nil }
        let offset = offset(ofNode: index), value = offset + PageLayout.nodeHeaderSize + key.count
        let flags = start.u16(at: offset + PageLayout.nodeFlags)
        let valueSize = Int(start.u32(at: offset + PageLayout.nodeValueSize))
        let stored = flags & PageLayout.overflowing == 0 ? valueSize : PageLayout.overflowNumberSize
        guard value + stored <= size else { return nil }
        return LeafNode(
            key: key, flags: flags, valueSize: valueSize,
            stored: UnsafeRawBufferPointer(start: start + value, count: stored))
    }

    /// Returns the range of a node of a leaf or branch in the page; nil if it exceeds the page.
    @inlinable
    package func extent(ofNode index: Int) -> Range<Int>? {
        let offset = offset(ofNode: index)
        if isBranch {
            guard let key = key(index) else { return nil }
            return offset..<offset + PageLayout.nodeHeaderSize + key.count
        }
        guard let node = leafNode(index) else { return nil }
        return offset..<offset + PageLayout.nodeHeaderSize + node.key.count + node.stored.count
    }
}
