// swift-format-ignore-file
// (The page of the documentation has parts of this file.)
// The examples of the page "Records without the macro", verbatim and run.

import Foundation
import Tarn
import TestSupport
import Testing

struct Headline: StoredRecord {
    static let entity = "Issue"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, title, author }

    var id: Int64
    var title: String
    var author: Reference<Person>
}
extension Headline {
    init(_ row: Row<Headline>) throws(StoreError) {
        try self.init(id: row.get(.id), title: row.get(.title), author: row.get(.author))
    }
    func encode(into row: inout RowEncoder<Headline>) {
        row.set(.id, id)
        row.set(.title, title)
        row.set(.author, author)
    }
}

struct Person: TypedRecord {
    static let entity = "Person"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, login }
    struct Columns: RecordColumns {
        let path: ColumnPath
        init(path: ColumnPath) { self.path = path }
        var id: Column<Int64> { Column(path, "id") }
        var login: Column<String> { Column(path, "login") }
    }
    static var fields: [FieldDeclaration] {
        [.attribute("id", Int64.self, isKey: true), .attribute("login", String.self, index: .init())]
    }

    var id: Int64
    var login: String
}
extension Person {
    init(_ row: Row<Person>) throws(StoreError) { try self.init(id: row.get(.id), login: row.get(.login)) }
    func encode(into row: inout RowEncoder<Person>) {
        row.set(.id, id)
        row.set(.login, login)
    }
}

@Suite("The page Records without the macro")
struct RecordsByHandPageTests {
    @Test("every example of the page stands here")
    func examples() throws {
        let page = try DocumentationPage("RecordsByHand")
        #expect(try page.examples.count == 6 && page.examples(missingIn: #filePath) == [])
    }

    @Test("structs of some fields, columns by hand and records without a type read the same rows")
    func walkthrough() throws {
        let folder = try TemporaryFolder()
        var issue = EntityDefinition("Issue", key: ["id"], attributes: [
            AttributeDefinition("id", .int), AttributeDefinition("title", .string), AttributeDefinition("body", .string, optional: true),
        ])
        issue.relationships = [RelationshipDefinition("author", to: "Person")]
        let store = try Store.open(at: folder.path + "/s", schema: Schema([issue, Person.definition]))
        try store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("Ä tree")), .init("body", .string("long")), .init("author", .reference(RecordKey(7)))])
            try writer.put(Person(id: 7, login: "ada"))
            try writer.put(Person(id: 8, login: "bob"))
        }

        let (headline, several) = try store.read { reader in
            (try reader.get(Headline.self, 1), try reader.get(Headline.self, [1, 2, 3]))
        }
        try store.write { try $0.put(Headline(id: 1, title: "A new title", author: Reference(7))) }
        #expect(headline?.title == "Ä tree" && headline?.author == Reference(7) && several.map { $0?.id } == [1, nil, nil])
        var length = 0
        try store.read { reader in
            try reader.forEach(Headline.self) { row in
                length += try row.text(.title)?.count ?? 0
            }
        }
        #expect(length == 11)
        let people = try store.read { try $0.fetch(Person.where { $0.login.hasPrefix("a") }.order(by: \.login)) }
        #expect(people.map(\.id) == [7])
        let title = try store.read { reader in
            try reader.record("Issue", RecordKey(1))?["title"]
        }
        #expect(title == .string("A new title"))
        // The field that the struct does not hold has kept its value.
        #expect(try store.read { try $0.record("Issue", RecordKey(1))?["body"] } == .string("long"))
    }
}
