// The layout of an LMDB data file: every offset, size and flag, with its name in mdb.c.
//
// Source: mdb.c of liblmdb 0.9.24, data format 1 (`MDB_DATA_VERSION`). liblmdb writes integers as
// the machine has them. Here they are little-endian and words have 64 bits, as on every machine
// that Tarn supports.
//
// file   pages of one size. Pages 0 and 1 are meta pages (`NUM_METAS`), and the roots of two trees
//        are in each of them: the free list and the table of tables.
// tree   branches above leaves; keys are in order.
// page   header, a u16 offset of each node in key order, free room, nodes.
// value  inside its node, or behind the header of a run of overflow pages.

/// The offsets, sizes and flags of pages and nodes.
@usableFromInline package enum PageLayout {
    // MARK: - Files

    /// The number of meta pages, and the number of the first page of a tree: `NUM_METAS`.
    @inlinable package static var metaPages: UInt64 { 2 }
    /// The page number of a root that does not exist: `P_INVALID`.
    @inlinable package static var invalidPage: UInt64 { .max }
    /// The bounds of the page size, which is a power of two: `MIN_PAGESIZE`, `MAX_PAGESIZE`.
    @inlinable package static var pageSizes: ClosedRange<Int> { 0x200...0x10000 }
    /// The maximum depth of a tree: `CURSOR_STACK`.
    @inlinable package static var deepest: Int { 32 }

    // MARK: - Page header: `struct MDB_page`

    /// The size of the header: `PAGEHDRSZ`.
    @inlinable package static var headerSize: Int { 16 }
    /// u64, the number of the page: `mp_pgno`.
    @inlinable package static var number: Int { 0 }
    /// u16, the size of the values of a `P_LEAF2` page: `mp_pad`.
    @inlinable package static var valueSize: Int { 8 }
    /// u16: `mp_flags`.
    @inlinable package static var flags: Int { 10 }
    /// u16, the end of the node offsets and start of the free room: `mp_lower`.
    @inlinable package static var lower: Int { 12 }
    /// u16, the end of the free room: `mp_upper`.
    @inlinable package static var upper: Int { 14 }
    /// u32, the number of pages of an overflow run, in place of `mp_lower`, `mp_upper`: `mp_pages`.
    @inlinable package static var overflowPages: Int { 12 }
    /// u16 for each node, its offset from the start of the page: `mp_ptrs`.
    @inlinable package static var nodeOffsets: Int { 16 }

    // MARK: - Page flags: `mp_flags`

    /// `P_BRANCH`.
    @inlinable package static var branch: UInt16 { 0x01 }
    /// `P_LEAF`.
    @inlinable package static var leaf: UInt16 { 0x02 }
    /// The first page of an overflow run; the others have no header: `P_OVERFLOW`.
    @inlinable package static var overflow: UInt16 { 0x04 }
    /// `P_META`.
    @inlinable package static var meta: UInt16 { 0x08 }
    /// A leaf of values of one size, without nodes: `P_LEAF2`, always with `P_LEAF`.
    @inlinable package static var fixedLeaf: UInt16 { 0x20 }
    /// A page inside of a node, with the values of one key: `P_SUBP`.
    @inlinable package static var subPage: UInt16 { 0x40 }
    /// All flags that decide how a page is read.
    ///
    /// The others (`P_DIRTY`, `P_LOOSE`, `P_KEEP`) concern pages in memory.
    @inlinable package static var kinds: UInt16 { branch | leaf | overflow | meta | fixedLeaf | subPage }

    // MARK: - Nodes: `struct MDB_node`

    /// The size of a node's header: `NODESIZE`.
    @inlinable package static var nodeHeaderSize: Int { 8 }
    /// u32 in a leaf, the size of the value: `NODEDSZ`, of `mn_lo` and `mn_hi`.
    @inlinable package static var nodeValueSize: Int { 0 }
    /// u48 in a branch, the number of the child: `NODEPGNO`, of `mn_lo`, `mn_hi` and `mn_flags`.
    @inlinable package static var nodeChild: Int { 0 }
    /// The bits of a child's number.
    @inlinable package static var childMask: UInt64 { 0xFFFF_FFFF_FFFF }
    /// u16 in a leaf: `mn_flags`.
    @inlinable package static var nodeFlags: Int { 4 }
    /// u16, the size of the key, which follows the header: `mn_ksize`, `mn_data`.
    @inlinable package static var nodeKeySize: Int { 6 }

    // MARK: - Node flags: `mn_flags`

    /// The node has the number of the first overflow page in place of the value: `F_BIGDATA`.
    @inlinable package static var overflowing: UInt16 { 0x01 }
    /// The value is the record of a tree: `F_SUBDATA`.
    @inlinable package static var tree: UInt16 { 0x02 }
    /// The key has several values, in a sub-page or in a tree: `F_DUPDATA`.
    @inlinable package static var duplicates: UInt16 { 0x04 }
    /// The size of an overflow page number in a node, `sizeof(pgno_t)`.
    @inlinable package static var overflowNumberSize: Int { 8 }

    /// Returns the number of overflow pages of a value: `OVPAGES`.
    @inlinable @inline(__always)
    package static func overflowPages(for valueSize: Int, pageSize: Int) -> Int {
        (headerSize - 1 + valueSize) / pageSize + 1
    }
}
