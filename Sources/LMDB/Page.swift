// A page of the map, read in place. Only pages of a snapshot are read: they neither change nor
// move.
//
// mdb.c of liblmdb 0.9, `MDB_page`: u64 number, u16, u16 flags, u16 `lower`, u16 `upper`, then a
// u16 offset for each node, in key order. `MDB_node`: u16 and u16, the low and the high half of the
// value's size, u16 flags, u16 size of the key, the key, the value. With flag 1, the value is
// replaced by the number of the first of its overflow pages, where it follows a header. In a
// branch, the first three fields are a page number of 48 bits, and there is no value.

import CLMDB
import Glibc

struct Page {
    let start: UnsafeRawPointer
    let size: Int
    private static let header = 16, nodeHeader = 8
    private static let branch: UInt16 = 0x01, leaf: UInt16 = 0x02, overflow: UInt16 = 0x04, kinds: UInt16 = 0x67
    private static let overflowing: UInt16 = 0x01

    /// Returns the size of the pages that a cursor sees; nil if they must not be read in place.
    ///
    /// The changed pages of a write transaction are not in the map. Pages larger than those of the
    /// system are not aligned in the map.
    static func size(of cursor: RawCursor) -> Int? {
        guard cursor.isSnapshot else { return nil }
        var statistics = MDB_stat()
        guard mdb_stat(mdb_cursor_txn(cursor.pointer), mdb_cursor_dbi(cursor.pointer), &statistics) == 0 else {
            return nil
        }
        return usable(Int(statistics.ms_psize))
    }

    static func usable(_ size: Int) -> Int? {
        size <= systemPageSize && size.nonzeroBitCount == 1 && size > header ? size : nil
    }

    private static let systemPageSize = sysconf(Int32(_SC_PAGESIZE))

    @inline(__always)
    init(start: UnsafeRawPointer, size: Int) {
        self.start = start
        self.size = size
    }

    /// Creates the page that contains an address.
    ///
    /// - Parameter size: The result of `size(of:)`.
    init?(holding address: UnsafeRawPointer?, size: Int) {
        guard let address, let start = UnsafeRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(size - 1)) else {
            return nil
        }
        self.init(start: start, size: size)
    }

    var number: Int { Int(truncatingIfNeeded: start.load(as: UInt64.self)) }

    private var kind: UInt16 { start.load(fromByteOffset: 10, as: UInt16.self) & Page.kinds }

    @inline(__always) var isLeaf: Bool { kind == Page.leaf }
    @inline(__always) var isBranch: Bool { kind == Page.branch }

    /// The number of nodes, bounded by the page size: a damaged page may declare more.
    @inline(__always) var count: Int {
        let lower = Int(start.load(fromByteOffset: 12, as: UInt16.self))
        return lower <= size ? max(0, lower - Page.header) / 2 : 0
    }

    /// Returns the offset of a node from the start of the page.
    @inline(__always)
    func node(_ index: Int) -> Int { Int(start.load(fromByteOffset: Page.header + 2 * index, as: UInt16.self)) }

    /// Returns the key of a node; nil if it exceeds the page.
    @inline(__always)
    func key(_ index: Int) -> UnsafeRawBufferPointer? {
        let offset = node(index)
        guard offset >= Page.header, offset + Page.nodeHeader <= size else { return nil }
        let length = Int(start.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
        guard offset + Page.nodeHeader + length <= size else { return nil }
        return UnsafeRawBufferPointer(start: start + offset + Page.nodeHeader, count: length)
    }

    /// Returns the page number in a node of a branch; nil if the node exceeds the page.
    @inline(__always)
    func child(_ index: Int) -> Int? {
        let offset = node(index)
        guard offset >= Page.header, offset + Page.nodeHeader <= size else { return nil }
        return Int(start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0xFFFF_FFFF_FFFF)
    }

    /// Returns the entry of a node of a leaf; nil if the node is damaged.
    ///
    /// - Parameter lastPage: The number of the last page of the file.
    @inline(__always)
    func entry(_ index: Int, lastPage: Int) -> RawCursor.Entry? {
        guard let key = key(index) else { return nil }
        let offset = node(index), value = offset + Page.nodeHeader + key.count
        let length = Int(start.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let flags = start.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        if flags == 0 {
            guard value + length <= size else { return nil }
            return (key, UnsafeRawBufferPointer(start: start + value, count: length))
        }
        return overflowing(key, value, length, flags, lastPage)
    }

    private func overflowing(
        _ key: UnsafeRawBufferPointer, _ value: Int, _ length: Int, _ flags: UInt16, _ lastPage: Int
    ) -> RawCursor.Entry? {
        guard flags == Page.overflowing, value + 8 <= size else { return nil }
        let first = start.loadUnaligned(fromByteOffset: value, as: UInt64.self)
        guard first > 1, first <= UInt64(lastPage), Int(first) + (length + Page.header - 1) / size <= lastPage else {
            return nil
        }
        let page = Page(start: start + (Int(first) - number) * size, size: size)
        guard page.kind == Page.overflow, page.number == Int(first) else { return nil }
        return (key, UnsafeRawBufferPointer(start: page.start + Page.header, count: length))
    }

    /// Counts the entries of a leaf between two keys, both excluded.
    ///
    /// - Returns: The number of entries, and the last key of the page, or nil in its place if `end`
    ///   is on the page. Nil if `key` is not on the page.
    func entries(
        behind key: UnsafeRawPointer?, upTo end: UnsafeRawPointer?
    ) -> (count: Int, last: UnsafeRawBufferPointer?)? {
        guard let key else { return nil }
        let known = key - start - Page.nodeHeader, last = end.map { $0 - start - Page.nodeHeader } ?? -1, count = count
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
        guard isBehind, count > 0, let last = self.key(count - 1) else { return nil }
        return (behind, last)
    }
}
