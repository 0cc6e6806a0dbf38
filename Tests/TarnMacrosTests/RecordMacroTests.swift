// Structs with `@Record`: what they declare, and records read and written through them.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Structs with @Record")
struct RecordMacroTests {
    @Test("a page of JSON is imported by the struct's own mapping, and read as the struct")
    func importing() throws {
        let bed = try RecordFixture()
        let issue = try #require(try bed.store.read { try $0.get(Issue.self, 1) })
        #expect(issue.number == 10 && issue.title == "Ä tree" && issue.state == .open && issue.thumbsUp == 3)
        #expect(issue.updatedAt == Timestamp("2026-01-02T03:04:05.678901Z")?.date)
        #expect(issue.link == URL(string: "https://e.example/i/1"))
        #expect(issue.reactions == Issue.Reactions(heart: 2, url: "https://e.example/1"))
        #expect(issue.author == Reference(5) && issue.labels == References([8, 7]) && issue.milestone == Reference(70))
        let user = try #require(try bed.store.read { try $0.get(User.self, 5) })
        #expect(user == User(id: 5, login: "Ada", name: "Ada L."))
    }

    @Test("a struct that is written is the struct that is read, whatever its fields hold")
    func roundTrip() async throws {
        let bed = try RecordFixture(importing: nil)
        let full = Issue(
            id: -3, number: .max, title: "\u{0}ß", state: .closed, thumbsUp: .min,
            updatedAt: Date(timeIntervalSince1970: 0.25),
            link: URL(string: "/relative?x=1"), reactions: .init(heart: 1, url: ""), author: Reference(9),
            labels: References([3, 1, 2]), milestone: Reference(4))
        let empty = Issue(
            id: 4, number: 0, title: "", state: .open, thumbsUp: 0, author: Reference(9), labels: References([]))
        try await bed.store.write { writer in
            try writer.put(full)
            try writer.put(empty)
        }
        #expect(try bed.store.read { try $0.get(Issue.self, [-3, 4]) } == [full, empty])
    }

    @Test("a default is the value of a record that is stored without one")
    func defaults() throws {
        let bed = try RecordFixture()
        #expect(try bed.store.read { try $0.get(Issue.self, 2) }?.thumbsUp == 0)
    }

    @Test("a record that its owner identifies has a key of two parts, and goes with its owner")
    func compositeKey() async throws {
        let bed = try RecordFixture(importing: nil)
        let comment = Comment(post: Reference("a/b"), position: 2, text: "x")
        try await bed.store.write { writer in
            try writer.put(Post(slug: "a/b", class: "news", tags: ["t"]))
            try writer.put(comment)
            try writer.put(Comment(post: Reference("other"), position: 2, text: "y"))
        }
        let key = Comment.Key(post: "a/b", position: 2)
        #expect(try bed.store.read { try $0.get(Comment.self, key) } == comment)
        #expect(Comment.Key(RecordKey(parts: "a", "b")) == nil && Comment.Key(RecordKey("a")) == nil)
        #expect(Comment.Key(key.recordKey) == key)
        let post = try bed.fetch(Post.where { $0.class == "news" && $0.tags.contains("t") })
        #expect(post.map(\.slug) == ["a/b"])
        #expect(try bed.fetch(Comment.where { $0.post == "a/b" }).count == 1)
        try await bed.store.write { _ = try $0.delete(Post.self, "a/b") }
        #expect(try bed.fetch(Comment.all).map(\.text) == ["y"])
    }

    @Test("a struct with a parent declares only what the parent lacks, and its records are the parent's as well")
    func inheritance() async throws {
        let bed = try RecordFixture(importing: nil)
        try await bed.store.write { writer in
            try writer.put(Ticket(id: 1, subject: "a"))
            try writer.put(Bug(id: 2, subject: "b", severity: 3))
        }
        #expect(try bed.fetch(Ticket.all).map(\.subject) == ["a", "b"])
        #expect(try bed.fetch(Bug.where { $0.severity >= 3 && $0.subject == "b" }).map(\.id) == [2])
    }

    @Test("a unique index that ignores case finds a duplicate")
    func uniqueIndex() async throws {
        let bed = try RecordFixture()
        await #expect(throws: StoreWriteError.self) {
            try await bed.store.write { try $0.put(User(id: 6, login: "ADA")) }
        }
    }

    @Test("a value that cannot be JSON fails the write")
    func unencodable() async throws {
        struct Fixed: TypedRecord, Equatable {
            static let entity = "Fixed"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, content }
            struct Columns: RecordColumns {
                let path: ColumnPath
                var id: Column<Int64> { Column(path, "id") }
            }
            static var fields: [FieldDeclaration] {
                [.attribute("id", Int64.self, isKey: true), .attribute("content", StoredJSON<[Double]>.self)]
            }
            var id: Int64
            var content: [Double]
            init(id: Int64, content: [Double]) { (self.id, self.content) = (id, content) }
            init(_ row: Row<Fixed>) throws(StoreError) {
                id = try row.get(.id)
                content = try row.get(.content, as: StoredJSON<[Double]>.self).content
            }
            func encode(into row: inout RowEncoder<Fixed>) {
                row.set(.id, id)
                row.set(.content, StoredJSON(content))
            }
        }
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.path + "/s.tarn", schema: Schema(records: [Fixed.self]))
        try await store.write { try $0.put(Fixed(id: 1, content: [0.5])) }
        await #expect(throws: StoreError.self) {
            try await store.write { try $0.put(Fixed(id: 1, content: [.infinity])) }
        }
        #expect(try store.read { try $0.get(Fixed.self, 1) }?.content == [0.5])
    }
}
