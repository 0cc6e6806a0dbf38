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
        guard let size = LeafPage.size(of: cursor) else { return nil }
        self.init(holding: key, size: size)
    }

    /// The size of the pages that a cursor sees, if they can be looked at.
    static func size(of cursor: RawCursor) -> Int? {
        guard cursor.isSnapshot else { return nil }
        var statistics = MDB_stat()
        guard mdb_stat(mdb_cursor_txn(cursor.pointer), mdb_cursor_dbi(cursor.pointer), &statistics) == 0 else { return nil }
        let size = Int(statistics.ms_psize)
        return size <= LeafPage.systemPageSize && size.nonzeroBitCount == 1 ? size : nil
    }

    /// - Parameter size: what `size(of:)` says.
    init?(holding key: UnsafeRawPointer?, size: Int) {
        guard let key else { return nil }
        self.size = size
        start = UnsafeRawPointer(bitPattern: UInt(bitPattern: key) & ~UInt(size - 1)) ?? key
        let flags = start.load(fromByteOffset: 10, as: UInt16.self)
        guard flags & LeafPage.leaf != 0, flags & LeafPage.otherKinds == 0, count > 0 else { return nil }
    }

    private static let systemPageSize = sysconf(Int32(_SC_PAGESIZE))

    var count: Int { (Int(start.load(fromByteOffset: 12, as: UInt16.self)) - LeafPage.header) / 2 }

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

    /// Lends the entries of the page from one of them on, as many as fit. Fewer than one where the page is not what it should be: liblmdb
    /// then says what is wrong.
    func entries(from key: UnsafeRawPointer?, into batch: UnsafeMutableBufferPointer<RawCursor.Entry>) -> Int {
        guard let key else { return 0 }
        let known = key - start - LeafPage.nodeHeader, count = count
        var index = 0, found = 0
        while index < count, node(index) != known { index += 1 }
        while index < count, found < batch.count, let entry = entry(at: node(index)) {
            batch.initializeElement(at: found, to: entry)
            found += 1
            index += 1
        }
        return found
    }

    /// mdb.c, `MDB_node`: u16 and u16, the low and the high half of the value's size, u16 flags, u16 size of the key, the key, the
    /// value; with the flag 1 the number of the page from which the value stands in pages of its own, behind a header.
    @inline(__always)
    private func entry(at offset: Int) -> RawCursor.Entry? {
        guard offset >= LeafPage.header, offset + LeafPage.nodeHeader <= size else { return nil }
        let node = start + offset
        let valueSize = Int(node.loadUnaligned(as: UInt32.self)), flags = node.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        let keySize = Int(node.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        let key = UnsafeRawBufferPointer(start: node + LeafPage.nodeHeader, count: keySize), value = offset + LeafPage.nodeHeader + keySize
        if flags == 0 {
            guard value + valueSize <= size else { return nil }
            return (key, UnsafeRawBufferPointer(start: start + value, count: valueSize))
        }
        guard flags == LeafPage.overflowing, value + 8 <= size else { return nil }
        let first = Int(truncatingIfNeeded: start.loadUnaligned(fromByteOffset: value, as: UInt64.self))
        let own = Int(truncatingIfNeeded: start.load(as: UInt64.self))
        guard first > 0, own > 0, first < 1 << 47 / size else { return nil }
        let page = start + (first - own) * size
        guard page.load(fromByteOffset: 10, as: UInt16.self) == LeafPage.overflowPage else { return nil }
        return (key, UnsafeRawBufferPointer(start: page + LeafPage.header, count: valueSize))
    }

    private static let overflowing: UInt16 = 0x01, overflowPage: UInt16 = 0x04
}
