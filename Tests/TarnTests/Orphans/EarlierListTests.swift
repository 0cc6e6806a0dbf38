// Lists that an endpoint had before: their records are counted, and their responses removed.

import Tarn
import TarnStore
import TestSupport
import Testing

@Suite("Mirror: lists that an endpoint had before", .timeLimit(.minutes(5)))
struct EarlierListTests {
    private static let single = "path: /items"
    private static let ofBoxes = "path: '/boxes/{box.id}/items', for_each: { entity: Box, parent: box }"

    private static func yaml(
        _ items: String, id: String = "int", name: String = "string", orphans: String = "after_one_scan"
    ) -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Box: { key: id, attributes: { id: int } }
          Item: { key: id, attributes: { id: \(id), name: \(name) }, relationships: { box: Box } }
        endpoints:
          boxes: { path: /boxes, entity: Box, paginate: header_link, orphans: after_one_scan }
          items: { \(items), entity: Item, paginate: header_link, orphans: \(orphans) }
        """
    }

    /// A second list of items, whose orphans stay.
    private static let others = "\n  others: { path: /others, entity: Item, paginate: header_link }"

    /// Changes the description of a store.
    private func describe(_ store: inout MirrorStore, _ yaml: String) throws {
        let path = store.path
        store.description = try Description.parse(yaml, file: "tarn.yaml")
        store.description.storePath = path
    }

    /// A sync of boxes and of the items at paths.
    private func sync(
        _ store: MirrorStore, boxes: [Int] = [1], _ items: [String: [Int]]
    ) async throws -> SyncReport {
        let pages = items.flatMap { writtenPages([$0.value], path: $0.key) }
        return try await store.sync(nil, transport: try WrittenTransport(writtenPages([boxes], path: "/boxes") + pages))
    }

    private func unlisted(_ report: SyncReport) -> Int? { report.endpoint("items")?.unlisted }
    private func ofFormerLists(_ report: SyncReport) -> Int? { report.endpoint("items")?.ofFormerLists }

    /// The paths of the stored responses.
    private func responses(_ store: MirrorStore) throws -> [String] {
        try store.read { reader in
            var paths: [String] = []
            try reader.access.responses.forEach { view in
                if let url = view.entry?.request.url {
                    paths.append(url.replacing("https://api.test.example/v1", with: ""))
                }
                return true
            }
            return paths.sorted()
        }
    }

    // MARK: Earlier descriptions

    @Test(
        "after a change of the request or of keys, one scan counts the records that are in no list now",
        arguments: [true, false])
    func changed(isRequest: Bool) async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        #expect(unlisted(try await sync(store, ["/items": [10, 11, 12]])) == 0)
        let changed =
            isRequest
            ? Self.yaml(Self.single + ", with: { a: b }")
            : Self.yaml(Self.single, id: "{ type: int, from: [number, id] }")
        try describe(&store, changed)
        let path = isRequest ? "/items?a=b" : "/items"
        let report = try await sync(store, [path: [10, 12]])
        #expect(unlisted(report) == 1 && found(report) == [:])
        #expect(unlisted(try await sync(store, [path: [10]])) == 0)
        // Of the list as it is now, orphans are looked for.
        #expect(try store.items() == [10, 11])
        #expect(try store.read { try $0.access.scans.count } == 2)
    }

    @Test(
        "after a change of other fields or of indexes, orphans of what earlier scans have listed are found",
        arguments: [Self.single, Self.ofBoxes],
        ["{ type: string, from: [title, name] }", "{ type: string, index: true, unique: true }"])
    func changedFields(list: String, name: String) async throws {
        var store = try MirrorStore(yaml: Self.yaml(list, orphans: "after_two_scans"))
        let path = list == Self.single ? "/items" : "/boxes/1/items"
        _ = try await sync(store, [path: [10, 11, 12]])
        #expect(found(try await sync(store, [path: [10, 12]])) == ["candidates": 1, "waiting": 1])
        try describe(&store, Self.yaml(list, name: name, orphans: "after_two_scans"))
        let report = try await sync(store, [path: [10]])
        #expect(found(report) == ["candidates": 2, "waiting": 1, "deleted": 1] && unlisted(report) == 0)
        #expect(try store.items() == [10, 12])
        #expect(found(try await sync(store, [path: [10]])) == ["candidates": 1, "deleted": 1])
    }

    @Test(
        "after a change of an entity's rules for values, orphans of what earlier scans have listed are found",
        arguments: ["duplicates: first_wins", "local: server", "version: name"])
    func changedRules(rule: String) async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        let changed = Self.yaml(Self.single).replacing("  Item: { key: id,", with: "  Item: { key: id, \(rule),")
        try describe(&store, changed)
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 12])
    }

    @Test("after a change of a rule by the text of a body, orphans of what earlier scans have listed are found")
    func changedResponseRule() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        let changed = Self.yaml(Self.single).replacing(
            "example/v1 }", with: "example/v1, responses: [{ contains: maintenance, then: fail }] }")
        try describe(&store, changed)
        #expect(store.description.api.responses.count == 1)
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 12])
    }

    @Test("so they are after a change of a rule of another API of the file")
    func changedRuleOfOtherAPI() async throws {
        func yaml(_ rule: String) -> String {
            let api = "{ base: https://api.test.example/v1 }"
            return Self.yaml(Self.single).replacing(
                "api: \(api)", with: "apis: { one: \(api), other: { base: https://other.example\(rule) } }")
        }
        var store = try MirrorStore(yaml: yaml(""))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, yaml(", responses: [{ contains: maintenance, then: fail }]"))
        #expect(store.description.furtherAPIs.first?.api.responses.count == 1)
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 12])
    }

    @Test(
        "after a change of the header fields of a request, no record that only the list before had is an orphan")
    func changedHeaders() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single + ", headers: { X-View: all }"))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single + ", headers: { X-View: open }"))
        let report = try await sync(store, ["/items": [10, 12]])
        #expect(unlisted(report) == 1 && found(report) == [:])
        #expect(try store.items() == [10, 11, 12])
    }

    @Test("after a change of the path of the records, no record that only the list before had is an orphan")
    func changedRecords() async throws {
        let body = #"{"all":[{"id":10,"name":"a"},{"id":11,"name":"b"}],"open":[{"id":10,"name":"a"}]}"#
        let transport = ClosureTransport { request in
            TransportResponse(status: 200, body: Array((request.url.hasSuffix("/items") ? body : "[]").utf8))
        }
        var store = try MirrorStore(yaml: Self.yaml(Self.single + ", records: all"))
        _ = try await store.sync(nil, transport: transport)
        #expect(try store.items() == [10, 11])
        try describe(&store, Self.yaml(Self.single + ", records: open"))
        let report = try await store.sync(nil, transport: transport)
        #expect(unlisted(report) == 1 && found(report) == [:])
        #expect(try store.items() == [10, 11])
    }

    @Test("an edit that is taken back before the list could be requested leaves the orphans to be found")
    func takenBack() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single, name: "{ type: string, from: [title, name] }"))
        let cut = try await sync(store, [:])
        #expect(cut.failures.count == 1)
        try describe(&store, Self.yaml(Self.single))
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10, 12] && store.read { try $0.access.scans.count } == 3)
    }

    @Test("a rule for orphans that is taken out and set again finds those of the scans before")
    func ruleTakenOut() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single, orphans: "keep"))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single))
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
    }

    @Test("a rule for orphans that is set again with another request counts the records of the lists before")
    func ruleTakenOutAndRequestChanged() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single, orphans: "keep"))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }"))
        #expect(unlisted(try await sync(store, ["/items?a=b": [10, 12]])) == 1)
    }

    /// Gives the members of the items the name that depends on the whole description.
    private func nameAsBefore(_ store: MirrorStore) async throws {
        var list = try #require(try store.checkpoint("items"))
        let members = try #require(list.members), identity = try #require(members.split(separator: " ").first)
        let former = "\(identity) \(list.plan)"
        #expect(former != members)
        (list.members, list.listing) = (former, nil)
        try await store.open().write { [list] writer in
            _ = try writer.moveScanMembers(of: members, to: former, limit: 1000, numberedAlike: true)
            try writer.setCheckpoint("items", list)
        }
    }

    @Test("the members of a store from before they had the name of what is listed are found")
    func olderStore() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try await nameAsBefore(store)
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "deleted": 1])
        // Box 1, and the items that are left.
        #expect(try store.items() == [10, 12] && store.read { try $0.access.scans.count } == 3)
    }

    @Test("a scan that a process of an earlier version has begun is continued: what it has listed is no orphan")
    func continuedFromEarlierVersion() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        let members = try #require(try store.checkpoint("items")?.members)
        let boxes = writtenPages([[1]], path: "/boxes")
        let first = recording(
            "/v1/items", #"[{"id":10,"name":"n"}]"#, "Link: <https://api.test.example/v1/items?page=2>; rel=\"next\"")
        let cut = try await store.sync(nil, transport: try WrittenTransport(boxes + [first]))
        #expect(cut.failures.count == 1)
        // The earlier version has noted the first page under its name, and nothing under this one.
        var list = try #require(try store.checkpoint("items"))
        let identity = try #require(members.split(separator: " ").first), former = "\(identity) \(list.plan)"
        let root = try #require(try store.open().catalog.entity("Item")?.root)
        let item = ListedRecord(entity: root, storageKey: RecordKey(10).storageKey)
        (list.members, list.listing) = (former, nil)
        try await store.open().write { [list] writer in
            try writer.noteListed([item], of: former, scan: list.scan)
            try writer.putScanMember(ScanMember(item, lastListed: list.scan - 1), of: members)
            try writer.setCheckpoint("items", list)
        }
        let rest = recording("/v1/items?page=2", #"[{"id":12,"name":"n"}]"#)
        let report = try await store.sync(nil, transport: try WrittenTransport(boxes + [first, rest]))
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == [10, 12])
    }

    @Test("records of a store from before members had the name of what is listed were missed by as many scans as then")
    func olderStoreMissedScans() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.single, orphans: "after_two_scans"))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        #expect(found(try await sync(store, ["/items": [10, 12]])) == ["candidates": 1, "waiting": 1])
        try await nameAsBefore(store)
        let report = try await sync(store, ["/items": [10]])
        #expect(found(report) == ["candidates": 2, "waiting": 1, "deleted": 1])
        #expect(try store.items() == [10, 12])
    }

    @Test("a scan that is interrupted after the change is followed by one that counts")
    func interrupted() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }"))
        let link = "Link: <https://api.test.example/v1/items?a=b&page=2>; rel=\"next\""
        let boxes = writtenPages([[1]], path: "/boxes"),
            first = recording("/v1/items?a=b", #"[{"id":10,"name":"n"}]"#, link)
        let cut = try await store.sync(nil, transport: try WrittenTransport(boxes + [first]))
        #expect(cut.failures.count == 1 && unlisted(cut) == 0)
        let rest = recording("/v1/items?a=b&page=2", #"[{"id":12,"name":"n"}]"#)
        let report = try await store.sync(nil, transport: try WrittenTransport(boxes + [first, rest]))
        #expect(report.failures.isEmpty && unlisted(report) == 1, "\(report.texts)")
        #expect(try store.items() == [10, 11, 12])
    }

    @Test("a record that another list has is in a list, and records that are kept are not counted")
    func counted() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        _ = try await sync(store, boxes: [1, 2], ["/boxes/1/items": [10, 11], "/boxes/2/items": [20, 21]])
        try describe(&store, Self.yaml(Self.ofBoxes, id: "{ type: int, from: [number, id] }"))
        // Item 11 has moved; item 21 is gone.
        let report = try await sync(store, boxes: [1, 2], ["/boxes/1/items": [10], "/boxes/2/items": [20, 11]])
        #expect(unlisted(report) == 1 && found(report) == [:])
        var kept = try MirrorStore(yaml: Self.yaml(Self.single, orphans: "keep"))
        _ = try await sync(kept, ["/items": [10, 11]])
        try describe(&kept, Self.yaml(Self.single + ", with: { a: b }", orphans: "keep"))
        #expect(unlisted(try await sync(kept, ["/items?a=b": [10]])) == 0)
    }

    @Test("an interrupted scan of such a store goes on, and finds the orphans")
    func olderStoreInterrupted() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        let boxes = writtenPages([[1]], path: "/boxes"), pages = writtenPages([[10], [12]])
        let cut = try await store.sync(nil, transport: try WrittenTransport(boxes + pages.prefix(1)))
        #expect(cut.failures.count == 1)
        try await nameAsBefore(store)
        let report = try await store.sync(nil, transport: try WrittenTransport(boxes + pages))
        #expect(found(report) == ["candidates": 1, "deleted": 1] && unlisted(report) == 0)
        #expect(try report.endpoint("items")?.isResumed == true && store.items() == [10, 12])
    }

    @Test("a rule that comes back after another request finds no orphans of the scans before it was taken out")
    func ruleTakenOutBeforeChange() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single, orphans: "keep"))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }", orphans: "keep"))
        _ = try await sync(store, ["/items?a=b": [10]])
        // Box 1: nothing would report the members of the items. Two of these are in no list now.
        #expect(try store.read { try $0.access.scans.count } == 3)
        try describe(&store, Self.yaml(Self.single))
        #expect(found(try await sync(store, ["/items": [10]])) == [:])
        #expect(try store.items() == [10, 11, 12])
    }

    @Test("after each of two changes, the records that the list before it had are counted")
    func changedTwice() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11, 12]])
        var counts: [Int?] = []
        for (value, ids) in [("b", [10, 12]), ("c", [10])] {
            try describe(&store, Self.yaml(Self.single + ", with: { a: \(value) }"))
            counts.append(unlisted(try await sync(store, ["/items?a=\(value)": ids])))
        }
        #expect(counts == [1, 1])
    }

    @Test("the pages of a list with an initial value from before a change put no record in a list")
    func changedWithInitialValue() async throws {
        let since = ", since: { param: since, field: id, initial: '0' }"
        var store = try MirrorStore(yaml: Self.yaml(Self.single + since))
        _ = try await sync(store, ["/items?since=0": [10, 11, 12]])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }" + since))
        let report = try await sync(store, ["/items?a=b&since=0": [10, 12]])
        #expect(report.failures.isEmpty && unlisted(report) == 1, "\(report.texts)")
    }

    @Test("after a change, records that the list never had are not counted")
    func neverListed() async throws {
        var store = try MirrorStore(
            yaml: Self.yaml(Self.single, orphans: "{ scope: entity, after: two_scans }") + Self.others)
        _ = try await sync(store, ["/items": [10], "/others": [10, 30]])
        _ = try await sync(store, ["/items": [10], "/others": [10]])
        // The rule has noted item 30, beside box 1 and item 10.
        #expect(try store.items() == [10, 30] && store.read { try $0.access.scans.count } == 3)
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }") + Self.others)
        #expect(unlisted(try await sync(store, ["/items?a=b": [10], "/others": [10]])) == 0)
        #expect(try store.items() == [10, 30])
    }

    @Test("a page that another list has lost puts no record in a list")
    func lostPageOfAnotherList() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single) + Self.others)
        func scan(_ items: String, _ ids: [Int], others: [[Int]]) async throws -> SyncReport {
            let pages = writtenPages([ids], path: items) + writtenPages(others, path: "/others")
            return try await store.sync(
                nil, transport: try WrittenTransport(writtenPages([[1]], path: "/boxes") + pages))
        }
        _ = try await scan("/items", [10, 11], others: [[20], [11]])
        _ = try await scan("/items", [10, 11], others: [[20]])
        #expect(try responses(store) == ["/boxes", "/items", "/others", "/others?page=2"])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }") + Self.others)
        #expect(unlisted(try await scan("/items?a=b", [10], others: [[20]])) == 1)
    }

    // MARK: Lists that are no longer requested

    @Test("after for_each has become a single list, its lists keep no records, and their responses are removed")
    func fromSeveralLists() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        _ = try await sync(store, ["/boxes/1/items": [10, 11]])
        try describe(&store, Self.yaml(Self.single))
        #expect(found(try await sync(store, ["/items": [10, 11]])) == [:])
        // Until a complete scan has begun after the responses, another description may use them.
        let report = try await sync(store, ["/items": [10]])
        #expect(found(report) == ["candidates": 1, "elsewhere": 1] && ofFormerLists(report) == 0)
        #expect(try responses(store) == ["/boxes", "/items"])
        #expect(found(try await sync(store, ["/items": [10]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [10] && store.checkpoint("items 1") == nil)
    }

    @Test("a dry run removes neither the progress nor the responses of lists that are no longer requested")
    func dryRun() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        _ = try await sync(store, ["/boxes/1/items": [10, 11]])
        try describe(&store, Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11]])
        let before = try responses(store)
        #expect(before == ["/boxes", "/boxes/1/items", "/items"])
        let transport = try WrittenTransport(
            writtenPages([[1]], path: "/boxes") + writtenPages([[10, 11]], path: "/items"))
        let report = try await store.sync(nil, transport: transport) { $0.isDryRun = true }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try responses(store) == before && store.checkpoint("items 1") != nil)
    }

    @Test("after a single list has become for_each, it keeps no records, and its responses are removed")
    func toSeveralLists() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11]])
        try describe(&store, Self.yaml(Self.ofBoxes))
        #expect(found(try await sync(store, ["/boxes/1/items": [10, 11]])) == [:])
        #expect(found(try await sync(store, ["/boxes/1/items": [10]])) == ["candidates": 1, "deleted": 1])
        #expect(try responses(store) == ["/boxes", "/boxes/1/items"] && store.checkpoint("items") == nil)
    }

    @Test("a list that is no longer requested leaves no members of the description before its last one")
    func toSeveralListsAfterChange() async throws {
        var store = try MirrorStore(yaml: Self.yaml(Self.single))
        _ = try await sync(store, ["/items": [10, 11]])
        try describe(&store, Self.yaml(Self.single + ", with: { a: b }"))
        let link = "Link: <https://api.test.example/v1/items?a=b&page=2>; rel=\"next\""
        let first = recording("/v1/items?a=b", #"[{"id":10,"name":"n"}]"#, link)
        let cut = try await store.sync(
            nil, transport: try WrittenTransport(writtenPages([[1]], path: "/boxes") + [first]))
        #expect(cut.failures.count == 1)
        #expect(try store.checkpoint("items")?.earlierMembers != nil)
        try describe(&store, Self.yaml(Self.ofBoxes))
        var counts: [Int?] = []
        for _ in 0..<3 { counts.append(ofFormerLists(try await sync(store, ["/boxes/1/items": [10]]))) }
        #expect(counts.compactMap(\.self).reduce(0, +) == 1 && counts.last == 0)
        // Box 1 and item 10.
        #expect(try store.checkpoint("items") == nil && store.read { try $0.access.scans.count } == 2)
    }

    @Test("lists of deleted records are removed after two complete scans, and the records that stay are counted once")
    func ofDeletedRecords() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        let both = ["/boxes/1/items": [10], "/boxes/2/items": [20, 21]]
        _ = try await sync(store, boxes: [1, 2], both)
        #expect(try store.checkpoint("items 2") != nil)
        var counts: [Int?] = []
        for _ in 0..<3 { counts.append(ofFormerLists(try await sync(store, both))) }
        #expect(counts.compactMap(\.self).reduce(0, +) == 2 && counts.last == 0)
        #expect(try responses(store) == ["/boxes", "/boxes/1/items"] && store.checkpoint("items 2") == nil)
        #expect(try store.items() == [10, 20, 21] && store.read { try $0.access.scans.count } == 2)
        // The record comes back: its list is requested as any new one.
        let report = try await sync(store, boxes: [1, 2], both)
        #expect(report.failures.isEmpty && report.endpoint("items")?.pages == 2, "\(report.texts)")
    }

    @Test("a sync in which a list fails removes no list that is no longer requested; the next one does")
    func ofDeletedRecordsAfterFailure() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        let both = ["/boxes/1/items": [10], "/boxes/2/items": [20, 21]]
        _ = try await sync(store, boxes: [1, 2], both)
        _ = try await sync(store, both)
        let refused = recording("/v1/boxes/1/items", "{}", status: "401 Unauthorized")
        let report = try await store.sync(
            nil, transport: try WrittenTransport(writtenPages([[1]], path: "/boxes") + [refused]))
        #expect(report.failures.count == 1 && ofFormerLists(report) == 0, "\(report.texts)")
        #expect(try store.checkpoint("items 2") != nil && responses(store).contains("/boxes/2/items"))
        #expect(ofFormerLists(try await sync(store, both)) == 2)
        #expect(try store.checkpoint("items 2") == nil && responses(store) == ["/boxes", "/boxes/1/items"])
    }

    @Test("the failure of a list that the server does not have names the way out")
    func gone() async throws {
        let store = try MirrorStore(yaml: Self.yaml(Self.ofBoxes))
        let gone = recording("/v1/boxes/1/items", "{}", status: "404 Not Found")
        let transport = try WrittenTransport(writtenPages([[1]], path: "/boxes") + [gone])
        let report = try await store.sync(nil, transport: transport)
        #expect(
            report.texts.contains { $0.contains("skipped 1 Box") && $0.contains("tarn cache purge") }, "\(report.texts)"
        )
    }
}
