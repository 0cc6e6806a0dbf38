// The size limit of a file: writes stop there without loss, and deletes continue from the reserve.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import LMDB

@Suite("The limit of the file")
struct FileLimitTests {
    static let limit = 2 << 20, reserve = 1 << 20, page = 4096

    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(at: folder("e"), options: .init(durability: .volatile))
        table = try environment.makeTable("t")
    }

    private func limited(_ limit: Int? = limit, _ body: (inout WriteTransaction) throws -> Void) throws {
        try environment.write { transaction in
            try transaction.limitFile(to: limit, reserve: FileLimitTests.reserve)
            try body(&transaction)
        }
    }

    /// Adds until the first refusal; returns how many entries are there.
    private func fill() throws -> Int {
        for number in 0..<10_000 {
            let failure = kindOfError {
                try limited { try $0.set(table, bytes("k\(10_000 + number)"), Array(repeating: 1, count: 1000)) }
            }
            guard failure == nil else {
                #expect(failure == .fileLimit)
                return number
            }
        }
        Issue.record("there was no limit")
        return 0
    }

    private var pages: Int { get throws { try environment.information().lastPage + 1 } }

    @Test("the pages of a write transaction are those of the file after its commit")
    func pageCountIsTheFiles() throws {
        for size in [10, 1000, 100_000, 3_000_000] {
            let count = try environment.write { transaction in
                #expect(transaction.raw.knowsLayout(environment.env))
                try transaction.set(table, bytes("k\(size)"), Array(repeating: 1, count: size))
                return transaction.raw.pageCount
            }
            // The commit itself takes a few for the list of free pages.
            #expect(try pages >= count && pages <= count + 4)
        }
    }

    @Test("what adds stops at the limit, and everything before it is there")
    func addingStopsAtTheLimit() throws {
        let count = try fill()
        #expect(count > 1000)
        #expect(try environment.entryCount(table) == count)
        // A commit takes a few pages for itself, for the list of free ones; not more and more of
        // them.
        for _ in 0..<2000 { try limited { try $0.set(table, bytes("k10000"), Array(repeating: 2, count: 1000)) } }
        #expect(try pages * FileLimitTests.page <= FileLimitTests.limit + FileLimitTests.reserve / 4)
    }

    @Test("one large transaction past the limit leaves nothing, and the file as it was")
    func largeTransactionLeavesNothing() throws {
        let before = try pages
        let failure = kindOfError {
            try limited { transaction in
                for number in 0..<5000 {
                    try transaction.set(table, bytes("\(number)"), Array(repeating: 1, count: 1000))
                }
            }
        }
        #expect(failure == .fileLimit)
        #expect(try environment.entryCount(table) == 0)
        #expect(try pages == before)
    }

    @Test("a closure that swallows the error commits only what is within the limit")
    func swallowedLimit() throws {
        let swallowed = kindOfError {
            try limited { transaction in
                for number in 0..<5000 {
                    do { try transaction.set(table, bytes("\(number)"), Array(repeating: 1, count: 1000)) } catch {
                        break
                    }
                }
            }
        }
        #expect(swallowed == .fileLimit)
        #expect(try environment.entryCount(table) == 0)
    }

    @Test("at the limit deletes work, and the pages that they free take new entries without a larger file")
    func deletesWorkAtTheLimit() throws {
        let count = try fill()
        for number in 0..<count / 2 {
            try limited { try $0.delete(table, bytes("k\(10_000 + number)").span.bytes) }
        }
        #expect(try environment.entryCount(table) == count - count / 2)
        let after = try pages
        #expect(after * FileLimitTests.page <= FileLimitTests.limit + FileLimitTests.reserve)
        for number in 0..<count / 4 {
            try limited { try $0.set(table, bytes("k\(10_000 + number)"), Array(repeating: 2, count: 1000)) }
        }
        #expect(try pages == after)
    }

    @Test("while a reader holds what is deleted, deletes use the reserve and then stop, with nothing lost")
    func reserveEnds() async throws {
        let count = try fill()
        let reader = try HeldSnapshot(environment)
        var deleted = 0, failure: LMDBError.Kind?
        while deleted < count, failure == nil {
            failure = kindOfError { try limited { try $0.delete(table, bytes("k\(10_000 + deleted)").span.bytes) } }
            if failure == nil { deleted += 1 }
        }
        reader.end()
        #expect(failure == .fileLimit)
        #expect(deleted > 20)
        #expect(try environment.entryCount(table) == count - deleted)
        #expect(
            try pages * FileLimitTests.page <= FileLimitTests.limit + FileLimitTests.reserve + 8 * FileLimitTests.page)
        // The reader has ended: its pages are free for the next delete.
        try limited { try $0.delete(table, bytes("k\(10_000 + deleted)").span.bytes) }
    }

    @Test("a limit below the size of the file stops growth, not what finds room inside")
    func limitBelowTheSize() throws {
        _ = try fill()
        try limited(FileLimitTests.limit) { transaction in
            for number in 0..<400 { _ = try transaction.delete(table, bytes("k\(10_000 + number)").span.bytes) }
        }
        try limited { _ = try $0.delete(table, bytes("k10400").span.bytes) }
        let before = try pages
        try limited(1 << 20) { try $0.set(table, bytes("k10000"), bytes("1")) }
        #expect(try pages == before)
        let failure = kindOfError {
            try limited(1 << 20) { transaction in
                for number in 0..<2000 {
                    try transaction.set(table, bytes("n\(number)"), Array(repeating: 1, count: 1000))
                }
            }
        }
        #expect(failure == .fileLimit)
    }

    @Test("a child has the limits of its parent, and fails alone")
    func childrenHaveTheLimit() throws {
        _ = try fill()
        try environment.write { parent in
            try parent.limitFile(to: FileLimitTests.limit, reserve: FileLimitTests.reserve)
            let failure = kindOfError {
                try parent.child { child in
                    for number in 0..<50 { try child.set(table, bytes("n\(number)"), Array(repeating: 1, count: 1000)) }
                }
            }
            #expect(failure == .fileLimit)
            try parent.child { _ = try $0.delete(table, bytes("k10000").span.bytes) }
        }
        #expect(try environment.value(table, "k10000") == nil)
        #expect(try environment.value(table, "n0") == nil)
    }

    @Test("without a limit the map bounds what adds, and deletes still have their reserve")
    func mapIsALimit() throws {
        let small = try Environment.open(
            at: folder("m"), options: .init(durability: .volatile, mapSize: 4 << 20, minimumMapSize: 4 << 20))
        let table = try small.makeTable("t")
        var count = 0
        while true {
            let failure = kindOfError {
                try small.write { transaction in
                    try transaction.limitFile(to: nil, reserve: FileLimitTests.reserve)
                    try transaction.set(table, bytes("\(count)"), Array(repeating: 1, count: 1000))
                }
            }
            if failure == .fileLimit { break }
            try #require(failure == nil && count < 10_000)
            count += 1
        }
        for number in 0..<count {
            try small.write { transaction in
                try transaction.limitFile(to: nil, reserve: FileLimitTests.reserve)
                _ = try transaction.delete(table, bytes("\(number)").span.bytes)
            }
        }
        #expect(try small.entryCount(table) == 0)
    }
}
