// Views of pages: what liblmdb writes is read, and nothing outside of the page is.

import Glibc
import LMDBPages
import TestSupport
import Testing

@Suite("Page layout: pages")
struct PageViewTests {
    @Test("a leaf has keys, values, numbers of overflow pages and records of trees")
    func leaf() throws {
        var image = PageImage(number: 7, flags: 0x02)
        image.addLeafNode([1], [10, 11, 12])
        image.addLeafNode([1, 2], [0x34, 0x12, 0, 0, 0, 0, 0, 0], flags: 1, declaring: 70_000)
        image.addLeafNode([2], Array(repeating: 9, count: 48), flags: 2)
        image.addLeafNode([3], [], flags: 0)
        try image.withView { page in
            #expect(page.number == 7 && page.kind == .leaf && page.isLeaf && !page.isBranch && page.count == 4)
            let nodes = try (0..<4).map { try #require(page.leafNode($0)) }
            #expect(nodes.map { Array($0.key) } == [[1], [1, 2], [2], [3]])
            #expect(nodes.map(\.valueSize) == [3, 70_000, 48, 0])
            #expect(nodes.map { $0.stored.count } == [3, 8, 48, 0])
            #expect(nodes.map(\.overflowPage) == [nil, 0x1234, nil, nil])
            #expect(nodes.map(\.hasTree) == [false, false, true, false])
            #expect(Array(nodes[0].stored) == [10, 11, 12])
            // An extent is not rounded; nodes are.
            #expect((0..<4).map { page.extent(ofNode: $0)?.count } == [12, 18, 57, 9])
        }
    }

    @Test("a branch has keys and page numbers of 48 bits")
    func branch() throws {
        var image = PageImage(number: 8, flags: 0x01)
        image.add(0xFFFF_1234_5678_9ABC, key: [])
        image.add(3, key: [5, 6])
        try image.withView { page in
            #expect(page.kind == .branch && page.isBranch && !page.isLeaf)
            #expect((0..<2).map { page.child($0) } == [0x1234_5678_9ABC, 3])
            #expect((0..<2).map { page.key($0).map { Array($0) } } == [[], [5, 6]])
            #expect((0..<2).map { page.extent(ofNode: $0)?.count } == [8, 10])
        }
    }

    @Test("a page of values of one size, also inside of a node, where it may begin at any address")
    func values() throws {
        var image = PageImage(number: 9, flags: 0x22, size: 64)
        image.add(values: [[1, 2, 3, 4], [5, 6, 7, 8]])
        try image.withView { page in
            #expect(page.kind == .values && page.kindInNode == nil && page.hasValues && page.valueSize == 4)
            #expect((0..<2).map { page.value($0).map { Array($0) } } == [[1, 2, 3, 4], [5, 6, 7, 8]])
            #expect(page.value(12) == nil && page.value(-1) == nil)
        }
        var inner = PageImage(number: 0, flags: 0x72, size: 32)
        inner.add(values: [[1, 2], [3, 4]])
        try ([0] + inner.bytes).withUnsafeBytes { bytes in
            let page = try #require(PageView(UnsafeRawBufferPointer(rebasing: bytes[1...])))
            #expect(page.kind == .other && page.kindInNode == .values && page.value(1).map { Array($0) } == [3, 4])
        }
    }

    @Test("an overflow page declares its run, and a value has as many pages as liblmdb gives to it")
    func overflow() throws {
        var image = PageImage(number: 10, flags: 0x04)
        image.set(12, UInt32(70_000))
        try image.withView { #expect($0.kind == .overflow && $0.isOverflow && $0.overflowPages == 70_000) }
        let sizes = [0, 1, 4080, 4081, 8176, 8177]
        #expect(sizes.map { PageLayout.overflowPages(for: $0, pageSize: 4096) } == [1, 1, 1, 2, 2, 3])
    }

    @Test("flags of memory do not change the kind; flags of two kinds are none", arguments: [0x10, 0x4000, 0x8000])
    func kinds(_ flag: UInt16) throws {
        try PageImage(number: 2, flags: 0x02 | flag).withView { #expect($0.kind == .leaf && $0.isLeaf) }
        for flags: UInt16 in [0, 0x03, 0x06, 0x08, 0x0A, 0x20, 0x21, 0x42] {
            try PageImage(number: 2, flags: flags | flag).withView {
                #expect($0.kind == .other && !$0.isLeaf && !$0.isBranch && !$0.isOverflow)
            }
        }
    }

    @Test("what exceeds a page is not there")
    func bounds() throws {
        #expect([UInt8](repeating: 0, count: 15).withUnsafeBytes { PageView($0) == nil })
        var image = PageImage(number: 7, flags: 0x02, size: 512)
        image.addLeafNode([1, 2], [3, 4])
        let node = 512 - 12
        /// Whether the node and its key are readable after a change.
        func isReadable(_ offset: Int, _ value: some FixedWidthInteger) throws -> [Bool]? {
            var changed = image
            changed.set(offset, value)
            return try changed.withView { [$0.leafNode(0) != nil, $0.key(0) != nil, $0.child(0) != nil] }
        }
        #expect(try isReadable(node, UInt32(2)) == [true, true, true])
        #expect(try isReadable(node, UInt32(3)) == [false, true, true])
        #expect(try isReadable(node, UInt32.max) == [false, true, true])
        #expect(try isReadable(node + 4, UInt16(1)) == [false, true, true])
        #expect(try isReadable(node + 6, UInt16(4)) == [false, true, true])
        #expect(try isReadable(node + 6, UInt16(5)) == [false, false, true])
        #expect(try isReadable(16, UInt16(505)) == [false, false, false])
        #expect(try isReadable(16, UInt16(15)) == [false, false, false])
        var long = image
        long.set(12, UInt16(513))
        try long.withView { #expect($0.count == 0) }
    }

    @Test("no bytes lead outside of a page: the memory before and behind it must not be touched")
    func guardedPages() throws {
        let size = 4096
        let map = try #require(mmap(nil, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(map, 3 * size) }
        #expect(mprotect(map + size, size, PROT_READ | PROT_WRITE) == 0)
        let bytes = UnsafeMutableRawBufferPointer(start: map + size, count: size)
        var random = SeededRandom(seed: 20_261_123), sum = 0
        for round in 0..<400 {
            for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            // A view of all of the page, or of a part of it that ends or begins with the page.
            let count = round % 3 == 0 ? size : Int.random(in: 16...600, using: &random)
            let start = round % 3 == 1 ? size - count : 0
            let flags: UInt16 = [0x01, 0x02, 0x04, 0x22, 0x42, 0x62][round % 6]
            bytes.storeBytes(of: flags, toByteOffset: start + 10, as: UInt16.self)
            bytes.storeBytes(
                of: UInt16(round % 5 == 0 ? 65_535 : count - round % 3), toByteOffset: start + 12, as: UInt16.self)
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
            let page = try #require(PageView(part))
            for index in 0..<page.count {
                sum &+= page.key(index).map { $0.reduce(0) { $0 &+ Int($1) } } ?? 0
                sum &+= page.child(index).map { Int(truncatingIfNeeded: $0) } ?? 0
                sum &+= page.value(index).map { $0.reduce(0) { $0 &+ Int($1) } } ?? 0
                sum &+= page.extent(ofNode: index)?.count ?? 0
                guard let node = page.leafNode(index) else { continue }
                sum &+= node.stored.reduce(0) { $0 &+ Int($1) } &+ Int(truncatingIfNeeded: node.overflowPage ?? 0)
            }
            sum &+= (MetaPage(part, number: 0)?.main.depth ?? 0) &+ (FreePages(part)?.count ?? 0)
        }
        #expect(sum != 0)
    }
}
