// Results: pages and tokens, offsets, typed rows, aggregates, missing targets, bounds.

import Foundation
import LMDB
import TestSupport
import Testing

@testable import TarnStore

struct QueryResultTests {
    private func filled(_ count: Int64 = 30) throws -> QueryStore {
        let store = try QueryStore()
        try store.store.write { writer in
            for id in 1...count {
                try writer.put(
                    "Issue", RecordKey(id),
                    [
                        .init("title", .string("t")), .init("state", .string("open")), .init("comments", .int(id % 3)),
                        .init("author", .reference(RecordKey(id % 5))),
                    ])
            }
        }
        return store
    }

    @Test func aTokenHoldsAfterAReopenAndWhenRecordsComeAndGo() throws {
        let folder = try TemporaryFolder(), schema = QueryStore.schema(indexed: true)
        var query = Query("Issue", sortedBy: [.descending("comments")], limit: 2), text = ""
        do {
            let store = try Store.open(at: folder("s"), schema: schema, options: Forge.quick)
            for id in 1...6 as ClosedRange<Int64> {
                try store.put(
                    "Issue", RecordKey(id), ["title": .string("t"), "state": .string("open"), "comments": .int(id / 2)])
            }
            let page = try store.read { r in try r.page(query) }
            #expect(page.records.map(\.key) == [6, 4])
            text = try #require(page.next).text
            #expect(!text.contains { "+/=".contains($0) })
            try store.write { writer in _ = try writer.delete("Issue", 4) }
            try store.put("Issue", 9, ["title": .string("t"), "state": .string("open"), "comments": .int(2)])
        }
        let store = try Store.open(at: folder("s"), schema: schema, options: Forge.quick)
        query.after = ContinuationToken(text: text)
        #expect(try store.read { r in try r.fetch(query) }.map(\.key) == [5, 9])
        let page = try store.read { r in try r.page(query) }
        #expect(page.records.map(\.key) == [5, 9])
        query.after = page.next
        let last = try store.read { r in try r.page(query) }
        #expect(last.records.map(\.key) == [2, 3])
        query.after = last.next
        let end = try store.read { r in try r.page(query) }
        #expect(end.records.map(\.key) == [1] && end.next == nil)
    }

    @Test(
        "pages of records with a value that is too long for its index follow one another, also backwards",
        arguments: [String(repeating: "x", count: 300), String(repeating: "x", count: 268) + "\0y"])
    func pagesOfALongValue(long: String) throws {
        let store = try QueryStore()
        try store.store.write { writer in
            for id in 1...200 as ClosedRange<Int64> {
                let title = id % 20 == 0 ? long : "issue \(id)"
                try writer.put(
                    "Issue", RecordKey(id), [.init("title", .string(title)), .init("state", .string("open"))])
            }
        }
        for order in [Query.Order.ascending("id"), .descending("id")] {
            var query = Query("Issue", where: .compare("title", .equal, .string(long)), sortedBy: [order], limit: 3)
            let plan = try store.store.read { r in try r.explain(query) }
            #expect(plan.access.first?.hasPrefix("index title of Issue") ?? false, "\(plan)")
            var pages: [[RecordKey]] = []
            repeat {
                let page = try store.store.read { r in try r.page(query) }
                pages.append(page.records.map(\.key))
                query.after = page.next
            } while query.after != nil && pages.count < 9
            let ids = (1...10 as ClosedRange<Int64>).map { RecordKey($0 * 20) }
            let wanted = order.isDescending ? ids.reversed() : ids
            #expect(pages.flatMap(\.self) == wanted && pages.map(\.count) == [3, 3, 3, 1])
        }
    }

    @Test func aTokenOfAnotherQueryIsRefused() throws {
        let store = try filled()
        var query = Query("Issue", limit: 2)
        let token = try store.store.read { r in try r.page(query) }.next
        query.after = token
        query.limit = 7
        #expect(try store.ids(query) == [3, 4, 5, 6, 7, 8, 9])
        for other in [
            Query("Issue", where: .isMissing("price"), after: token),
            Query("Issue", sortedBy: [.ascending("id")], after: token), Query("Bug", after: token),
            Query("Issue", after: token, partials: .excluded),
        ] {
            #expect(storeError { _ = try store.fetch(other) } == StoreError.wrongToken(entity: other.entity))
            // A page without records is no exception.
            var none = other
            none.limit = 0
            let error = storeError { _ = try store.store.read { r in try r.page(none) }.next }
            #expect(error == StoreError.wrongToken(entity: other.entity))
        }
        query.limit = 0
        let next = try store.store.read { r in try r.page(query) }.next
        #expect(next?.text == token?.text)
        for text in ["", "x", "AAAA", "AQAAAAAAAAAAAAAAAA", "****", String(repeating: "A", count: 1000)] {
            #expect(ContinuationToken(text: text)?.text ?? text == text)
        }
    }

    @Test func aNegativeLimitStopsTheProgramAlsoForAPage() async {
        await #expect(processExitsWith: .failure) {
            let store = try QueryStore()
            var query = Query("Issue")
            query.limit = -1
            _ = try store.store.read { r in try r.page(query) }.next
        }
    }

    @Test func aDamagedTokenNeverCrashes() throws {
        let store = try filled()
        let query = Query("Issue", sortedBy: [.descending("comments"), .ascending("title")], limit: 2)
        let token = try #require(try store.store.read { r in try r.page(query) }.next)
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            var bytes = token.bytes
            for _ in 0..<3 {
                bytes[Int.random(in: 9..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var base64 = Data(bytes).base64EncodedString()
            base64.replace("=", with: "")
            guard let damaged = ContinuationToken(text: base64.replacing("+", with: "-").replacing("/", with: "_"))
            else { continue }
            var next = query
            next.after = damaged
            _ = try store.fetch(next)
        }
    }

    @Test func anOffsetIsPassedOverAndOfNoMeaningBehindAToken() throws {
        let store = try filled()
        #expect(try store.ids(.all, limit: 3, offset: 10) == [11, 12, 13])
        #expect(try store.ids(.compare("comments", .equal, .int(0)), limit: 2, offset: 3) == [12, 15])
        #expect(try store.ids(.all, limit: .max, offset: .max) == [])
        var query = Query("Issue", limit: 3, offset: 10)
        query.after = try store.store.read { r in try r.page(query) }.next
        #expect(try store.ids(query) == [14, 15, 16])
    }

    @Test func aggregatesCountAndFindTheEnds() throws {
        let store = try filled()
        try store.put(40, entity: "Bug", ["severity": .int(2), "comments": .null, "ratio": .double(.nan)])
        try store.store.read { r in
            #expect(try r.count(Query("Issue")) == 31)
            #expect(try r.count(Query("Bug")) == 1)
            #expect(try r.count(Query("Issue", where: .compare("comments", .equal, .int(1)))) == 10)
            #expect(try r.count(Query("Issue", where: .compare("comments", .equal, .int(1)), limit: 4, offset: 8)) == 2)
            #expect(try r.exists(Query("Issue", where: .compare("comments", .equal, .int(9)))) == false)
            #expect(try r.exists(Query("Issue", where: .compare("comments", .equal, .int(2)))))
            #expect(try r.maximum(of: "comments", Query("Issue")) == .int(2))
            #expect(try r.minimum(of: "id", Query("Issue", where: .compare("comments", .equal, .int(0)))) == .int(3))
            #expect(try r.minimum(of: "price", Query("Issue")) == nil)
            let groups = try r.counts(by: "comments", Query("Issue"))
            #expect(
                groups.map(\.value) == [.null, .int(0), .int(1), .int(2)] && groups.map(\.count) == [1, 10, 10, 10])
            let authors = try r.counts(by: "author", Query("Issue", where: .compare("id", .less, .int(8))))
            #expect(
                authors.map(\.value) == [0, 1, 2, 3, 4].map { .reference(RecordKey($0)) }
                    && authors.map(\.count) == [1, 2, 2, 1, 1])
        }
    }

    @Test("counts behind a reference read one row for each target, and have those without a value under null")
    func countsBehindReferences() throws {
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"))
        for (id, login) in [(1, "ada"), (2, "ada"), (3, "bob")] as [(Int64, String)] {
            try store.put("User", RecordKey(id), ["login": .string(login)])
        }
        let board = RecordKey([.string("ada"), .string("left")])
        try store.put("Board", board)
        // 9 is missing; the first of a target is read, in the order of keys.
        let authors: [Int64?] = [1, 1, 1, 2, 3, 3, 9, nil, nil]
        for (id, author) in authors.enumerated() {
            var values: [String: Value] = ["author": author.map { .reference(RecordKey($0)) } ?? .null]
            if id < 4 { values["board"] = .reference(board) }
            try store.put("Issue", RecordKey(Int64(id)), values)
        }
        try store.write { writer in
            let table = try writer.access.state.records(of: writer.access.state.entity("Issue").id)
            for id in [1, 2, 5] as [Int64] {
                try RecordKey(id).storageKey.withUnsafeBytes { key in
                    try [0xFF].withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
                }
            }
        }
        try store.read { reader in
            let logins = try reader.counts(by: "author.login", Query("Issue"))
            #expect(logins.map(\.value) == [.null, .string("ada"), .string("bob")])
            #expect(logins.map(\.count) == [3, 4, 2])
            let keys = try reader.counts(by: "author", Query("Issue"))
            #expect(
                keys.map(\.value) == [.null] + [1, 2, 3, 9].map { .reference(RecordKey($0)) }
                    && keys.map(\.count) == [2, 3, 1, 2, 1])
            let owners = try reader.counts(by: "board.owner", Query("Issue"))
            #expect(owners.map(\.value) == [.null, .string("ada")] && owners.map(\.count) == [5, 4])
            // The rows are read if a condition asks for them.
            #expect(throws: StoreError.self) {
                _ = try reader.counts(by: "author.login", Query("Issue", where: .isMissing("number")))
            }
        }
    }

    @Test func countsOnAnIndexReadNoRows() throws {
        let store = try filled()
        try store.store.write { writer in
            // Unreadable rows.
            let table = try writer.access.state.records(of: writer.access.state.entity("Issue").id)
            for key in try writer.access.keys(of: table) {
                try key.withUnsafeBytes { key in try writer.access.raw.put(table, key, key) }
            }
        }
        try store.store.read { r throws in
            #expect(try r.count(Query("Issue", where: .compare("comments", .greater, .int(0)))) == 20)
            #expect(try r.count(Query("Issue", where: .compare("author", .equal, .int(0)))) == 6)
        }
        #expect(throws: StoreError.self) { try store.ids(.compare("comments", .greater, .int(0))) }
    }

    @Test("an entry of an index that names no record is an error of the counts, and not left out")
    func countsOnADamagedIndex() throws {
        let store = try filled()
        try store.store.write { writer in
            let state = writer.access.state
            let table = try state.index(#require(state.entity("Issue").field("comments")?.index))
            // The value 7 alone.
            try ([0x15, 7] as [UInt8]).withUnsafeBytes { try writer.access.raw.put(table, $0, .empty) }
        }
        #expect(throws: StoreError.self) {
            try store.store.read { _ = try $0.counts(by: "comments", Query("Issue")) }
        }
    }

    @Test func partialRecordsAreInOutOrAlone() throws {
        let store = try filled(3)
        try store.store.merge("Issue", 50, complete: false, [(1, .int(50))])
        #expect(try store.ids(Query("Issue")) == [1, 2, 3, 50])
        #expect(try store.ids(Query("Issue", partials: .excluded)) == [1, 2, 3])
        #expect(try store.ids(Query("Issue", partials: .only)) == [50])
        #expect(try store.store.read { r in try r.count(Query("Issue", partials: .excluded)) } == 3)
    }

    @Test func aQueryOfAParentSeesItsChildren() throws {
        let store = try filled(2)
        try store.put(3, entity: "Bug", ["severity": .int(1), "comments": .int(0)])
        #expect(try store.ids(.compare("comments", .greaterOrEqual, .int(0))) == [1, 2, 3])
        #expect(try store.ids(Query("Bug", where: .compare("comments", .lessOrEqual, .int(2)))) == [3])
        #expect(try store.ids(Query("Bug", where: .compare("severity", .equal, .int(1)))) == [3])
        #expect(try store.ids(Query("Bug", where: .compare("id", .equal, .int(1)))) == [])
        #expect(storeError { _ = try store.ids(.compare("severity", .equal, .int(1))) } != nil)
    }

    @Test func rowsAreLentAndCopiedAsStructs() throws {
        let typed = try TypedStore()
        try typed.put(
            (1...20).map { id in
                var ticket = Ticket(Int64(id), "ticket \(id)")
                ticket.comments = id % 4
                return ticket
            })
        let query = Query(
            "Ticket", where: .compare("comments", .equal, .int(3)), sortedBy: [.descending("id")], limit: 3)
        try typed.store.read { r in
            #expect(try r.fetch(Ticket.self, query).map(\.id) == [19, 15, 11])
            var titles: [String] = []
            try r.forEach(Ticket.self, query) { row in
                titles.append(try row.get(.title))
                return titles.count < 2
            }
            #expect(titles == ["ticket 19", "ticket 15"])
            let page = try r.page(Ticket.self, query)
            #expect(page.records.map(\.id) == [19, 15, 11])
            var next = query
            next.after = page.next
            #expect(try r.fetch(Ticket.self, next).map(\.id) == [7, 3])
        }
    }

    @Test func queriesSeeWhatTheirOwnWriteHasDone() throws {
        let store = try filled(3)
        try store.store.write { writer in
            try writer.put(
                "Issue", 9,
                [.init("title", .string("new")), .init("state", .string("open")), .init("comments", .int(1))])
            let found = try writer.reader().fetch(Query("Issue", where: .compare("comments", .equal, .int(1)))).map(
                \.key)
            #expect(found == [1, 9])
        }
    }

    @Test func missingTargetsAreFoundEachOnceWithALimit() throws {
        let store = try filled()
        try store.store.put("User", 3, ["login": .string("c")])
        try store.store.read { r in
            let all = try r.missingTargets(of: "Issue", "author")
            #expect(
                all.targets == [0, 1, 2, 4].map { .reference(RecordKey($0)) } && all.next == nil
                    && all.unnamedCount == 0)
            let first = try r.missingTargets(of: "Issue", "author", limit: 3)
            #expect(first.targets.count == 3)
            let rest = try r.missingTargets(of: "Issue", "author", limit: 3, after: first.next)
            #expect(rest.targets == [.reference(4)] && rest.next == nil)
            #expect(try r.missingTargets(of: "Bug", "author").targets == [])
            #expect(try r.missingTargets(of: "User", "issues").targets == [])
            #expect(throws: StoreError.wrongToken(entity: "User")) {
                try r.missingTargets(of: "User", "boss", after: first.next)
            }
        }
    }

    @Test func aSortThatDoesNotFitInMemoryIsRefusedUnlessThereIsALimit() throws {
        let store = try QueryStore(indexed: false)
        let text = String(repeating: "x", count: 400_000)
        try store.store.write { writer in
            for id in 1...180 as ClosedRange<Int64> {
                try writer.put(
                    "Issue", RecordKey(id),
                    [.init("title", .string("\(1000 - id)" + text)), .init("state", .string("open"))])
            }
        }
        #expect(
            storeError { _ = try store.ids(.all, .ascending("title")) }
                == StoreError.sortTooLarge(entity: "Issue", bytes: 64 << 20))
        #expect(try store.ids(.all, .ascending("title"), limit: 3) == [180, 179, 178])
    }
}
