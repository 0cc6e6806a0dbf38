// Faults of pages: each is found and reported, and unaffected parts are read nevertheless.

import Foundation
import LMDBPages
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: damaged pages")
struct DamagedPagesTests {
    /// The bytes of a store, and which pages its tables have.
    struct Image {
        var bytes: [UInt8]
        let tables: [String: TableRecord]
        let meta: MetaPage
        private let size = 4096

        init(_ path: String) throws {
            bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
            (tables, meta) = try StoreFile.open(at: path) { file in
                let snapshot = file.snapshot
                return (snapshot.names.reduce(into: [:]) { $0[$1] = snapshot.tables[$1] }, snapshot.meta)
            }
        }

        func root(_ table: String) throws -> Int { Int(try #require(tables[table]?.root)) }
        func number(_ offset: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
        }
        mutating func set(_ offset: Int, _ count: Int, _ value: Int) {
            for index in 0..<count { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        }
        func node(_ page: Int, _ index: Int) -> Int { page * size + number(page * size + 16 + 2 * index, 2) }
        func child(_ page: Int, _ index: Int) -> Int { number(node(page, index), 6) }
        mutating func setChild(_ page: Int, _ index: Int, _ child: Int) { set(node(page, index), 6, child) }
        /// The location of a table's record in the table of tables.
        func record(_ table: String) throws -> Int {
            let page = Int(try #require(meta.main.root))
            for index in 0..<(number(page * size + 12, 2) - 16) / 2 {
                let node = node(page, index), length = number(node + 6, 2)
                if Array(bytes[node + 8..<node + 8 + length]) == Array(table.utf8) { return node + 8 + length }
            }
            throw StoreOpenError.noSuchStore(path: table)
        }
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: Finding.Code
        var body: @Sendable (inout Image) throws -> Void

        init(_ name: String, _ code: Finding.Code, _ body: @escaping @Sendable (inout Image) throws -> Void) {
            (testDescription, self.code, self.body) = (name, code, body)
        }
    }

    static let faults: [Fault] = [
        Fault("a leaf that is no leaf", .pageKind) { $0.set($0.child(try $0.root("changes"), 3) * 4096 + 10, 2, 0x44) },
        Fault("a page with another number", .pageNumber) { $0.set($0.child(try $0.root("changes"), 3) * 4096, 4, 77) },
        Fault("a page whose free room is impossible", .pageForm) {
            $0.set($0.child(try $0.root("changes"), 3) * 4096 + 12, 2, 17)
        },
        Fault("a node outside of its page", .pageForm) {
            $0.set($0.child(try $0.root("changes"), 3) * 4096 + 20, 2, 0xFFFF)
        },
        Fault("two nodes in one place", .pageKeyOrder) { image in
            let page = image.child(try image.root("changes"), 3) * 4096
            image.set(page + 18, 2, image.number(page + 16, 2))
        },
        Fault("a node in the free room", .pageForm) { image in
            // The last node begins where the free room of the page ends.
            let page = image.child(try image.root("changes"), 3) * 4096
            image.set(page + 14, 2, image.number(page + 14, 2) + 2)
        },
        Fault("a gap between nodes", .pageForm) { image in
            let page = image.child(try image.root("changes"), 3) * 4096
            image.set(page + 14, 2, image.number(page + 14, 2) - 2)
        },
        Fault("an empty leaf", .pageForm) { $0.set($0.child(try $0.root("changes"), 3) * 4096 + 12, 2, 16) },
        Fault("two nodes in the wrong order", .pageKeyOrder) { image in
            let page = image.child(try image.root("changes"), 3) * 4096, first = image.number(page + 16, 2),
                second = image.number(page + 18, 2)
            image.set(page + 16, 2, second)
            image.set(page + 18, 2, first)
        },
        Fault("two pages exchanged", .pageKeyOrder) { image in
            let root = try image.root("changes"), (first, second) = (image.child(root, 2), image.child(root, 3))
            image.setChild(root, 2, second)
            image.setChild(root, 3, first)
        },
        Fault("a loop", .pageReachedTwice) { image in
            let root = try image.root("changes")
            image.setChild(root, 3, root)
        },
        Fault("a page of two tables", .pageReachedTwice) { image in
            image.setChild(try image.root("changes"), 3, try image.root("urls"))
        },
        Fault("a page beyond the last", .pageOutOfBounds) { $0.setChild(try $0.root("changes"), 3, 1 << 40) },
        Fault("a meta page as a leaf", .pageOutOfBounds) { $0.setChild(try $0.root("changes"), 3, 1) },
        Fault("a tree that is too deep", .pageDepth) { $0.set(try $0.record("changes") + 6, 2, 9) },
        Fault("a table with another number of entries", .tableCounts) { $0.set(try $0.record("changes") + 32, 8, 5) },
        Fault("a table with options", .tableRecord) { $0.set(try $0.record("changes") + 4, 2, 4) },
        Fault("a free page that is in use", .freeListed) { image in
            let leaf = Int(try #require(image.meta.freeList.root)), node = image.node(leaf, 0)
            image.set(node + 8 + 8 + 8, 8, try image.root("urls"))
        },
        Fault("a free list that says it is longer than it is", .freeList) { image in
            let leaf = Int(try #require(image.meta.freeList.root)), node = image.node(leaf, 0)
            image.set(node + 8 + 8, 8, 1 << 50)
        },
        Fault("a page that is free twice", .freeListedTwice) { image in
            let leaf = Int(try #require(image.meta.freeList.root)), node = image.node(leaf, 0)
            image.set(node + 8 + 8 + 8, 8, image.number(node + 8 + 8 + 16, 8))
        },
        Fault("pages that nobody has", .pageLost) { $0.set($0.meta.number * 4096 + 136, 8, Int($0.meta.lastPage) + 5) },
        Fault("a last page that cannot be", .pageLost) { $0.set($0.meta.number * 4096 + 136, 8, 1 << 45) },
        // Found by tools/torture, seed 4711, file 1003: every command ended by a trap.
        Fault("a meta page with an impossible transaction and last page", .pageLost) { image in
            image.set(image.meta.number * 4096 + 136, 8, -1)
            image.set(image.meta.number * 4096 + 144, 8, -2)
        },
        // A search ended by a trap.
        Fault("a table whose root no file can have, and a last page behind it", .pageMissing) { image in
            image.set(image.meta.number * 4096 + 136, 8, 1 << 62)
            image.set(try image.record("r/2") + 6, 2, 2)
            image.set(try image.record("r/2") + 40, 8, 1 << 60)
        },
        Fault("a value whose pages lie beyond the file", .pageOutOfBounds) { image in
            let page = try image.overflowingNode("r/2")
            image.set(page, 8, 1 << 40)
        },
        // Faults that only one check of a page, a branch, a list or a meta page finds; each check
        // was removed once to prove it.
        Fault("a list of nodes with an odd end", .pageForm) { image in
            let end = image.child(try image.root("changes"), 3) * 4096 + 12
            image.set(end, 2, image.number(end, 2) + 1)
        },
        Fault("a node in the free room, and its old place left empty", .pageForm) { image in
            let page = try image.leafWithRoom("changes"), upper = image.number(page * 4096 + 14, 2),
                old = page * 4096 + upper
            let last = try #require((0..<image.count(page)).first { image.node(page, $0) == old }),
                size = image.size(old)
            for index in 0..<size { image.bytes[old - size + index] = image.bytes[old + index] }
            image.set(page * 4096 + 16 + 2 * last, 2, upper - size)
        },
        Fault("a value that ends beyond its page", .pageForm) { image in
            let page = image.child(try image.root("changes"), 3)
            let last = try #require((0..<image.count(page)).map { image.node(page, $0) }.max())
            image.set(last, 2, image.number(last, 2) + 8)
        },
        Fault("a branch whose key ends beyond its page", .pageForm) { image in
            image.set(image.node(try image.root("changes"), 3) + 6, 2, 0xFFFF)
        },
        Fault("a branch whose key is more than the first one below it", .pageKeyOrder) {
            try $0.shiftKey(of: 3, in: "changes", by: 1)
        },
        Fault("a branch whose key is no more than the last one before it", .pageKeyOrder) {
            try $0.shiftKey(of: 3, in: "changes", by: -1, byte: 1)
        },
        Fault("a value that needs more pages than it says", .pageForm) { image in
            image.set(image.number(try image.overflowingNode("r/2"), 8) * 4096 + 12, 4, 0)
        },
        Fault("a value that says it has more pages than the file", .pageForm) { image in
            image.set(image.number(try image.overflowingNode("r/2"), 8) * 4096 + 12, 4, 1 << 20)
        },
        Fault("a value whose pages begin with no such page", .pageKind) { image in
            image.set(image.number(try image.overflowingNode("r/2"), 8) * 4096 + 10, 2, 2)
        },
        Fault("two values that share a page", .pageReachedTwice) { image in
            let count = image.number(try image.overflowingNode("r/2"), 8) * 4096 + 12
            image.set(count, 4, image.number(count, 4) + 1)
        },
        Fault("an entry that says it has several values", .tableRecord) { image in
            image.set(image.node(image.child(try image.root("changes"), 3), 0) + 4, 2, 4)
        },
        Fault("a table of tables with an entry that is no table", .tableRecord) { image in
            image.set(try image.record("changes") - "changes".utf8.count - 4, 2, 0)
        },
        Fault("a table with a depth and no root", .tableRecord) { $0.set(try $0.record("changes") + 40, 8, -1) },
        Fault("a free page that is a meta page", .freeList) { image in
            image.set(image.node(Int(try #require(image.meta.freeList.root)), 0) + 8 + 8 + 8, 8, 1)
        },
        Fault("a free list in the wrong order", .freeList) { image in
            let leaf = Int(try #require(image.meta.freeList.root))
            try #require(image.number(leaf * 4096 + 12, 2) >= 16 + 4)
            image.set(image.node(leaf, 0) + 8, 8, 1 << 40)
        },
        Fault("a newer meta page that is not marked as one", .meta) { $0.set($0.meta.number * 4096 + 10, 2, 0) },
        Fault("a newer meta page of another data format", .meta) { $0.set($0.meta.number * 4096 + 20, 4, 2) },
        Fault("a newer meta page with an impossible page size", .meta) { $0.set($0.meta.number * 4096 + 40, 4, 5000) },
        // Salvage failed although the other one was intact.
        Fault("a newer meta page with another page size", .meta) { $0.set($0.meta.number * 4096 + 40, 4, 512) },
        Fault("an older meta page with another page size", .meta) { $0.set((1 - $0.meta.number) * 4096 + 40, 4, 8192) },
        // The previous commit is the current one then.
        Fault("a newer meta page with a much lower transaction number", .meta) { $0.setTransaction(newer: -8) },
        Fault("a newer meta page with a higher transaction number", .meta) { $0.setTransaction(newer: 8) },
        Fault("an older meta page with a higher transaction number", .meta) { $0.setTransaction(older: 2) },
        Fault("an older meta page with a lower transaction number", .meta) { $0.setTransaction(older: -4) },
        Fault("both meta pages with the number of the other one", .meta) {
            $0.setTransaction(newer: -1)
            $0.setTransaction(older: 1)
        },
        Fault("a file that was cut off", .pageMissing) { $0.bytes.removeLast($0.bytes.count / 3) },
        Fault("a newer meta page that is damaged", .meta) { $0.bytes[$0.meta.number * 4096 + 16] ^= 1 },
        Fault("both meta pages damaged", .noMeta) { image in for page in 0..<2 { image.bytes[page * 4096 + 16] ^= 1 } },
        Fault("zeros", .noMeta) { $0.bytes = Array(repeating: 0, count: 50_000) },
        Fault("an image in place of the file", .noMeta) {
            $0.bytes = [0x89, 0x50, 0x4E, 0x47] + Array(repeating: 0x42, count: 50_000)
        },
        Fault("an empty file", .noMeta) { $0.bytes = [] },
    ]

    @Test("each fault of pages is found with its code, by whatever way the file could be opened", arguments: faults)
    func faultsAreFound(_ fault: Fault) throws {
        let store = try RichStore()
        var image = try Image(store.path)
        try fault.body(&image)
        try store.write(image.bytes)
        let report = try verifyBothWays(store.path)
        #expect(report.counts[fault.code, default: 0] > 0, "\(report.findings.prefix(5)) \(report.aloneBecause ?? "")")
        #expect(!report.isSound)
        var lines = 0, damages = 0
        // Unaffected records are dumped; none only if the file as a whole is unreadable.
        do {
            try StoreInspector(at: store.path).dumpRecords(line: { _ in lines += 1 }, damaged: { _ in damages += 1 })
            if fault.code != .meta, fault.code != .pageMissing {
                #expect(lines + damages >= 455, "\(lines) \(damages)")
            }
        } catch let error as any StoreFailure {
            #expect(error.description.count > 20)
        }
    }

    @Test(
        "a search ends where the many nodes of a branch lead to one page, and so on to an empty one",
        .timeLimit(.minutes(1)))
    func sharedBranches() throws {
        let store = try RichStore()
        var image = try Image(store.path)
        let last = Int(image.meta.lastPage), root = try image.root("r/2"), added = (1...5).map { last + $0 }
        image.bytes = Array(image.bytes.prefix((last + 1) * 4096))
        image.bytes += Array(repeating: 0, count: (last + 6) * 4096 - image.bytes.count)
        image.set(image.meta.number * 4096 + 136, 8, last + 5)
        for (page, next) in zip([root] + added, added) {
            image.makeBranch(page, of: Array(repeating: next, count: 300))
        }
        image.makeBranch(last + 5, of: [])
        image.set(try image.record("r/2") + 6, 2, 12)
        try store.write(image.bytes)
        var options = SearchOptions()
        options.entity = "Issue"
        let found = try searchEveryWay(StoreInspector(at: store.path), "e", options)
        #expect(found.matches.isEmpty && !found.damages.isEmpty)
    }

    @Test("a loop anywhere in any branch comes to an end", .timeLimit(.minutes(1)))
    func loops() throws {
        let store = try RichStore()
        let image = try Image(store.path)
        for table in image.tables.keys.sorted() {
            guard let record = image.tables[table], record.depth > 1, let root = record.root.map({ Int($0) }) else {
                continue
            }
            for child in 0..<min(3, (image.number(root * 4096 + 12, 2) - 16) / 2) {
                var broken = image
                broken.setChild(root, child, root)
                try store.write(broken.bytes)
                let report = try verifyBothWays(store.path)
                #expect(report.counts[.pageReachedTwice] != nil, "\(table)")
            }
        }
    }
}

extension DamagedPagesTests.Image {
    /// Adds to the transaction number of a meta page.
    mutating func setTransaction(newer difference: Int) { add(difference, toTransactionOf: meta.number) }
    mutating func setTransaction(older difference: Int) { add(difference, toTransactionOf: 1 - meta.number) }

    private mutating func add(_ difference: Int, toTransactionOf page: Int) {
        let offset = page * 4096 + 144
        set(offset, 8, number(offset, 8) + difference)
    }

    func count(_ page: Int) -> Int { (number(page * 4096 + 12, 2) - 16) / 2 }

    /// The size of a node in a leaf.
    func size(_ node: Int) -> Int { (8 + number(node + 6, 2) + number(node, 2) + 1) & ~1 }

    /// A leaf below a table's root whose first node could be repeated in the page.
    func leafWithRoom(_ table: String) throws -> Int {
        let root = try root(table)
        return try #require(
            (0..<count(root)).map { child(root, $0) }.last { page in
                let upper = number(page * 4096 + 14, 2)
                return number(page * 4096 + 12, 2) + size(page * 4096 + upper) <= upper
            })
    }

    /// Makes the key of a node of a table's root branch a little more or less than it is.
    ///
    /// - Parameter byte: the byte that changes, counted from the last one.
    mutating func shiftKey(of index: Int, in table: String, by distance: Int, byte: Int = 0) throws {
        let node = node(try root(table), index), place = node + 8 + number(node + 6, 2) - 1 - byte
        bytes[place] = try #require(UInt8(exactly: Int(bytes[place]) + distance))
    }

    /// Writes a branch with keys of one byte in place of a page.
    mutating func makeBranch(_ page: Int, of children: [Int]) {
        let start = page * 4096
        bytes.replaceSubrange(start..<start + 4096, with: Array(repeating: 0, count: 4096))
        set(start, 8, page)
        set(start + 10, 2, 1)
        set(start + 12, 2, 16 + 2 * children.count)
        set(start + 14, 2, 4096 - 10 * children.count)
        for (index, child) in children.enumerated() {
            let node = 4096 - 10 * (index + 1)
            set(start + 16 + 2 * index, 2, node)
            set(start + node, 6, child)
            set(start + node + 6, 2, 1)
            set(start + node + 8, 1, index)
        }
    }

    /// The location of the number of the first page of a value with its own pages.
    func overflowingNode(_ table: String) throws -> Int {
        var pages = [try root(table)]
        while let page = pages.popLast() {
            for index in 0..<(number(page * 4096 + 12, 2) - 16) / 2 {
                if number(page * 4096 + 10, 2) & 1 == 1 { pages.append(child(page, index)) }
                let node = node(page, index)
                if number(page * 4096 + 10, 2) & 2 == 2, number(node + 4, 2) & 1 == 1 {
                    return node + 8 + number(node + 6, 2)
                }
            }
        }
        throw StoreOpenError.noSuchStore(path: table)
    }
}
