// The effect of sources, kinds, envelopes and overlays on units of commits and on orphans.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Mirror: envelopes, kinds and overlays in units and orphans")
struct MirrorEnvelopeTests {
    private static func envelope(_ orphans: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          User: { key: id, attributes: { id: int, name: string? } }
          Label: { key: id, local: server, attributes: { id: int, name: string? } }
        endpoints:
          board: { path: /board, records: { users: User, labels: { entity: Label, optional: true } }, orphans: \(orphans) }
        """
    }

    private func scan(_ store: MirrorStore, _ users: [Int], _ labels: [Int]?) async throws -> SyncReport {
        func list(_ ids: [Int]) -> String { "[\(ids.map { #"{"id":\#($0)}"# }.joined(separator: ","))]" }
        let body = #"{"users":\#(list(users))"# + (labels.map { #","labels":\#(list($0))"# } ?? "") + "}"
        return try await store.sync(nil, transport: try WrittenTransport([recording("/v1/board", body)]))
    }

    @Test("of an answer with several entities, records of each go that no scan lists any more, equal keys apart")
    func several() async throws {
        let store = try MirrorStore(yaml: Self.envelope("after_two_scans"))
        #expect(found(try await scan(store, [1, 2, 3], [1, 2])) == [:])
        #expect(found(try await scan(store, [1, 3], [2])) == ["candidates": 2, "waiting": 2])
        let report = try await scan(store, [1, 3], [2])
        #expect(found(report) == ["candidates": 2, "deleted": 2])
        #expect(
            report.orphans?.records.sorted() == ["Label 1", "User 2"] && report.report.entities["Label"]?.deleted == 1)
        #expect(try store.items("User") == [1, 3] && store.items("Label") == [2])
    }

    @Test(
        "an entity of which a scan lists nothing at all is left alone, unless the description allows it",
        arguments: [nil, []] as [[Int]?])
    func missingPart(labels: [Int]?) async throws {
        for isAllowed in [false, true] {
            let store = try MirrorStore(yaml: Self.envelope("{ after: one_scan, allow_empty: \(isAllowed) }"))
            _ = try await scan(store, [1, 2], [1])
            let report = try await scan(store, [1], labels)
            #expect(
                report.orphans?.refusals
                    == (isAllowed ? [] : ["the scan lists no Label; set allow_empty: true if that is possible"]))
            #expect(try store.items("User") == [1] && store.items("Label") == (isAllowed ? [] : [1]))
        }
    }

    @Test("what is done with records that were changed here is what their own entity says")
    func localOfEach() async throws {
        let store = try MirrorStore(yaml: Self.envelope("after_one_scan"))
        _ = try await scan(store, [1, 2], [1, 2])
        try await store.open().write { writer in
            try writer.putLocally("User", RecordKey(2), [Record.Field("name", .string("mine"))])
            try writer.putLocally("Label", RecordKey(2), [Record.Field("name", .string("mine"))])
        }
        #expect(found(try await scan(store, [1], [1])) == ["candidates": 2, "deleted": 1, "local": 1])
        #expect(try store.items("User") == [1, 2] && store.items("Label") == [1])
    }

    /// A page of an answer with posts, and their users beside them.
    private static func posts(_ ids: some Sequence<Int>, users: [Int], _ more: String = "") -> String {
        func list(_ ids: some Sequence<Int>) -> String { "[\(ids.map { #"{"id":\#($0)}"# }.joined(separator: ","))]" }
        return #"{"posts":\#(list(ids)),"users":\#(list(users))\#(more)}"#
    }

    private static func paged(_ style: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Post: { key: id, attributes: { id: int } }
          User: { key: id, attributes: { id: int } }
        endpoints:
          posts: { path: /posts, records: { posts: Post, users: User }, paginate: \(style) }
        """
    }

    @Test(
        "pages count the records of the first list, and not the side-loaded ones",
        arguments: [
            ("total: total", #","total":5"#), ("has_more: more", #","more":%"#), ("per_page: { limit: 2 }", ""),
        ])
    func sideLoaded(_ key: String, _ members: String) async throws {
        let store = try MirrorStore(yaml: Self.paged("{ offset: { param: offset, \(key) } }"))
        let size = key.hasPrefix("per_page") ? "&limit=2" : ""
        let pages = [[1, 2], [3, 4], [5]].enumerated().map { index, ids in
            let more = members.replacing("%", with: index < 2 ? "true" : "false")
            return recording("/v1/posts?offset=\(index * 2)\(size)", Self.posts(ids, users: [7, 8], more))
        }
        for _ in 0..<2 {
            let transport = try WrittenTransport(pages)
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && transport.requests.count == 3, "\(report.texts)")
            #expect(try store.items("Post") == [1, 2, 3, 4, 5] && store.items("User") == [7, 8])
        }
    }

    @Test("a cursor is the id of a record of the first list, and a page without such records is the last one")
    func idsOfFirstList() async throws {
        let store = try MirrorStore(yaml: Self.paged("{ max_id: { param: max_id } }"))
        let transport = try WrittenTransport([
            recording("/v1/posts", Self.posts([30, 29], users: [7])),
            recording("/v1/posts?max_id=29", Self.posts([28], users: [7])),
            recording("/v1/posts?max_id=28", Self.posts([], users: [7])),
        ])
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && transport.requests.count == 3, "\(report.texts)")
        #expect(try store.items("Post") == [28, 29, 30] && store.items("User") == [7])
    }

    private static let kinds = """
        api: { base: https://api.test.example/v1, local: server }
        entities:
          Item: { key: id, local: fields, kinds: { Box: { name: n1* }, Bag: { name: n2* } }, otherwise: skip, attributes: { id: int, name: string } }
          Box: { parent: Item, attributes: { size: int? } }
          Bag: { parent: Item, local: server, attributes: {} }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link, orphans: after_one_scan }
        """

    @Test(
        "a record of any kind goes that is not listed any more; one of no known kind is not read, and then nothing goes"
    )
    func kinds() async throws {
        let store = try MirrorStore(yaml: Self.kinds)
        try await store.scan([[10, 11], [20, 21]])
        let unknown = try await store.scan([[10, 30], [20]])
        #expect(unknown.orphans?.refusals.first?.contains("unreadable records in the scan: 1") == true)
        #expect(try store.items() == [10, 11, 20, 21])
        let report = try await store.scan([[10], [20]])
        #expect(found(report) == ["candidates": 2, "deleted": 2] && report.orphans?.records == ["Box 11", "Bag 21"])
        #expect(try store.items("Box") == [10] && store.items("Bag") == [20])
    }

    @Test("a record that becomes another kind is the same record: the scan lists it")
    func changedKind() async throws {
        let store = try MirrorStore(yaml: Self.kinds)
        try await store.scan([[10, 20]])
        let changed = recording("/v1/items", #"[{"id":10,"name":"n20"},{"id":20,"name":"n20"}]"#)
        #expect(found(try await store.sync(nil, transport: try WrittenTransport([changed]))) == [:])
        #expect(try store.items("Box") == [] && store.items("Bag") == [10, 20])
    }

    @Test("a kind that the server's word counts for goes with its local changes; the others stay")
    func localOfKinds() async throws {
        let store = try MirrorStore(yaml: Self.kinds)
        try await store.scan([[10, 11, 20, 21]])
        try await store.open().write { writer in
            try writer.putLocally("Box", RecordKey(11), [Record.Field("name", .string("mine"))])
            try writer.putLocally("Bag", RecordKey(21), [Record.Field("name", .string("mine"))])
        }
        #expect(found(try await store.scan([[10, 20]])) == ["candidates": 2, "deleted": 1, "local": 1])
        #expect(try store.items() == [10, 11, 20])
    }

    @Test(
        "positions count over all pages of a walk, whatever is committed together, also after it was interrupted",
        arguments: [
            "page", "{ every: 2 }", "walk",
        ])
    func positions(commit: String) async throws {
        let yaml = itemsYAML(
            "paginate: header_link\n    commit: \(commit)", attributes: "      at: { type: int, from: '@position' }")
        let store = try MirrorStore(yaml: yaml), pages = writtenPages([[9, 8], [7], [6, 5], [4]])
        let cut = try await store.sync(nil, transport: try WrittenTransport(Array(pages.prefix(3))))
        #expect(cut.failures.count == 1)
        #expect(try await store.sync(nil, transport: try WrittenTransport(pages)).failures.isEmpty)
        let positions = try store.read { reader in
            try [9, 8, 7, 6, 5, 4].map { try reader.record("Item", RecordKey($0))?["at"] }
        }
        #expect(positions == (0..<6).map { .int($0) })
    }

    @Test(
        "a record without a key fails all that is committed with it, once; the next sync begins behind what was committed",
        arguments: [
            ("page", [1, 2]), ("{ every: 2 }", [1, 2]), ("{ every: 3 }", []), ("walk", []),
        ])
    func keyless(commit: String, kept: [Int]) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: header_link\n    commit: \(commit)", api: "  keyless: fail"))
        var pages = writtenPages([[1], [2], [3]])
        let sound = pages[2]
        pages[2] = recording("/v1/items?page=3", #"[{"id":3,"name":"n"},{"name":"no key"}]"#)
        let report = try await store.sync(nil, transport: try WrittenTransport(pages))
        #expect(report.failures.count == 1, "\(report.texts)")
        #expect(try store.items() == kept)
        let transport = try WrittenTransport([pages[0], pages[1], sound])
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(try transport.requests.count == 3 - kept.count && store.items() == [1, 2, 3])
    }

    @Test(
        "a page of which nothing is listed is no error for a record without a key on another page of its batch",
        arguments: [
            (#"[{"id":12,"name":"n12","gone":true}]"#, 1), (#"[{"id":30,"name":"n30"}]"#, 2),
        ])
    func otherPages(body: String, skipped: Int) async throws {
        let yaml = Self.kinds.replacing("otherwise: skip", with: "otherwise: skip, deleted: gone").replacing(
            "after_one_scan", with: "keep, commit: walk")
        let store = try MirrorStore(yaml: yaml)
        let next = "Link: <https://api.test.example/v1/items?page=2>; rel=\"next\""
        let first = recording("/v1/items", #"[{"id":10,"name":"n10"},{"name":"n11"}]"#, next)
        let report = try await store.sync(
            nil, transport: try WrittenTransport([first, recording("/v1/items?page=2", body)]))
        #expect(report.failures.isEmpty && report.report.skipped == skipped, "\(report.texts)")
        #expect(try store.items() == [10])
    }

    @Test(
        "an overlay leaves units and rules for orphans as they are; the first scan with it finds what the list has lost"
    )
    func overlay() async throws {
        var store = try MirrorStore(
            yaml: itemsYAML("paginate: header_link\n    commit: { every: 2 }\n    orphans: after_one_scan"))
        try await store.scan([[1, 2], [3]])
        let endpoints = store.description.endpoints
        store.description = try store.description.applying(
            overlay:
                "{ api: { local: keep }, entities: { Item: { local: server, attributes: { name: { from: [title, name] } } } } }",
            file: "o.yaml")
        #expect(store.description.endpoints == endpoints && store.description.mapping.local == .keep)
        #expect(store.description.mapping.entities["Item"]?.local == .server)
        #expect(found(try await store.scan([[1], [3]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 3])
        #expect(found(try await store.scan([[1]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1])
    }

    @Test("an overlay that names endpoints, or what they say of units and orphans, is refused")
    func overlayRefused() throws {
        let description = try Description.parse(itemsYAML("orphans: after_one_scan"), file: "tarn.yaml")
        for (overlay, place) in [
            ("endpoints: { items: { orphans: keep } }", "o.yaml:1:1: endpoints: an overlay can only change"),
            ("api: { commit: walk }", "o.yaml:1:8: api.commit: "),
        ] {
            let error = #expect(throws: DescriptionError.self) {
                try description.applying(overlay: overlay, file: "o.yaml")
            }
            #expect(error?.description.contains(place) == true, "\(error?.description ?? "")")
        }
    }
}
