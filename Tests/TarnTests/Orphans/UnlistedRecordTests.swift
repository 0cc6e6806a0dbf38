// Records that an edited description no longer lists: the first sync after the edit counts them, and
// the status for as long as they stay.

import TarnDescription
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: records of former lists", .timeLimit(.minutes(5)))
struct UnlistedRecordTests {
    private static func yaml(_ endpoints: String) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, name: string? }, ignore: ['*'] }
          Owner: { key: id, attributes: { id: int }, ignore: ['*'] }
        endpoints:
        \(endpoints.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
        """
    }

    private static let items = "items: { path: /items, entity: Item, paginate: single_page }"
    private static let open = "items: { path: /items, with: { open: 1 }, entity: Item, paginate: single_page }"
    private static let others = "others: { path: /others, entity: Item, paginate: single_page }"

    private static let server = [
        recording("/v1/items", #"[{"id":1},{"id":2},{"id":3}]"#, "ETag: \"a\""),
        recording("/v1/items?open=1", #"[{"id":1}]"#, "ETag: \"b\""),
        recording("/v1/items?state=x", #"[{"id":1}]"#, "ETag: \"x\""),
        recording("/v1/items?state=y", #"[{"id":2},{"id":3}]"#, "ETag: \"y\""),
        recording("/v1/items?since=20", #"[{"id":3,"rev":30}]"#, "ETag: \"r\""),
        recording("/v1/others", #"[{"id":2}]"#, "ETag: \"c\""),
        recording("/v1/owners", #"[{"id":7},{"id":8}]"#, "ETag: \"d\""),
        recording("/v1/some", #"[{"id":7}]"#, "ETag: \"e\""),
    ]

    private func known(_ store: MirrorStore) throws -> [String: Int] {
        try store.read { try UnlistedRecords.count($0, store.description.schema) }
    }

    @Test(
        "records of a narrower list, a removed endpoint, a partition and a lower limit are counted once, and stay",
        arguments: [
            (items, open, 2), (items + "\n" + others, items.replacing("/items,", with: "/others,"), 2),
            (items, others, 2), (items + "\n" + others, open + "\n" + others, 1),
            (
                "items: { path: /items, partitions: { state: [x, y] }, entity: Item, paginate: single_page }",
                "items: { path: /items, partitions: { state: [x] }, entity: Item, paginate: single_page }", 2
            ),
        ])
    func narrowed(before: String, after: String, count: Int) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(before))
        #expect(try await first.sync(base).unlisted.isEmpty)
        #expect(try await first.sync(base).unlisted.isEmpty)
        let second = try first.edited(Self.yaml(after))
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.unlisted == ["Item": count], "\(report.texts)")
        #expect(try await second.sync(base).unlisted.isEmpty)
        #expect(try known(second) == ["Item": count] && second.count("Item") == 3)
        let cache = try RecordCache(
            second.description, store: try second.open(), transport: MirrorStore.impatient())
        #expect(try await cache.collect(roots: [], isDryRun: false).deleted == count)
        #expect(try known(second).isEmpty && second.count("Item") == 3 - count)
    }

    @Test("more records than a transaction takes are counted, too, of several lists")
    func many() async throws {
        func list(_ name: String, _ ids: Range<Int>) -> String {
            recording("/v1/\(name)", "[\(ids.map { #"{"id":\#($0)}"# }.joined(separator: ","))]", "ETag: \"\(name)\"")
        }
        let server = try LocalServer([
            list("a", 0..<6_000), list("b", 6_000..<12_000), list("c", 11_990..<12_500), list("d", 0..<1),
        ])
        func yaml(_ names: String) -> String {
            Self.yaml(
                names.map { "\($0): { path: /\($0), entity: Item, paginate: single_page }" }.joined(separator: "\n"))
        }
        let base = server.base + "/v1", first = try MirrorStore(yaml: yaml("abc"))
        try await first.sync(base)
        let second = try first.edited(yaml("cd"))
        #expect(try await second.sync(base).unlisted == ["Item": 11_989])
        #expect(try known(second) == ["Item": 11_989] && second.count("Item") == 12_500)
    }

    @Test("an edit of a field, of the pagination, or a further endpoint leaves no record without a list")
    func otherEdits() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items))
        try await first.sync(base)
        for edited in [
            Self.yaml(Self.items).replacing("name: string?", with: "name: string?, title: string?"),
            Self.yaml(Self.items + "\n" + Self.others),
            Self.yaml(Self.items.replacing("items:", with: "all:") + "\n" + Self.others),
        ] {
            #expect(try await first.edited(edited).sync(base).unlisted.isEmpty)
            #expect(try known(first).isEmpty)
        }
    }

    @Test("records that a list has again count no longer, and a failed sync leaves the count to the next one")
    func returned() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items))
        try await first.sync(base)
        let second = try first.edited(Self.yaml(Self.open))
        #expect(try await second.sync("http://127.0.0.1:1").unlisted.isEmpty)
        #expect(try known(second).isEmpty)
        #expect(try await second.sync(base).unlisted == ["Item": 2])
        #expect(try await first.sync(base).unlisted.isEmpty)
        #expect(try known(first).isEmpty)
        // Nor are they removed.
        let cache = try RecordCache(first.description, store: try first.open(), transport: MirrorStore.impatient())
        #expect(try await cache.collect(roots: [], isDryRun: false).deleted == 0)
        #expect(try first.count("Item") == 3)
    }

    @Test("two descriptions that take turns are told apart: the same records are not counted at every sync")
    func inTurn() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items))
        let second = try first.edited(Self.yaml(Self.open))
        var counts: [Int] = []
        for _ in 0..<4 {
            for store in [first, second] { counts.append(try await store.sync(base).unlisted["Item"] ?? 0) }
        }
        #expect(counts.suffix(4) == [0, 0, 0, 0], "\(counts)")
    }

    @Test("a description is known in every working directory, and after it was moved together with the store")
    func samePlace() throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", "x")
        #expect(RequestedLists.place(of: file, seenFrom: folder.path + "/store.tarn") == "../tarn.yaml")
        #expect(RequestedLists.place(of: "none.yaml", seenFrom: folder.path + "/store.tarn") == "none.yaml")
        #expect(RequestedLists.place(of: file, seenFrom: folder.path + "/a/store.tarn") == "../../tarn.yaml")
    }

    @Test("the sync of one account counts no records of the lists that another one had before the edit")
    func accounts() async throws {
        let yaml = itemsYAML(api: "  auth: { bearer: { env: TOKEN } }")
        let first = try MirrorStore(yaml: yaml)
        func sync(_ store: MirrorStore, _ token: String, _ ids: [Int], _ path: String) async throws -> [String: Int] {
            let report = try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([ids], path: path)), environment: ["TOKEN": token])
            #expect(report.failures.isEmpty, "\(report.texts)")
            return report.unlisted
        }
        #expect(try await sync(first, "a", [1, 2, 4], "/items").isEmpty)
        #expect(try await sync(first, "b", [2, 3], "/items").isEmpty)
        let second = try first.edited(yaml.replacing("/items", with: "/some"))
        #expect(try await sync(second, "a", [1], "/some") == ["Item": 1])
        #expect(try known(second) == ["Item": 1])
    }

    @Test("pages of a scan that was interrupted before the edit, and goes on after it, are in a list")
    func interrupted() async throws {
        let pages = writtenPages([[1, 2], [3]])
        func yaml(_ limit: Int) -> String { itemsYAML("paginate: header_link\n    limit: { records: \(limit) }") }
        let first = try MirrorStore(yaml: yaml(10))
        #expect(try await !first.sync(nil, transport: try WrittenTransport([pages[0]])).failures.isEmpty)
        let report = try await first.edited(yaml(20)).sync(nil, transport: try WrittenTransport(pages))
        #expect(report.failures.isEmpty && report.unlisted.isEmpty, "\(report.texts) \(report.unlisted)")
    }

    @Test("lists of fewer owners leave the records of the others without a list; created records never count")
    func fewerOwners() async throws {
        func endpoints(_ path: String) -> String {
            """
            owners: { path: \(path), entity: Owner, paginate: single_page }
            items: { path: '/owners/{owner.id}/items', entity: Item, paginate: single_page, for_each: Owner }
            """
        }
        let server = try LocalServer(
            Self.server + [
                recording("/v1/owners/7/items", #"[{"id":1}]"#), recording("/v1/owners/8/items", #"[{"id":2}]"#),
            ])
        let base = server.base + "/v1", first = try MirrorStore(yaml: Self.yaml(endpoints("/owners")))
        try await first.sync(base)
        try await first.open().write { try $0.put("Item", RecordKey(9), []) }
        let second = try first.edited(Self.yaml(endpoints("/some")))
        #expect(try await second.sync(base).unlisted == ["Owner": 1])
        #expect(try known(second) == ["Owner": 1])
    }

    @Test("an endpoint that always fails holds back the count of the records that it may list, and of no others")
    func failing() async throws {
        func endpoints(_ items: String, _ owners: String) -> String {
            items + "\nowners: { path: \(owners), entity: Owner, paginate: single_page }"
        }
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(endpoints(Self.items, "/owners")))
        try await first.sync(base)
        let second = try first.edited(Self.yaml(endpoints(Self.open, "/missing")))
        for found in [["Item": 2], [:]] {
            let report = try await second.sync(base)
            #expect(!report.failures.isEmpty && report.unlisted == found, "\(report.texts)")
            #expect(report.unlistedSoFar == ["Owner": 2])
            #expect(try known(second) == ["Item": 2])
        }
        let third = try first.edited(Self.yaml(endpoints(Self.open, "/some")))
        let report = try await third.sync(base)
        #expect(report.failures.isEmpty && report.unlisted == ["Owner": 1] && report.unlistedSoFar.isEmpty)
        #expect(try known(third) == ["Item": 2, "Owner": 1])
    }

    @Test("records that wait for a list are told without those that a complete list has")
    func waiting() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items + "\n" + Self.others))
        try await first.sync(base)
        let failing = Self.others.replacing("/others", with: "/missing")
        let report = try await first.edited(Self.yaml(Self.open + "\n" + failing)).sync(base)
        #expect(!report.failures.isEmpty && report.unlisted.isEmpty, "\(report.texts)")
        #expect(report.unlistedSoFar == ["Item": 2])
    }

    @Test("lists of unchanged records that an edit leaves as they are, and that are not requested, keep their records")
    func onlyChanged() async throws {
        let yaml = Self.yaml(
            """
            owners: { path: /owners, entity: Owner, paginate: single_page }
            items:
              path: '/owners/{owner.id}/items'
              entity: Item
              paginate: single_page
              for_each: { entity: Owner, only: changed }
            """)
        let server = try LocalServer(
            Self.server + [
                recording("/v1/owners/7/items", #"[{"id":1}]"#), recording("/v1/owners/8/items", #"[{"id":2}]"#),
            ])
        let base = server.base + "/v1", first = try MirrorStore(yaml: yaml)
        try await first.sync(base)
        let rule = "responses: [{ status: 404, then: ignore }]"
        let second = try first.edited(yaml.replacing("for_each:", with: rule + "\n    for_each:"))
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.unlisted.isEmpty, "\(report.texts) \(report.unlisted)")
        #expect(report.endpoint("items")?.unchangedParents == 2)
        #expect(try known(second).isEmpty)
    }

    @Test("an upgrade from a version that did not compare rules for responses is no edit")
    func upgraded() throws {
        let rule = ", responses: [{ status: 404, then: ignore }] }"
        let store = try MirrorStore(yaml: Self.yaml(Self.items.replacing(" }", with: rule)))
        let lists = RequestedLists(
            try APIClient(store.description, store: try store.open(), transport: MirrorStore.impatient()))
        let former = try #require(lists.formerDigests["items"]), now = Timestamp(microseconds: 1)
        let line = lists.lines(after: ["items": RequestedLists.Line(former)], nil, now: now)["items"]
        #expect(line?.digest != former && line == lists.lines(after: [:], nil, now: now)["items"])
    }

    @Test("records that a list of changes from a value on does not request any more are counted")
    func onlyChanges() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items))
        try await first.sync(base)
        let since = ", since: { param: since, field: rev, initial: '20' } }"
        let second = try first.edited(Self.yaml(Self.items.replacing(" }", with: since)))
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.unlisted == ["Item": 2], "\(report.texts) \(report.unlisted)")
        #expect(try known(second) == ["Item": 2])
    }

    @Test("records of a page that a further rule takes for an empty one are counted")
    func emptied() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(Self.items))
        try await first.sync(base)
        let rule = ", responses: [{ contains: '\"id\":3', then: empty }] }"
        let second = try first.edited(Self.yaml(Self.items.replacing(" }", with: rule)))
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.unlisted == ["Item": 3], "\(report.texts)")
    }
}
