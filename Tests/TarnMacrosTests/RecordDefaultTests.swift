// Defaults and indexes of structs with `@Record`: values of every type, and those of inherited fields.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Defaults and indexes of records")
struct RecordDefaultTests {
    enum Level: String, AttributeValue, CaseIterable { case low, high }

    private static let five = 5
    private static let home = URL(string: "https://e.example/") ?? URL(fileURLWithPath: "/")

    @Record struct Setting: Equatable {
        @Key var id: Int
        @Attribute(default: RecordDefaultTests.home) var link: URL
        @Attribute(default: [RecordDefaultTests.home]) var links: [URL]
        @Attribute(type: .url, default: "https://e.example/x") var text: String
        @Attribute(type: .json, default: #"{"a":1}"#) var json: String
        @Attribute(type: .json, default: [1, 2]) var numbers: [Double]
    }

    @Record struct Choice: Equatable {
        @Key var id: Int
        @Attribute(default: 5) var literal: Int?
        @Attribute(default: RecordDefaultTests.five) var constant: Int?
        @Attribute(default: Level.low) var level: Level?
        @Attribute(default: RecordDefaultTests.home) var link: URL?
        @Attribute(type: .json, default: [1]) var numbers: [Int]?
    }

    @Record struct Account: Equatable {
        @Key var id: Int
        var login: String
        @Index var city: String
        @Index(unique: true) var code: Int?
    }

    @Record(parent: Account.self) struct Member: Equatable {
        @Key var id: Int
        @Index(unique: true) var login: String
        @Index var city: String
        @Index var code: Int?
        @Index(ignoringCase: true) var nick: String?
    }

    @Record struct Address: Equatable {
        @Key var id: Int
        @Index var code: String
    }

    @Record(parent: Address.self) struct Office: Equatable {
        @Key var id: Int
        @Index(unique: true) var code: String
    }

    @Record struct Site: Equatable {
        @Key var id: Int
        var link: URL
        var visits: Int

        static var indexes: [RecordIndex<Site>] {
            [RecordIndex(\.visits, where: { $0.link == RecordDefaultTests.home && $0.visits > 3 })]
        }
    }

    @Test("a default may be a URL, a list of URLs, and JSON")
    func types() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Setting.self]))
        try store.validate(Setting.self)
        try store.write { try $0.put("Setting", RecordKey(1), []) }
        let home = Self.home
        #expect(
            try store.read { try $0.get(Setting.self, 1) }
                == Setting(
                    id: 1, link: home, links: [home], text: "https://e.example/x", json: #"{"a":1}"#, numbers: [1, 2]))
        #expect(
            try store.read { try $0.fetch(Setting.where { $0.link == home && $0.links.contains(home) }) }.count == 1)
    }

    @Test("an optional property that is written as nil is read as nil, whatever expression its default is")
    func nils() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Choice.self]))
        let empty = Choice(id: 1, literal: nil, constant: nil, level: nil, link: nil, numbers: nil)
        try store.write { writer in
            try writer.put(empty)
            try writer.put("Choice", RecordKey(2), [])
        }
        #expect(try store.read { try $0.get(Choice.self, 1) } == empty)
        #expect(
            try store.read { try $0.get(Choice.self, 2) }
                == Choice(id: 2, literal: 5, constant: 5, level: .low, link: Self.home, numbers: [1]))
    }

    @Test("a default that is not JSON is refused when the store is opened")
    func brokenJSON() throws {
        let folder = try TemporaryFolder()
        let broken = EntityDefinition(
            "Note", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("body", .json, default: .json("{"))])
        #expect(throws: StoreOpenError.self) { try Store.open(at: folder("s.tarn"), schema: Schema([broken])) }
    }

    @Test("an index of an inherited field is the record's own, unless the parent has it")
    func inheritedIndexes() async throws {
        #expect(
            Member.definition.indexes.map(\.name).sorted() == ["loginUnique", "nickIgnoringCase"]
                && Member.definition.attributes.map(\.name) == ["nick"])
        // That of the parent takes equal values.
        #expect(Office.definition.indexes.map(\.name) == ["codeUnique"])
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Account.self, Member.self]))
        try await store.write { writer in
            try writer.put(Account(id: 1, login: "ada", city: "x", code: nil))
            try writer.put(Member(id: 2, login: "ada", city: "x", code: nil, nick: nil))
        }
        await #expect(throws: StoreWriteError.self) {
            try await store.write { try $0.put(Member(id: 3, login: "ada", city: "x", code: nil, nick: nil)) }
        }
        #expect(try store.read { try $0.fetch(Member.where { $0.login == "ada" }) }.map(\.id) == [2])
    }

    @Test("the condition of a partial index may compare a URL")
    func partialIndex() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Site.self]))
        let home = Self.home
        try store.write { writer in
            try writer.put(Site(id: 1, link: home, visits: 9))
            try writer.put(Site(id: 2, link: home, visits: 1))
        }
        let often = Site.where { $0.link == home && $0.visits > 3 }
        #expect(try store.read { try $0.fetch(often.order(by: \.visits)) }.map(\.id) == [1])
        #expect(try store.read { try $0.explain(often.query) }.description.contains("visits"))
    }
}
