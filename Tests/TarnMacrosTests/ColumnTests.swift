// Queries by typed columns.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Typed columns")
struct ColumnTests {
    let bed: RecordFixture

    init() throws { bed = try RecordFixture() }

    private func ids(_ query: TypedQuery<Issue>) throws -> [Int64] { try bed.fetch(query).map(\.id) }

    @Test("a condition compares columns with values of their types")
    func comparisons() throws {
        #expect(try ids(Issue.where { $0.state == .open }) == [1, 3])
        #expect(try ids(Issue.where { $0.state != .open }) == [2])
        #expect(try ids(Issue.where { $0.number > 10 && $0.number <= 12 }) == [2, 3])
        #expect(try ids(Issue.where { $0.number.isIn(10..<12) || $0.id == 3 }) == [1, 2, 3])
        #expect(try ids(Issue.where { $0.number.isIn(11...12) }) == [2, 3])
        #expect(try ids(Issue.where { $0.number.isIn([10, 12]) }) == [1, 3])
        #expect(try ids(Issue.where { $0.title.hasPrefix("Ä") || $0.title.like("_") }) == [1, 2, 3])
        #expect(try ids(Issue.where { $0.title.ignoringCase == "ä TREE" }) == [1])
        let day = Date(timeIntervalSince1970: 1_768_000_000)
        #expect(try ids(Issue.where { $0.updatedAt > day }) == [3])
        #expect(try ids(Issue.where { $0.link == URL(string: "https://e.example/i/1") }) == [1])
    }

    @Test("contains, between and isMissing compare texts, lists, relationships and numbers")
    func parts() async throws {
        #expect(try ids(Issue.where { $0.title.contains("tree") }) == [1])
        #expect(try ids(Issue.where { $0.number.between(10, 11) }) == [1, 2])
        #expect(try ids(Issue.where { $0.labels.contains(Reference(8)) }) == [1])
        #expect(try ids(Issue.where { $0.labels.isMissing }) == [2])
        try await bed.store.write { writer in
            try writer.put(Post(slug: "a", tags: ["ship", "hull"]))
            try writer.put(Post(slug: "b", tags: ["shipping"]))
        }
        #expect(try bed.fetch(Post.where { $0.tags.contains("ship") }).map(\.slug) == ["a"])
    }

    @Test("a row has the value that is kept as JSON, or none")
    func json() throws {
        try bed.store.read { reader in
            let found = try reader.withRow(Issue.self, 1) { row throws(StoreError) -> Issue.Reactions in
                try row.json(.reactions)
            }
            #expect(found == Issue.Reactions(heart: 2, url: "https://e.example/1"))
            let missing = try reader.withRow(Issue.self, 2) { row throws(StoreError) -> Issue.Reactions? in
                try row.jsonIfPresent(.reactions)
            }
            #expect(missing == .some(nil))
            #expect(throws: StoreError.self) {
                try reader.withRow(Issue.self, 2) { row in _ = try row.json(.reactions) as Issue.Reactions }
            }
        }
    }

    @Test("a comparison with nil finds missing values")
    func nils() throws {
        #expect(try ids(Issue.where { $0.updatedAt == nil }) == [2])
        #expect(try ids(Issue.where { $0.updatedAt != nil }) == [1, 3])
        #expect(try ids(Issue.where { $0.milestone == nil }) == [2])
        #expect(try ids(Issue.where { $0.reactions.isMissing }) == [2, 3])
        let absent: Date? = nil
        #expect(try ids(Issue.where { $0.updatedAt == absent }) == [2])
    }

    @Test("a filter without a value admits every record")
    func absentFilter() throws {
        func issues(_ state: State?, _ author: Int64?) throws -> [Int64] {
            try ids(
                Issue.where { issue in
                    .ifPresent(state) { issue.state == $0 } && .ifPresent(author) { issue.author == $0 }
                })
        }
        #expect(try issues(nil, nil) == [1, 2, 3])
        #expect(try issues(.open, nil) == [1, 3])
        #expect(try issues(.open, 6) == [3])
    }

    @Test("a path leads through to-one relationships, for conditions and for the order")
    func paths() throws {
        #expect(try ids(Issue.where { $0.author.login == "Ada" }) == [1, 2])
        #expect(try ids(Issue.where { $0.milestone.creator.login == "bob" }) == [1])
        #expect(try ids(Issue.where { $0.author == 6 }) == [3])
        #expect(try ids(Issue.where { $0.author.isIn([6, 7]) && $0.labels.contains(7) }) == [3])
        #expect(try ids(Issue.order(by: \.author.login, .descending).order(by: \.number, .descending)) == [3, 2, 1])
        #expect(try ids(Issue.order(by: \.number, .descending).limit(2)) == [3, 2])
    }

    @Test("included targets come with each record, typed")
    func including() throws {
        let found = try bed.store.read { try $0.fetch(Issue.include(\.author, \.labels, \.milestone.creator)) }
        #expect(found.map(\.0.id) == [1, 2, 3])
        #expect(found.map { $0.1?.login } == ["Ada", "Ada", "bob"])
        #expect(found.map { $0.2.map(\.name) } == [["bug", "ui"], [], ["ui"]])
        #expect(found.map { $0.3?.login } == ["bob", nil, nil])
        for (issue, author) in try bed.store.read({ try $0.fetch(Issue.where { $0.state == .open }.include(\.author)) })
        {
            #expect(issue.author.key == author?.id)
        }
    }

    @Test("the side that does not store a relationship includes it as well")
    func includingInverse() throws {
        let users = try bed.store.read { try $0.fetch(User.order(by: \.login.ignoringCase).include(\.issues)) }
        #expect(users.map(\.0.login) == ["Ada", "bob"])
        #expect(users.map { $0.1.map(\.id) } == [[1, 2], [3]])
    }

    @Test("aggregates have the column's type")
    func aggregates() throws {
        try bed.store.read { reader in
            #expect(try reader.minimum(of: \.number, Issue.all) == 10)
            #expect(try reader.maximum(of: \.updatedAt, Issue.all) == .some(Timestamp("2026-02-02T00:00:00Z")?.date))
            #expect(try reader.maximum(of: \.number, Issue.where { $0.number > 100 }) == nil)
            #expect(try reader.sum(of: \.number, Issue.where { $0.state == .open }) == 22)
            #expect(try reader.average(of: \.number, Issue.all) == 11)
            #expect(try reader.average(of: \.number, Issue.where { $0.number > 100 }) == nil)
            let counts = try reader.counts(by: \.state, Issue.all)
            #expect(counts.map(\.value) == [.open, .closed] || counts.map(\.value) == [.closed, .open])
            #expect(counts.map(\.count).reduce(0, +) == 3)
            let authors = try reader.counts(by: \.author.login, Issue.all)
            #expect(authors.map { "\($0.value ?? "")=\($0.count)" } == ["Ada=2", "bob=1"])
            #expect(try reader.count(Issue.where { $0.state == .open }) == 2)
            #expect(try reader.exists(Issue.where { $0.state == .closed }))
        }
    }

    @Test("a sum that does not fit is an error")
    func overflow() async throws {
        try await bed.store.write { writer in
            for id in [20, 21] as [Int64] {
                try writer.put(
                    Issue(
                        id: id, number: .max, title: "", state: .open, thumbsUp: 0, author: Reference(5),
                        labels: References([])))
            }
        }
        #expect(throws: StoreError.self) { try bed.store.read { _ = try $0.sum(of: \.number, Issue.all) } }
        #expect(try bed.store.read { try $0.average(of: \.number, Issue.where { $0.id >= 20 }) } == Double(Int.max))
    }

    @Test("pages of a query with included targets follow one another")
    func pages() throws {
        var seen: [Int64] = [], token: ContinuationToken?
        repeat {
            let page = try bed.store.read {
                try $0.page(Issue.order(by: \.number).limit(2).after(token).include(\.author))
            }
            seen += page.records.map(\.0.id)
            token = page.next
        } while token != nil
        #expect(seen == [1, 2, 3])
    }

    @Test("an index of several columns serves the query that it is made for")
    func indexes() throws {
        let query = Issue.where { $0.state == .open && $0.author == 5 }.order(by: \.updatedAt)
        let plan = try bed.store.read { try $0.explain(query.query) }
        #expect("\(plan)".contains("author_updatedAt"), "\(plan)")
    }
}
