// The header of a page of the map, which says how many entries the page has: so they need not be gone through to be counted.

import CLMDB
import Glibc

/// A leaf page that a cursor of a snapshot is at. mdb.c, `MDB_page` of liblmdb 0.9: u64 number, u16, u16 flags, u16 `lower`, u16
/// `upper`, then for each entry, in the order of the keys, the u16 offset of its node; a node's key is behind 8 bytes.
struct LeafPage {
    private let start: UnsafeRawPointer
    private let size: Int
    private static let header = 16, nodeHeader = 8
    private static let leaf: UInt16 = 0x02, otherKinds: UInt16 = 0x65

    /// Nil where the page of a key cannot be told: in a write transaction, whose changed pages lie anywhere, and for pages that are
    /// larger than those of the system, to which the map is aligned.
    init?(holding key: UnsafeRawPointer?, of cursor: RawCursor) {
        guard let key, cursor.isSnapshot else { return nil }
        var statistics = MDB_stat()
        guard mdb_stat(mdb_cursor_txn(cursor.pointer), mdb_cursor_dbi(cursor.pointer), &statistics) == 0 else { return nil }
        size = Int(statistics.ms_psize)
        guard size <= LeafPage.systemPageSize, size.nonzeroBitCount == 1 else { return nil }
        start = UnsafeRawPointer(bitPattern: UInt(bitPattern: key) & ~UInt(size - 1)) ?? key
        let flags = start.load(fromByteOffset: 10, as: UInt16.self)
        guard flags & LeafPage.leaf != 0, flags & LeafPage.otherKinds == 0, count > 0 else { return nil }
    }

    private static let systemPageSize = sysconf(Int32(_SC_PAGESIZE))

    private var count: Int { (Int(start.load(fromByteOffset: 12, as: UInt16.self)) - LeafPage.header) / 2 }

    private func node(_ index: Int) -> Int { Int(start.load(fromByteOffset: LeafPage.header + 2 * index, as: UInt16.self)) }

    /// How many entries stand behind one of them, up to another if that is on the page; and the last key of the page, nil if the
    /// other one was met. Nil if the first is not on the page.
    func entries(
        behind key: UnsafeRawPointer?, upTo end: UnsafeRawPointer?
    ) -> (count: Int, last: UnsafeRawBufferPointer?)? {
        guard let key else { return nil }
        let known = key - start - LeafPage.nodeHeader, last = end.map { $0 - start - LeafPage.nodeHeader } ?? -1
        var behind = 0, isBehind = false
        for index in 0..<count {
            let node = node(index)
            if isBehind {
                if node == last { return (behind, nil) }
                behind += 1
            } else if node == known {
                isBehind = true
            }
        }
        guard isBehind, count > 0 else { return nil }
        let node = start + node(count - 1)
        let length = Int(node.load(fromByteOffset: 6, as: UInt16.self))
        return (behind, UnsafeRawBufferPointer(start: node + LeafPage.nodeHeader, count: length))
    }
}
