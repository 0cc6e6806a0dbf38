/// A node of a leaf: borrowed bytes of its page.
@usableFromInline package struct LeafNode {
    @usableFromInline package let key: UnsafeRawBufferPointer
    @usableFromInline package let flags: UInt16
    /// The size of the value in bytes, in the node or in overflow pages.
    @usableFromInline package let valueSize: Int
    /// The bytes behind the key.
    ///
    /// They are the value, the number of the first overflow page, the record of a tree, or a page
    /// with the values of the key.
    @usableFromInline package let stored: UnsafeRawBufferPointer

    @inlinable @inline(__always)
    init(key: UnsafeRawBufferPointer, flags: UInt16, valueSize: Int, stored: UnsafeRawBufferPointer) {
        self.key = key
        self.flags = flags
        self.valueSize = valueSize
        self.stored = stored
    }

    /// The number of the first overflow page; nil if the value is in the node.
    @inlinable
    package var overflowPage: UInt64? {
        guard flags & PageLayout.overflowing != 0, stored.count == PageLayout.overflowNumberSize else { return nil }
        return stored.baseAddress?.u64(at: 0)
    }

    /// Whether the value is the record of a tree: of a table, or of the values of a key.
    @inlinable
    package var hasTree: Bool { flags & PageLayout.tree != 0 }

    /// Whether the key has several values.
    @inlinable
    package var hasDuplicates: Bool { flags & PageLayout.duplicates != 0 }
}
