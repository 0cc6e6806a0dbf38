// A page with any content, read in place: every field is compared with the size before it is used.
//
// Both readers of pages use it: `LMDB` on the map of a live snapshot, `TarnInspect` on bytes that
// it has read from a file of unknown health. Nothing is copied, allocated or reference-counted. The
// functions are inlined into their callers: direct reads call them for every key that they compare.

/// The borrowed bytes of a page, or of a page inside of a node.
///
/// It is valid as long as the bytes, and no longer.
@usableFromInline package struct PageView {
    @usableFromInline package let start: UnsafeRawPointer
    /// The size in bytes, at least that of a header.
    @usableFromInline package let size: Int

    /// Creates a view of a page of the map, which is known to be larger than a header.
    @inlinable @inline(__always)
    package init(start: UnsafeRawPointer, size: Int) {
        self.start = start
        self.size = size
    }

    /// Creates a view of bytes; nil if they are too short for a header.
    @inlinable
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count >= PageLayout.headerSize else { return nil }
        self.init(start: start, size: bytes.count)
    }

    // MARK: - Header

    /// The number that the page declares.
    @inlinable @inline(__always)
    package var number: UInt64 { start.u64(at: PageLayout.number) }

    @inlinable @inline(__always)
    package var flags: UInt16 { start.u16(at: PageLayout.flags) }

    @inlinable
    package var kind: PageKind { PageKind(flags: flags) }

    @inlinable @inline(__always)
    package var isBranch: Bool { flags & PageLayout.kinds == PageLayout.branch }

    @inlinable @inline(__always)
    package var isLeaf: Bool { flags & PageLayout.kinds == PageLayout.leaf }

    @inlinable @inline(__always)
    package var isOverflow: Bool { flags & PageLayout.kinds == PageLayout.overflow }

    /// The kind of a page inside of a node; nil if the page is not one (`P_SUBP`).
    @inlinable
    package var kindInNode: PageKind? {
        flags & PageLayout.subPage == 0 ? nil : PageKind(flags: flags & ~PageLayout.subPage)
    }

    /// The declared number of pages of an overflow run.
    @inlinable
    package var overflowPages: UInt32 { start.u32(at: PageLayout.overflowPages) }

    /// The declared end of the node offsets.
    @inlinable @inline(__always)
    package var lower: Int { Int(start.u16(at: PageLayout.lower)) }

    /// The declared start of the nodes.
    @inlinable
    package var upper: Int { Int(start.u16(at: PageLayout.upper)) }

    /// The number of nodes or values, bounded by the size: a damaged page may declare more.
    @inlinable @inline(__always)
    package var count: Int {
        let lower = lower
        return lower <= size ? max(0, lower - PageLayout.nodeOffsets) / 2 : 0
    }

    // MARK: - Values of one size

    /// The declared size of the values of a page without nodes.
    @inlinable
    package var valueSize: Int { Int(start.u16(at: PageLayout.valueSize)) }

    /// Whether the values of a page without nodes are in the page.
    @inlinable
    package var hasValues: Bool { valueSize > 0 && PageLayout.headerSize + count * valueSize <= size }

    /// Returns a value of a page without nodes (`LEAF2KEY`); nil if it exceeds the page.
    @inlinable
    package func value(_ index: Int) -> UnsafeRawBufferPointer? {
        let offset = PageLayout.headerSize + index * valueSize
        guard index >= 0, valueSize > 0, offset + valueSize <= size else { return nil }
        return UnsafeRawBufferPointer(start: start + offset, count: valueSize)
    }
}
