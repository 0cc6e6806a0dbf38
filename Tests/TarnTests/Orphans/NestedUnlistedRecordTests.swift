// Records that came nested in others, where an edited description no longer looks for any.

import TarnDescription
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: nested records of former places", .timeLimit(.minutes(5)))
struct NestedUnlistedRecordTests {
    private static func yaml(_ relationships: String, _ endpoints: String = "") -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int }, relationships: { \(relationships) }, ignore: ['*'] }
          Tag: { key: id, attributes: { id: int }, ignore: ['*'] }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page }
        \(endpoints)
        """
    }

    private static let server = [
        recording(
            "/v1/items",
            #"[{"id":1,"tags":[{"id":1},{"id":2}],"marks":[{"id":2},{"id":3}],"owner":{"id":4}},{"id":2,"tags":[]}]"#,
            "ETag: \"a\""),
        recording("/v1/tags", #"[{"id":1}]"#, "ETag: \"b\""),
        recording("/v1/others", #"[{"id":3}]"#, "ETag: \"c\""),
    ]

    private func known(_ store: MirrorStore) throws -> [String: Int] {
        try store.read { try UnlistedRecords.count($0, store.description.schema) }
    }

    @Test(
        "nested records of a relationship that moves, gets another name or is removed are counted once, and stay",
        arguments: [
            ("tags: { to: [Tag] }", "tags: { to: [Tag], from: marks }", 1),
            ("tags: { to: [Tag] }", "marks: { to: [Tag] }", 1),
            ("tags: { to: [Tag] }", "labels: { to: [Tag], from: marks, was: tags }", 1),
            ("tags: { to: [Tag] }, owner: { to: Tag }", "owner: { to: Tag }", 2),
            ("tags: { to: [Tag] }", "tags: { to: [Tag], from: [tags, marks] }", 0),
            ("tags: { to: [Tag] }, marks: { to: [Tag] }", "marks: { to: [Tag] }", 1),
        ])
    func moved(before: String, after: String, count: Int) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(before))
        #expect(try await first.sync(base).unlisted.isEmpty)
        let tags = try first.count("Tag")
        let second = try first.edited(Self.yaml(after)), expected = count == 0 ? [:] : ["Tag": count]
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.unlisted == expected, "\(report.texts) \(report.unlisted)")
        #expect(try await second.sync(base).unlisted.isEmpty)
        #expect(try known(second) == expected && second.count("Tag") >= tags)
    }

    @Test("a nested record that is referred to again, or listed, counts no longer")
    func returned() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let before = Self.yaml("tags: { to: [Tag] }"), after = Self.yaml("tags: { to: [Tag], from: marks }")
        let first = try MirrorStore(yaml: before)
        try await first.sync(base)
        let second = try first.edited(after)
        #expect(try await second.sync(base).unlisted == ["Tag": 1])
        #expect(try await first.sync(base).unlisted == ["Tag": 1])
        #expect(try known(first) == ["Tag": 1])
        let third = try first.edited(
            Self.yaml("tags: { to: [Tag] }", "  others: { path: /others, entity: Tag, paginate: single_page }"))
        #expect(try await third.sync(base).unlisted.isEmpty)
        #expect(try known(third).isEmpty)
    }

    @Test("a record that a list has, too, is no nested one; a sync of one endpoint leaves the count to a whole one")
    func listed() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let list = "  tags: { path: /tags, entity: Tag, paginate: single_page }"
        let first = try MirrorStore(yaml: Self.yaml("tags: { to: [Tag] }", list))
        try await first.sync(base)
        let second = try first.edited(Self.yaml("owner: { to: Tag }", list))
        let part = try await second.sync(base, names: ["items"])
        #expect(part.unlisted.isEmpty && part.unlistedSoFar.isEmpty, "\(part.texts)")
        #expect(try await second.sync(base).unlisted == ["Tag": 1])
        #expect(try known(second) == ["Tag": 1])
    }

    @Test("a record that was created locally is none of a former place, although a removed relationship leads to it")
    func created() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("tags: { to: [Tag] }"))
        try await first.sync(base)
        try await first.open().write { writer in
            try writer.put("Tag", RecordKey(9), [])
            try writer.markLocal("Tag", RecordKey(9), .create)
            try writer.put("Item", RecordKey(2), [.init("tags", .references([RecordKey(9)]))])
        }
        let second = try first.edited(Self.yaml("owner: { to: Tag }"))
        #expect(try await second.sync(base).unlisted == ["Tag": 2])
        #expect(try known(second) == ["Tag": 2] && second.count("Tag") == 4)
    }

    @Test("without an edit, nothing is noted; the first sync after an upgrade notes the relationships only")
    func upgraded() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("tags: { to: [Tag] }"))
        try await first.sync(base)
        // The note of a version without relationships.
        try await first.open().write { writer in
            let lines = (try writer.access.settings.requestedLists ?? "").split(separator: "\n")
            let old = lines.filter { !$0.contains(" :") }
            #expect(old.count == 1 && lines.count == 2)
            try writer.note(requestedLists: old.joined(separator: "\n"))
        }
        let report = try await first.sync(base)
        #expect(report.unlisted.isEmpty && report.unlistedSoFar.isEmpty && report.notModified == 1)
        let noted = try #require(try first.read { try $0.requestedLists })
        #expect(noted.contains(" :Item.tags"))
        #expect(try known(first).isEmpty)
    }
}
