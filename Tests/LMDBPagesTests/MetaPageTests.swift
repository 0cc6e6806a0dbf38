// Meta pages, records of trees and entries of the free list.

import LMDBPages
import Testing

@Suite("Page layout: meta pages and records")
struct MetaPageTests {
    private static func image() -> PageImage {
        var image = PageImage(number: 1, flags: 0x08, size: 512)
        image.set(16, UInt32(0xBEEF_C0DE))
        image.set(20, UInt32(1))
        image.set(32, UInt64(1 << 40))
        image.set(40, UInt32(4096))
        image.set(80, UInt64.max)
        image.set(88 + 4, UInt16(0x8004))
        image.set(88 + 6, UInt16(3))
        for (index, value) in [UInt64(11), 12, 13, 14, 15].enumerated() { image.set(88 + 8 + 8 * index, value) }
        image.set(136, UInt64(99))
        image.set(144, UInt64(77))
        return image
    }

    private func meta(_ image: PageImage) -> MetaPage? { image.bytes.withUnsafeBytes { MetaPage($0, number: 1) } }

    @Test("a meta page has the page size, both roots, the last page and the transaction")
    func fields() throws {
        let page = try #require(meta(MetaPageTests.image()))
        #expect(page.fault == nil && !page.isUnused)
        #expect(page.number == 1 && page.pageSize == 4096 && page.mapSize == 1 << 40)
        #expect(page.lastPage == 99 && page.transaction == 77)
        #expect(page.freeList.root == nil && page.main.root == 15)
        #expect(page.main.depth == 3 && page.main.flags == 0x04 && page.main.hasDuplicates)
        #expect(
            [page.main.branchPages, page.main.leafPages, page.main.overflowPages, page.main.entries] == [
                11, 12, 13, 14,
            ])
        let bytes = Array(MetaPageTests.image().bytes[..<151])
        #expect(bytes.withUnsafeBytes { MetaPage($0, number: 0) } == nil)
    }

    @Test("each thing that a meta page must have is a fault if it is another")
    func faults() {
        func fault(_ offset: Int, _ value: some FixedWidthInteger) -> MetaPage.Fault? {
            var image = MetaPageTests.image()
            image.set(offset, value)
            return meta(image)?.fault
        }
        #expect(fault(16, UInt8(0)) == .foreign)
        #expect(fault(20, UInt16(999)) == .format(999))
        #expect(fault(10, UInt16(0x02)) == .notMarked)
        for size in [0, 256, 4095, 131_072] { #expect(fault(40, UInt32(size)) == .pageSize(size)) }
        for size in [512, 65_536] { #expect(fault(40, UInt32(size)) == nil) }
    }

    @Test("a file without a transaction is known by its meta page")
    func unused() {
        var image = MetaPageTests.image()
        image.set(128, UInt64.max)
        #expect(meta(image)?.isUnused == false)
        image.set(144, UInt64(0))
        #expect(meta(image)?.isUnused == true)
    }

    @Test("the free list has integer keys and no other option of a table; two bits are the environment's")
    func freeListOptions() {
        func isSound(_ flags: UInt16) -> Bool? {
            var image = MetaPageTests.image()
            image.set(44, flags)
            return meta(image)?.hasSoundFreeList
        }
        for flags: UInt16 in [0x08, 0x09, 0x4008, 0x4009] { #expect(isSound(flags) == true) }
        for bit in 1..<14 { #expect(isSound(0x08 ^ 1 << bit) == false) }
        #expect(isSound(0) == false)
    }

    @Test("a record of a tree has 48 bytes, and an entry of the free list as many pages as it declares")
    func records() throws {
        let bytes = [UInt8](repeating: 0, count: 49)
        #expect(
            [47, 48, 49].map { size in bytes[..<size].withUnsafeBytes { TableRecord($0) != nil } } == [
                false, true, false,
            ])
        func list(_ words: [UInt64], _ size: Int) -> [UInt64]? {
            words.withUnsafeBytes { words in
                FreePages(UnsafeRawBufferPointer(rebasing: words[..<size])).map { pages in
                    (0..<pages.count).map { pages[$0] }
                }
            }
        }
        #expect(list([2, 5, 6], 24) == [5, 6])
        #expect(list([1, 5, 6], 24) == [5])
        #expect(list([0], 8) == [])
        #expect(list([3, 5, 6], 24) == nil && list([2, 5, 6], 23) == nil && list([.max, 5], 16) == nil)
        #expect(list([0], 7) == nil)
        #expect([UInt64(9)].withUnsafeBytes { FreePages.transaction($0) } == 9)
    }
}
