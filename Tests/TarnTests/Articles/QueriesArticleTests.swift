// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The examples of the page "Queries", verbatim, compiled and run.

import Foundation
import Tarn
import Testing

private enum State: String, StoredValue { case open, closed }

private struct User: StoredRecord {
    static let entity = "User"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, login }

    var id: Int64
    var login: String

    init(_ row: Row<User>) throws(StoreError) {
        id = try row.get(.id)
        login = try row.get(.login)
    }

    func encode(into row: inout RowEncoder<User>) {
        row.set(.id, id)
        row.set(.login, login)
    }
}

private struct Label: StoredRecord {
    static let entity = "Label"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, name }

    var id: Int64
    var name: String

    init(_ row: Row<Label>) throws(StoreError) {
        id = try row.get(.id)
        name = try row.get(.name)
    }

    func encode(into row: inout RowEncoder<Label>) {
        row.set(.id, id)
        row.set(.name, name)
    }
}

private struct Issue: StoredRecord {
    static let entity = "Issue"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, title, state, updatedAt, author, labels }

    var id: Int64
    var title: String

    init(_ row: Row<Issue>) throws(StoreError) {
        id = try row.get(.id)
        title = try row.get(.title)
    }

    func encode(into row: inout RowEncoder<Issue>) {
        row.set(.id, id)
        row.set(.title, title)
    }
}

@Suite("The page Queries")
struct QueriesArticleTests {
    private static let schema = Schema([
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition("login", .string)]),
        EntityDefinition(
            "Label", key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition("name", .string, optional: true)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string),
                AttributeDefinition("state", .enumeration(["open", "closed"])), AttributeDefinition("updatedAt", .date, indexed: true),
            ],
            relationships: [
                RelationshipDefinition("author", to: "User", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
            ]),
    ])

    /// 40 issues, every second open, every fourth of ada's; two labels, one of which has no name.
    private func withStore(_ body: (Store) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-queries-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try Store.open(at: path, schema: Self.schema, options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, login) in [(1, "ada"), (2, "bob")] as [(Int64, String)] {
                try writer.put("User", RecordKey(id), [Record.Field("login", .string(login))])
            }
            try writer.put("Label", RecordKey(1), [Record.Field("name", .string("bug"))])
            try writer.put("Label", RecordKey(2), [])
            for id in 0..<40 as Range<Int64> {
                try writer.put("Issue", RecordKey(id), [
                    Record.Field("title", .string("i\(id)")), Record.Field("state", .string(id % 2 == 0 ? "open" : "closed")),
                    Record.Field("updatedAt", .date(Timestamp(microseconds: id * 1_000_000))),
                    Record.Field("author", .reference(RecordKey(id % 4 == 0 ? 1 : 2))), Record.Field("labels", .references([RecordKey(1)])),
                ])
            }
        }
        try body(store)
    }

    /// The output of `print` is not checked here.
    private func print(_ values: Any...) {}

    @Test("asking: three ways to write a query, and its answers")
    func asking() throws {
        try withStore { store in
            var titles = 0
            // From the fields of a struct:
            let open = Issue.where { $0[.state] == State.open && $0.through(.author, User.self)[.login] == "ada" }
                .sorted(by: .updatedAt, .descending)
                .prefix(20)
            // From text:
            let condition = try Condition(text: "state = open and author.login = ada", entity: "Issue", catalog: store.catalog)
            // From values:
            let query = Query("Issue", where: condition, sortedBy: [.descending("updatedAt")], limit: 20)
            #expect(open.query == query)

            try store.read { r in
                let issues = try r.fetch(open)                              // [Issue], copied
                try r.forEach(open) { row in titles += try row.text(.title)?.count ?? 0 }   // lent: nothing is copied
                let records = try r.fetch(query)                            // [Record]
                let count = try r.count(open), any = try r.exists(query), first = try r.first(open)
                print(issues.count, records.count, count, any, first?.title ?? "none")
            }
            #expect(titles == 27)
            try store.read { r in
                let issues = try r.fetch(open), records = try r.fetch(query)
                #expect(issues.map(\.id) == [36, 32, 28, 24, 20, 16, 12, 8, 4, 0] && records.map(\.key) == issues.map { RecordKey($0.id) })
                #expect(try r.count(open) == 10 && r.exists(query) && r.first(open)?.title == "i36")
            }

            print(try store.read { r in try r.explain(query) })
        }
    }

    @Test("related records, and pages")
    func including() throws {
        try withStore { store in
            let open = Issue.where { $0[.state] == State.open }.sorted(by: .updatedAt)
            let query = Query("Issue", sortedBy: [.descending("updatedAt")], limit: 2)
            var shown: [String] = []

            let titles = try store.read { r in
                let (issues, (authors, labels)) = try r.fetch(
                    open, including: Issue.related(.author, to: User.self), Issue.related(.labels, to: Label.self))
                return issues.indices.map { i in
                    "\(issues[i].title) by \(authors[i].first?.login ?? "nobody"): \(labels[i].map(\.name).joined(separator: ", "))"
                }
            }
            #expect(titles.count == 20 && titles.prefix(2) == ["i0 by ada: bug", "i2 by bob: bug"])

            let graph = try store.read { r in try r.fetch(query, including: ["author", "labels"]) }
            for (i, issue) in graph.records.enumerated() {
                print(issue.key, graph["author"]?[i].first?["login"] ?? .null)
            }
            #expect(graph["author"]?[0].first?["login"] == .string("bob") && graph["labels"]?[1].count == 1)

            var next: ContinuationToken?
            repeat {
                let page = try store.read { r in try r.page(open.prefix(100).after(next)) }
                shown += page.records.map(\.title)
                next = page.next
            } while next != nil
            #expect(shown.count == 20)
        }
    }

    @Test("changing the records of a query")
    func writing() throws {
        try withStore { store in
            let query = Query("Issue", where: .compare("author", .equal, .int(1)))
            let limit = Timestamp(microseconds: 10_000_000)
            let report = try store.update(query, set: ["state": .string("closed")])
            let other = try store.update(Issue.where { $0[.updatedAt] < limit }) { issue in issue.set(.state, State.closed) }
            let gone = try store.delete(Issue.where { $0[.state] == State.closed })
            print(report.matched, report.changed, other.changed, gone.changed)
            #expect(report.matched == 10 && report.changed == 10 && report.steps == 1)
            #expect(other.matched == 10 && other.changed == 2 && gone.changed == 32)

            let open = Issue.where { $0[.state] == State.open }
            try store.write { writer in
                try writer.update(open) { issue in issue.set(.state, State.closed) }
                try writer.delete(Query("Label", where: .isMissing("name")))
            }
            #expect(try store.read { r in try r.count(Issue.where { $0[.state] == State.closed }) } == 8)
            #expect(try store.read { r in try r.count("Label") } == 1)
        }
    }

    @Test("every block of Swift on the page stands in this file")
    func blocks() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "Sources/Tarn/Tarn.docc/Queries.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count == 8)
        for block in blocks {
            let lines = block.split(separator: "\n")
            // The page's lines begin at the margin; here they are indented, all by as much.
            #expect([8, 12].contains { count in
                source.contains(lines.map { String(repeating: " ", count: count) + $0 + "\n" }.joined())
            }, "\(block)")
        }
    }

    @Test("every condition and order of the page is one")
    func conditions() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "Sources/Tarn/Tarn.docc/Queries.md"), encoding: .utf8)
        let table = try #require(page.components(separatedBy: "|---|---|\n").dropFirst().first?.components(separatedBy: "\n\n").first)
        let rows = table.split(separator: "\n").map { $0.components(separatedBy: "`")[1] }
        #expect(rows.count == 11)
        for row in rows { _ = try Condition(text: row) }
        let quoted = try #require(page.split(separator: "\n").first { $0.hasPrefix("`in` is missing") })
        #expect(try Condition(text: String(quoted)) == .and([.isMissing("in"), .contains("any", .string("text"))]))
        _ = try [Query.Order](text: "updatedAt desc, author.login")
    }
}
