// Values that are stored and that a struct cannot read, or cannot represent exactly.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Values that a struct does not read as they are stored")
struct UnreadableValueTests {
    enum Level: Int, AttributeValue, CaseIterable { case low = 1 }

    struct Extra: Codable, Hashable, Sendable {
        var heart: Int
        var url: String?
    }

    @Record struct Thing: Equatable {
        @Key var id: Int
        @Attribute(default: 3) var count: Int
        var title: String
        var tags: [String]?
        var level: Level?
        @Attribute(type: .json) var extra: Extra?
        var link: URL?
        var at: Date?
    }

    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Thing.self]))
    }

    /// Stores a thing as another program does.
    private func put(_ id: Int, _ name: String, _ value: Value) throws {
        let title = name == "title" ? value : .string("t")
        try store.write {
            try $0.put(
                "Thing", RecordKey(Int64(id)), [.init("title", title)] + (name == "title" ? [] : [.init(name, value)]))
        }
    }

    private func stored(_ id: Int, _ name: String) throws -> Value? {
        try store.read { try $0.record("Thing", RecordKey(Int64(id)))?[name] }
    }

    @Test("null counts as absent for a property with a default, and conditions find it missing")
    func nullWithDefault() throws {
        try put(1, "count", .null)
        try store.read { reader throws -> Void in
            #expect(try reader.fetch(Thing.all).map(\.count) == [3])
            #expect(try reader.count(Thing.where { $0.count == 3 }) == 0)
            #expect(try reader.count(Thing.where { $0.count == 3 || $0.count.isMissing }) == 1)
        }
    }

    @Test(
        "the error of a value that a struct cannot read names the record, the value and the way out",
        arguments: [
            ("tags", Value.array([.string("a"), .null]), #"["a",null]"#, "[String?]"),
            ("level", .int(99), "99", "add it, or declare the property as Int"),
            ("extra", .json("[]"), "[]", "String, with @Attribute(type: .json)"),
            ("link", .url("http://[::1"), #""http://[::1""#, "String, with @Attribute(type: .url)"),
            ("title", .null, "null", "String?"),
        ])
    func wayOut(_ name: String, _ value: Value, _ found: String, _ wayOut: String) throws {
        try store.write { try $0.put(Thing(id: 1, count: 1, title: "a")) }
        try put(2, name, value)
        #expect {
            try store.read { _ = try $0.fetch(Thing.all) }
        } throws: { error in
            guard case StoreError.unreadableValue("Thing", "2", name, _, found, let said)? = error as? StoreError else {
                return false
            }
            return said.contains(wayOut)
        }
        let others = try store.read { try $0.fetch(Thing.where { $0.id != 2 }) }
        #expect(others.map(\.id) == [1])
    }

    @Test("clearing a field that records require fails at once")
    func clearingRequired() throws {
        try store.write { try $0.put(Thing(id: 1, count: 1, title: "a")) }
        #expect(throws: StoreError.self) { try store.write { try $0.patch(Thing.self, 1) { $0.clear(.title) } } }
        _ = try store.write { try $0.patch(Thing.self, 1) { $0.clear(.count) } }
        #expect(try store.read { try $0.get(Thing.self, 1) } == Thing(id: 1, count: 3, title: "a"))
    }

    @Test(
        "a struct that is put back as it was read keeps what it cannot represent; another value replaces it",
        arguments: [
            ("link", Value.url("https://exämple.de/{x}")), ("link", .url("https://a.example/100%")),
            ("extra", .json(#"{"url":"u","more":1,"heart":2}"#)),
            ("at", .date(Timestamp("9999-12-31T23:59:59.999999Z") ?? Timestamp(microseconds: 0))),
        ])
    func puttingBack(_ name: String, _ value: Value) throws {
        try put(1, name, value)
        var thing = try #require(try store.read { try $0.get(Thing.self, 1) })
        if let at = thing.at { #expect(Timestamp(at).description.hasPrefix("9999-")) }
        let same = thing
        try store.write { try $0.put(same) }
        #expect(try stored(1, name) == value)
        thing.link = URL(string: "https://a.example/%7By%7D")
        thing.extra = Extra(heart: 3)
        thing.at = Date(timeIntervalSince1970: 0)
        let other = thing
        try store.write { try $0.put(other) }
        #expect(try store.read { try $0.get(Thing.self, 1) } == other)
    }

    @Test("the error of a partial record says how to leave such records out")
    func partial() throws {
        try store.write { try $0.put("Thing", RecordKey(Int64(1)), [.init("count", .int(1))], isComplete: false) }
        #expect {
            try store.read { _ = try $0.fetch(Thing.all) }
        } throws: { error in
            "\(error)".contains(".partials(.excluded)")
        }
        #expect(try store.read { try $0.fetch(Thing.all.partials(.excluded)) }.isEmpty)
    }
}
