// A page of a tree, taken apart (mdb.c of liblmdb 0.9, `MDB_page` and `MDB_node`).
//
//   page   u64 number, u16, u16 flags, u16 `lower`, u16 `upper`; then for each node, in the order of keys, the u16 offset of it. Of the
//          first page of an overflowing value: u32 number of pages in place of `lower` and `upper`
//          Of a leaf of values of one size (`MDB_DUPFIXED`): in place of nodes the values, each of the size in the u16 after the number
//   node   u16 and u16, the low and the high half of the value's size, u16 flags, u16 size of the key, the key, the value. With the flag
//          1: the u64 number of the page from which the value stands, behind a header. In a branch the first three fields are the
//          number of a page, 48 bits, and there is no value

/// A page that may be anything. Nothing of it is believed before it was compared with its size.
struct TreePage {
    enum Kind: Hashable {
        case branch, leaf
        /// A leaf of values of one size, of a key that has several (`P_LEAF2`).
        case values(size: Int)
        /// The first page of a value that is too long for a leaf, and how many pages it has.
        case overflow(pages: UInt32)
        case other(flags: UInt16)
    }

    /// A node of a leaf or branch.
    struct Node {
        var flags: UInt16
        var key: Range<Int>
        /// In a leaf: where the value, or the number of its first page, stands.
        var value: Range<Int>
        /// In a leaf: how many bytes the value has, wherever it stands.
        var valueSize: Int
        /// In a branch: the number of the page that it leads to.
        var child: UInt64

        static let overflowing: UInt16 = 1, table: UInt16 = 2, duplicates: UInt16 = 4
        var isOverflowing: Bool { flags & Node.overflowing != 0 }
    }

    static let headerSize = 16
    private static let nodeHeader = 8
    private static let kinds: UInt16 = 0x6F, fixedLeaf: UInt16 = 0x22, part: UInt16 = 0x40

    let page: PageBytes

    init(_ page: PageBytes) { self.page = page }

    /// The number that the page says it has.
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

    /// The values of a key that stand in its node, as a page in a leaf (`P_SUBP`). Nil if the bytes are no such page.
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

    /// The places of values of one size. Nil if they do not lie in the page.
    func values(size: Int) -> [Range<Int>]? {
        guard size > 0, TreePage.headerSize + count * size <= page.bytes.count else { return nil }
        return (0..<count).map { TreePage.headerSize + $0 * size..<TreePage.headerSize + ($0 + 1) * size }
    }

    private var lower: Int { Int(page.u16(12)) }
    private var upper: Int { Int(page.u16(14)) }

    /// How many nodes there are: no more than have room, whatever the page says.
    var count: Int { lower <= page.bytes.count ? max(0, lower - TreePage.headerSize) / 2 : 0 }

    /// A node. Nil if it does not lie in the page.
    func node(_ index: Int) -> Node? {
        let offset = Int(page.u16(TreePage.headerSize + 2 * index)), size = page.bytes.count
        guard offset >= TreePage.headerSize, offset + TreePage.nodeHeader <= size else { return nil }
        let key = offset + TreePage.nodeHeader, value = key + Int(page.u16(offset + 6))
        guard value <= size else { return nil }
        let low = UInt64(page.u16(offset)) | UInt64(page.u16(offset + 2)) << 16, flags = page.u16(offset + 4)
        guard kind != .branch else {
            return Node(flags: 0, key: key..<value, value: value..<value, valueSize: 0, child: low | UInt64(flags) << 32)
        }
        let stored = flags & Node.overflowing != 0 ? 8 : Int(low)
        guard value + stored <= size else { return nil }
        return Node(flags: flags, key: key..<value, value: value..<value + stored, valueSize: Int(low), child: 0)
    }

    /// What is wrong with the page itself, as far as it alone can tell; nil if nothing is.
    var problem: String? {
        let size = page.bytes.count
        guard lower >= TreePage.headerSize, lower <= upper, upper <= size, lower & 1 == 0 else {
            return "free room from \(lower) to \(upper) is not possible"
        }
        guard count > 0 else { return "it is empty" }
        if case .values(let bytes) = kind { return values(size: bytes) == nil ? "\(count) values of \(bytes) bytes do not lie in it" : nil }
        var used = 0
        for index in 0..<count {
            guard let node = node(index) else { return "node \(index) does not lie in it" }
            let start = node.key.lowerBound - TreePage.nodeHeader
            guard start >= upper else { return "node \(index) lies in its free room" }
            // Nodes begin at even offsets.
            used += (node.value.upperBound - start + 1) & ~1
        }
        // They lie side by side (mdb.c, `mdb_node_del` closes gaps).
        return used == size - upper ? nil : "its nodes overlap, or there are gaps between them"
    }
}
