// The decoding of a tree page (mdb.c of liblmdb 0.9, `MDB_page` and `MDB_node`).
//
// page   u64 number, u16, u16 flags, u16 `lower`, u16 `upper`; then a u16 offset for each node, in
//        key order. The first overflow page has a u32 number of pages in place of `lower` and
//        `upper`. A leaf of values of one size (`MDB_DUPFIXED`) has values in place of nodes, each
//        of the size in the u16 after the number.
// node   u16 and u16, the low and the high half of the value's size, u16 flags, u16 size of the
//        key, the key, the value. With flag 1, the value is replaced by the u64 number of the first
//        overflow page, where it follows a header. In a branch, the first three fields are a page
//        number of 48 bits, and there is no value.

/// A page with any content: every field is compared with the page size before it is used.
struct TreePage {
    enum Kind: Hashable {
        case branch, leaf
        /// A leaf of values of one size, which belong to one key (`P_LEAF2`).
        case values(size: Int)
        /// The first page of a value that does not fit in a leaf, with the number of its pages.
        case overflow(pages: UInt32)
        case other(flags: UInt16)
    }

    /// A node of a leaf or branch.
    struct Node {
        var flags: UInt16
        var key: Range<Int>
        /// In a leaf: the range of the value, or of the number of its first overflow page.
        var value: Range<Int>
        /// In a leaf: the size of the value in bytes, in the page or in overflow pages.
        var valueSize: Int
        /// In a branch: the number of the child page.
        var child: UInt64

        static let overflowing: UInt16 = 1, table: UInt16 = 2, duplicates: UInt16 = 4
        var isOverflowing: Bool { flags & Node.overflowing != 0 }
    }

    static let headerSize = 16
    private static let nodeHeader = 8
    private static let kinds: UInt16 = 0x6F, fixedLeaf: UInt16 = 0x22, part: UInt16 = 0x40

    let page: PageBytes

    init(_ page: PageBytes) { self.page = page }

    /// The number that the page declares.
    var number: UInt64 { page.u64(0) }

    var kind: Kind {
        switch page.u16(10) & TreePage.kinds {
        case 1: .branch
        case 2: .leaf
        case 4: .overflow(pages: page.u32(12))
        case TreePage.fixedLeaf: .values(size: Int(page.u16(8)))
        default: .other(flags: page.u16(10))
        }
    }

    /// Returns the values of a key that are a page in its node (`P_SUBP`); nil if malformed.
    static func values(ofNode bytes: [UInt8]) -> [Range<Int>]? {
        let page = TreePage(PageBytes(bytes))
        guard bytes.count >= headerSize, page.page.u16(10) & part != 0 else { return nil }
        switch page.page.u16(10) & kinds & ~part {
        case 2:
            var values: [Range<Int>] = []
            for index in 0..<page.count {
                guard let node = page.node(index) else { return nil }
                values.append(node.key)
            }
            return values
        case fixedLeaf: return page.values(size: Int(page.page.u16(8)))
        default: return nil
        }
    }

    /// Returns the ranges of values of one size; nil if they exceed the page.
    func values(size: Int) -> [Range<Int>]? {
        guard size > 0, TreePage.headerSize + count * size <= page.bytes.count else { return nil }
        return (0..<count).map { TreePage.headerSize + $0 * size..<TreePage.headerSize + ($0 + 1) * size }
    }

    private var lower: Int { Int(page.u16(12)) }
    private var upper: Int { Int(page.u16(14)) }

    /// The number of nodes, bounded by the page size: a damaged page may declare more.
    var count: Int { lower <= page.bytes.count ? max(0, lower - TreePage.headerSize) / 2 : 0 }

    /// Returns a node; nil if it exceeds the page.
    func node(_ index: Int) -> Node? {
        let offset = Int(page.u16(TreePage.headerSize + 2 * index)), size = page.bytes.count
        guard offset >= TreePage.headerSize, offset + TreePage.nodeHeader <= size else { return nil }
        let key = offset + TreePage.nodeHeader, value = key + Int(page.u16(offset + 6))
        guard value <= size else { return nil }
        let low = UInt64(page.u16(offset)) | UInt64(page.u16(offset + 2)) << 16, flags = page.u16(offset + 4)
        guard kind != .branch else {
            return Node(
                flags: 0, key: key..<value, value: value..<value, valueSize: 0, child: low | UInt64(flags) << 32)
        }
        let stored = flags & Node.overflowing != 0 ? 8 : Int(low)
        guard value + stored <= size else { return nil }
        return Node(flags: flags, key: key..<value, value: value..<value + stored, valueSize: Int(low), child: 0)
    }

    /// The fault of the page, as far as the page alone shows it; nil if there is none.
    var problem: String? {
        let size = page.bytes.count
        guard lower >= TreePage.headerSize, lower <= upper, upper <= size, lower & 1 == 0 else {
            return "free room from \(lower) to \(upper) is not possible"
        }
        guard count > 0 else { return "it is empty" }
        if case .values(let bytes) = kind {
            return values(size: bytes) == nil ? "\(count) values of \(bytes) bytes do not lie in it" : nil
        }
        var used = 0
        for index in 0..<count {
            guard let node = node(index) else { return "node \(index) does not lie in it" }
            let start = node.key.lowerBound - TreePage.nodeHeader
            guard start >= upper else { return "node \(index) lies in its free room" }
            // Nodes begin at even offsets.
            used += (node.value.upperBound - start + 1) & ~1
        }
        // Nodes are contiguous (mdb.c, `mdb_node_del` closes gaps).
        return used == size - upper ? nil : "its nodes overlap, or there are gaps between them"
    }
}
