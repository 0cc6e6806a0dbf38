// Lists whose elements are messages about records: events, deleted records, bare keys.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: feeds of events", .timeLimit(.minutes(5)))
struct MirrorEventFeedTests {
    private static func yaml(_ records: String, entity: String = "") -> String {
        """
        api: { base: https://api.test.example }
        entities:
          Item: { key: id, \(entity)attributes: { id: int, title: string?, changedAt: date? } }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page }
          events: { path: /events, records: \(records), paginate: single_page }
        """
    }

    /// The titles of the items after syncs whose events are the bodies, and the last report.
    private func titles(
        _ yaml: String, _ bodies: String..., items: String = #"[{"id":1,"title":"a"},{"id":2,"title":"b"}]"#
    ) async throws -> (titles: [String], report: SyncReport) {
        let store = try MirrorStore(yaml: yaml)
        _ = try await store.sync(
            nil, transport: ClosureTransport { _ in TransportResponse(status: 200, body: Array(items.utf8)) },
            names: ["items"])
        var last = SyncReport()
        for body in bodies {
            last = try await store.sync(
                nil, transport: ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) },
                names: ["events"])
            #expect(last.failures.isEmpty, "\(last.texts)")
        }
        let titles = try [1, 2, 3].map { key in
            try store.read { reader in
                try reader.record("Item", RecordKey(Int64(key))).map { $0["title"]?.plainText ?? "-" } ?? "gone"
            }
        }
        return (titles, last)
    }

    @Test("events have the record, or its key, inside; a condition tells that it is deleted")
    func events() async throws {
        let yaml = Self.yaml("{ data: { entity: Item, record: [object, object_id], deleted: { type: '*.deleted' } } }")
        let (titles, report) = try await titles(
            yaml,
            """
            {"data":[{"id":91,"type":"item.updated","object":{"id":1,"title":"new"}},
            {"id":92,"type":"item.created","object":{"id":3,"title":"c"}},
            {"id":93,"type":"item.deleted","object":null,"object_id":2}]}
            """)
        #expect(titles == ["new", "gone", "c"] && report.report.deleted == 1 && report.endpoints[0].skipped == 0)
    }

    @Test("a list of deleted records may have bare keys, beside a list of changed ones")
    func deletedKeys() async throws {
        let yaml = Self.yaml(
            "{ changed: { entity: Item, optional: true }, gone: { entity: Item, deleted: true, optional: true } }")
        let (titles, _) = try await titles(yaml, #"{"changed":[{"id":1,"title":"new"}],"gone":[2,7,"x"]}"#)
        #expect(titles == ["new", "gone", "gone"])
        let (others, _) = try await self.titles(yaml, #"{"gone":["1"]}"#, #"{"changed":[{"id":1,"title":"again"}]}"#)
        #expect(others == ["again", "b", "gone"])
    }

    @Test("the last message about a record counts; with first_wins the first one")
    func order() async throws {
        let records = "{ $: { entity: Item, record: [item, key], deleted: { kind: removed } } }"
        let body =
            #"[{"kind":"removed","key":1},{"kind":"added","item":{"id":1,"title":"back"}},"#
            + #"{"kind":"added","item":{"id":3,"title":"c"}},{"kind":"removed","key":3}]"#
        let (last, _) = try await titles(Self.yaml(records), body)
        #expect(last == ["back", "b", "gone"])
        let (first, _) = try await titles(Self.yaml(records, entity: "duplicates: first_wins, "), body)
        #expect(first == ["gone", "b", "c"])
    }

    @Test("elements for which the condition does not hold are passed over; one without a record is reported")
    func conditions() async throws {
        let yaml = Self.yaml("{ $: { entity: Item, where: { kind: item }, record: item } }")
        let (titles, report) = try await titles(
            yaml, #"[{"kind":"user","item":{"id":1,"title":"no"}},{"kind":"item","item":{"id":2,"title":"yes"}}]"#)
        #expect(titles == ["a", "yes", "gone"] && report.endpoints[0].skipped == 0)
        // Null is no value, and an event is no record itself.
        let (nulls, skipped) = try await self.titles(
            yaml.replacing("where: { kind: item }", with: "where: { kind: item, gone: null }"),
            #"[{"kind":"item","id":1,"title":"event"},{"kind":"item","gone":null,"item":{"id":2,"title":"yes"}},"#
                + #"{"kind":"item","gone":1,"item":{"id":1,"title":"no"}}]"#)
        #expect(nulls == ["a", "yes", "gone"] && skipped.endpoints[0].skipped == 1)
        let (_, other) = try await self.titles(yaml, #"[{"kind":"item"},{"kind":"item","item":{"id":2}}]"#)
        #expect(other.endpoints[0].skipped == 1)
        #expect(other.endpoints[0].report.diagnostics.contains { $0.code == .keyMissing })
    }

    @Test("pages with events of the same records are different pages, with page numbers, too")
    func sameRecords() async throws {
        let yaml = Self.yaml("{ $: { entity: Item, record: item } }").replacing(
            "item } }, paginate: single_page", with: "item } }, paginate: { page_number: { param: page } }")
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(
            nil,
            transport: ClosureTransport { request in
                let page = URLComponents(string: request.url)?.queryItems?.first { $0.name == "page" }?.value ?? "1"
                let events = ["1": "a", "2": "b", "3": "c"][page].map { title in
                    #"{"item":{"id":1,"title":"\#(title)"}},{"item":{"id":2,"title":"\#(title)"}}"#
                }
                return TransportResponse(status: 200, body: Array("[\(events ?? "")]".utf8))
            }, names: ["events"])
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.record("Item", 1)["title"] == .string("c"))
    }

    @Test("a page of deletions with one element without a record is not refused as a whole")
    func unusableDeletion() async throws {
        let yaml = Self.yaml("{ $: { entity: Item, record: id, deleted: true } }")
        let (titles, report) = try await titles(yaml, #"[{"id":2},{"key":3}]"#)
        #expect(titles == ["a", "gone", "gone"] && report.endpoints[0].skipped == 1)
    }

    @Test("a bare key that is not deleted makes a partial record, which clears nothing")
    func keys() async throws {
        let yaml = Self.yaml("{ ids: { entity: Item, record: $ } }", entity: "absent: clear, ")
        let (titles, report) = try await titles(yaml, #"{"ids":[1,3]}"#)
        #expect(titles == ["a", "b", "-"] && report.report.created == 1)
    }

    @Test("a change of the rule requests the list without a condition")
    func fingerprint() throws {
        func digest(_ rule: String) throws -> String {
            let description = try Description.parse(
                Self.yaml("{ data: { entity: Item\(rule) } }"), file: "tarn.yaml")
            return description.fingerprint(of: try #require(description.endpoints.last))
        }
        let digests = try [
            "", ", record: item", ", record: [item, id]", ", where: { a: b }", ", where: { a: '>= 1' }",
            ", deleted: true", ", deleted: { a: b }",
        ].map(digest)
        #expect(Set(digests).count == digests.count)
        #expect(try digest(", deleted: false") == digests[0])
    }

    @Test(
        "a rule that cannot hold is an error with its position",
        arguments: [
            ("record: 'a.*'", "record: a.* is not a single value of the element"),
            ("where: x", "where: expected a mapping from key paths to values"),
            ("deleted: maybe", "deleted: expected true or false"), ("deleted: {}", "deleted: missing condition"),
        ])
    func problems(rule: String, message: String) {
        do {
            _ = try Description.parse(Self.yaml("{ data: { entity: Item, \(rule) } }"), file: "tarn.yaml")
            Issue.record("no error")
        } catch {
            let text = "\(error)"
            let found = text.contains("tarn.yaml:6:") && text.contains("endpoints.events.records.data.\(message)")
            #expect(found, "\(text)")
        }
    }

    @Test("a record that is deleted and comes back in one response is there, also with the values that it had")
    func deletedAndBack() async throws {
        let yaml = Self.yaml("{ $: { entity: Item, record: [item, key], deleted: { kind: removed } } }")
        let added = #"{"kind":"added","item":{"id":1,"title":"x"}}"#, removed = #"{"kind":"removed","key":1}"#
        let (one, _) = try await titles(yaml, "[\(added),\(removed),\(added)]")
        #expect(one == ["x", "b", "gone"])
        let (next, _) = try await titles(yaml, "[\(added)]", "[\(removed),\(added)]")
        #expect(next == ["x", "b", "gone"])
        let (last, _) = try await titles(yaml, "[\(added)]", "[\(added),\(removed)]")
        #expect(last == ["gone", "b", "gone"])
    }

    @Test("pages of which all elements are passed over are different pages")
    func passedOver() async throws {
        let yaml = Self.yaml("{ $: { entity: Item, record: item, where: { kind: item } } }").replacing(
            "} }, paginate: single_page", with: "} }, paginate: { page_number: { param: page } }")
        let pages = [
            "1": #"[{"kind":"user","n":1},{"kind":"user","n":2}]"#,
            "2": #"[{"kind":"user","n":3},{"kind":"user","n":4}]"#,
            "3": #"[{"kind":"item","item":{"id":3,"title":"c"}},{"kind":"user","n":5}]"#,
        ]
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(
            nil,
            transport: ClosureTransport { request in
                let page = URLComponents(string: request.url)?.queryItems?.first { $0.name == "page" }?.value ?? "1"
                return TransportResponse(status: 200, body: Array((pages[page] ?? "[]").utf8))
            }, names: ["events"])
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.record("Item", 3)["title"] == .string("c"))
    }
}
