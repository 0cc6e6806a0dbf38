// Records that the server no longer lists.

import Foundation
import Synchronization
import Tarn
import Testing

@Suite("Mirror: orphans")
struct MirrorOrphanTests {
    private func store(_ orphans: String = "after_two_scans", attributes: String = "") throws -> MirrorStore {
        try MirrorStore(yaml: itemsYAML("paginate: header_link\n    orphans: \(orphans)", attributes: attributes))
    }

    @Test(
        "a record goes when a second complete scan misses it too; the report says so, and pages that are answered 304 still list theirs"
    )
    func twoScans() async throws {
        let store = try store()
        #expect(found(try await store.scan([[1, 2], [3, 4], [5]])) == [:])
        let first = try await store.scan([[1, 2], [4], [5]])
        #expect(found(first) == ["candidates": 1, "waiting": 1] && first.notModified == 2)
        #expect(try store.items() == [1, 2, 3, 4, 5])
        let second = try await store.scan([[1, 2], [4], [5]])
        #expect(found(second) == ["candidates": 1, "deleted": 1] && second.notModified == 3)
        #expect(second.orphans?.records == ["Item 3"] && second.report.entities["Item"]?.deleted == 1)
        #expect(try store.items() == [1, 2, 4, 5])
        let third = try await store.scan([[1, 2], [4], [5]])
        #expect(found(third) == [:] && third.notModified == 3)
    }

    @Test("after a repair that removed a damaged checkpoint, the next scan still finds what it misses")
    func lostCheckpoint() async throws {
        let store = try store("after_one_scan")
        for _ in 0..<3 { try await store.scan([[1, 2, 3]]) }
        let opened = try store.open()
        try await opened.write { try $0.removeCheckpoint("items") }
        #expect(found(try await store.scan([[1, 2]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 2])
    }

    @Test(
        "a record's own detail does not keep it: it goes when its list misses it, and is not requested again",
        arguments: ["after_one_scan", "{ scope: entity, after: one_scan }"])
    func ownDetail(rule: String) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: header_link
                    orphans: \(rule)
                    children: { detail: { path: '/items/{id}', paginate: single_page } }
                """))
        func details(_ ids: [Int]) -> [String] {
            ids.map { recording("/v1/items/\($0)", #"{"id":\#($0),"name":"detail"}"#, "ETag: \"d\($0)\"") }
        }
        #expect(found(try await store.scan([[1, 2, 3]], and: details([1, 2, 3]))) == [:])
        // The detail of 2 would be answered with 404.
        let report = try await store.scan([[1, 3]], and: details([1, 3]))
        #expect(found(report) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 3])
        #expect(found(try await store.scan([[1, 3]], and: details([1, 3]))) == [:])
    }

    @Test("a record's own details do not keep it, whatever the partitions of their endpoint are")
    func ownDetailsOfPartitions() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: header_link
                    orphans: after_one_scan
                  details:
                    path: '/items/{item.id}/{language}'
                    for_each: Item
                    partitions: { language: [de, en] }
                    entity: Item
                    paginate: single_page
                """))
        func details(_ ids: [Int]) -> [String] {
            ids.flatMap { id in
                ["de", "en"].map { recording("/v1/items/\(id)/\($0)", #"{"id":\#(id),"name":"\#($0)"}"#) }
            }
        }
        #expect(found(try await store.scan([[1, 2, 3]], and: details([1, 2, 3]))) == [:])
        #expect(found(try await store.scan([[1, 3]], and: details([1, 3]))) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 3])
    }

    @Test("a detail of one record that lists another one keeps the other")
    func othersDetail() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: header_link
                    orphans: after_one_scan
                    children: { related: { path: '/items/{id}/related', paginate: single_page } }
                """))
        func related(_ ids: [Int]) -> [String] {
            ids.map { recording("/v1/items/\($0)/related", #"[{"id":2,"name":"related"}]"#) }
        }
        try await store.scan([[1, 2]], and: related([1, 2]))
        #expect(found(try await store.scan([[1]], and: related([1, 2]))) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 2])
    }

    @Test("without a rule nothing is looked for, and nothing goes")
    func noRule() async throws {
        let store = try MirrorStore(yaml: itemsYAML())
        for pages in [[[1, 2]], [[1]], [[1]]] { #expect(try await store.scan(pages).orphans == nil) }
        #expect(try store.items() == [1, 2])
    }

    @Test("a record that is listed again in between was only overlooked: it counts from the beginning")
    func overlooked() async throws {
        let store = try store()
        for (pages, waiting) in [([[1, 2], [3]], 0), ([[1], [3]], 1), ([[1, 2], [3]], 0), ([[1], [3]], 1)] {
            #expect(try await store.scan(pages).orphans?.waiting ?? 0 == waiting)
            #expect(try store.items() == [1, 2, 3])
        }
        #expect(found(try await store.scan([[1], [3]])) == ["candidates": 1, "deleted": 1])
    }

    @Test("an endpoint with stable pages needs one scan")
    func oneScan() async throws {
        let store = try store("after_one_scan")
        try await store.scan([[1, 2], [3]])
        #expect(found(try await store.scan([[1]])) == ["candidates": 2, "deleted": 2])
        #expect(try store.items() == [1])
    }

    @Test("a scan that fails, or that cannot read a record, says nothing about what is missing")
    func incompleteScans() async throws {
        let store = try store("after_one_scan")
        try await store.scan([[1, 2], [3, 4]])
        // The second page is not there.
        let cut = try await store.sync(nil, transport: try WrittenTransport([writtenPages([[1], [4]])[0]]))
        #expect(cut.failures.count == 1 && cut.orphans == nil)
        #expect(try store.items() == [1, 2, 3, 4])
        // It resumes with the second page, and is complete then.
        let resumed = try await store.scan([[1], [4]])
        #expect(resumed.endpoints.first?.isResumed == true && found(resumed) == ["candidates": 2, "deleted": 2])
        #expect(try store.items() == [1, 4])
        let broken = recording("/v1/items", #"[{"id":1,"name":"n"},{"name":"no key"}]"#, "ETag: \"broken\"")
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: try WrittenTransport([broken]))
            #expect(
                report.orphans?.refusals.first?.contains("unreadable records in the scan: 1") == true
                    && found(report) == [:])
        }
        #expect(try store.items() == [1, 4])
    }

    @Test(
        "an unreadable element counts as well behind a record that is marked as deleted, also on the page before",
        arguments: [
            [#"{"id":4,"gone":true},"x""#, #"{"id":2,"name":"n"}"#],
            [#"{"id":4,"gone":true}"#, #""x",{"id":2,"name":"n"}"#],
        ])
    func unreadableBehindDeleted(pages: [String]) async throws {
        let store = try store("after_one_scan", attributes: "    deleted: gone")
        try await store.scan([[1, 2], [3, 4]])
        let link = "Link: <https://api.test.example/v1/items?page=2>; rel=\"next\""
        let written = [
            recording("/v1/items", #"[{"id":1,"name":"n"},\#(pages[0])]"#, link),
            recording("/v1/items?page=2", "[\(pages[1])]"),
        ]
        let report = try await store.sync(nil, transport: try WrittenTransport(written))
        let refusal = report.orphans?.refusals.first
        #expect(refusal?.contains("unreadable records in the scan: 1") == true && found(report) == [:], "\(report)")
        #expect(try store.items() == [1, 2, 3])
    }

    @Test("a scan that lists nothing is refused, unless the description allows it", arguments: [false, true])
    func empty(isAllowed: Bool) async throws {
        let store = try store("{ after: one_scan, allow_empty: \(isAllowed) }")
        try await store.scan([[1, 2]])
        let report = try await store.scan([[]])
        #expect(
            report.orphans?.refusals.first
                == (isAllowed ? nil : "the scan lists no records; set allow_empty: true if that is possible"))
        #expect(try store.items() == (isAllowed ? [] : [1, 2]))
    }

    private static let twoLists = """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, name: string } }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link, orphans: after_one_scan }
          others: { path: /others, entity: Item }
        """

    @Test("a record that another response lists never goes; it does when that does not list it any more")
    func listedElsewhere() async throws {
        let store = try MirrorStore(yaml: Self.twoLists)
        func scan(_ items: [[Int]], _ others: [Int]) async throws -> SyncReport {
            try await store.scan(items, and: writtenPages([others], path: "/others"))
        }
        _ = try await scan([[1, 2], [3]], [3, 4])
        // It may have moved to the other list, which is scanned after this one.
        #expect(found(try await scan([[1], [9]], [3, 4])) == ["candidates": 2, "waiting": 1, "elsewhere": 1])
        #expect(found(try await scan([[1], [9]], [3, 4])) == ["candidates": 2, "deleted": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 3, 4, 9])
        // The next scan sees the removals of the other list.
        #expect(found(try await scan([[1], [9]], [4])) == ["candidates": 1, "elsewhere": 1])
        #expect(found(try await scan([[1], [9]], [4])) == ["candidates": 1, "waiting": 1])
        #expect(found(try await scan([[1], [9]], [4])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 4, 9])
    }

    @Test("a page of another list that its last scan did not reach keeps no record, and the others do")
    func pageOfShorterList() async throws {
        let store = try MirrorStore(
            yaml: Self.twoLists.replacing(
                "others: { path: /others, entity: Item }",
                with: "others: { path: /others, entity: Item, paginate: header_link }"))
        func scan(_ items: [Int], _ others: [[Int]]) async throws -> SyncReport {
            try await store.scan([items], and: writtenPages(others, path: "/others"))
        }
        _ = try await scan([1, 2, 3], [[5], [2], [3]])
        // The others are scanned after the orphans: their last pages still count.
        #expect(found(try await scan([1], [[5], [2]])) == ["candidates": 2, "elsewhere": 2])
        // The second page of the others was reached again, the third one was not.
        #expect(found(try await scan([1], [[5], [2]])) == ["candidates": 2, "waiting": 1, "elsewhere": 1])
        #expect(found(try await scan([1], [[5], [2]])) == ["candidates": 2, "deleted": 1, "elsewhere": 1])
        #expect(try store.items() == [1, 2, 5])
        _ = try await scan([1], [[5]])
        #expect(found(try await scan([1], [[5]])) == ["candidates": 1, "waiting": 1])
        #expect(found(try await scan([1], [[5]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1, 5])
    }

    @Test("the answer of a page that is no more does not keep its records, and goes with them")
    func vanishedPages() async throws {
        let store = try store("after_one_scan")
        try await store.scan([[1, 2], [3, 4], [5, 6]])
        #expect(try store.read { try $0.responseCount } == 3)
        #expect(found(try await store.scan([[1, 2], [3, 4]])) == ["candidates": 2, "deleted": 2])
        #expect(try store.items() == [1, 2, 3, 4] && store.read { try $0.responseCount } == 2)
    }

    @Test("records that meet the keep rule stay, and so do those that the program keeps, as long as they do")
    func keepAndVeto() async throws {
        let store = try store("{ after: one_scan, keep: name = n2 or id > 100 }")
        try await store.scan([[1, 2, 3, 4, 101]])
        let vetoed = Mutex<[String]>([])
        let report = try await store.scan([[1]]) { options in
            options.mayDelete = { record in
                vetoed.withLock { $0.append("\(record.key)") }
                return record["name"] != .string("n3")
            }
        }
        #expect(found(report) == ["candidates": 4, "deleted": 1, "kept": 2, "vetoed": 1])
        #expect(vetoed.withLock { $0 } == ["3", "4"])
        #expect(try store.items() == [1, 2, 3, 101])
        #expect(found(try await store.scan([[1]])) == ["candidates": 3, "deleted": 1, "kept": 2])
        #expect(try store.items() == [1, 2, 101])
    }

    @Test("a dry run names what would go, and nothing does; the next run that is none deletes it")
    func dryRun() async throws {
        let store = try store()
        try await store.scan([[1, 2, 3]])
        try await store.scan([[1]])
        for _ in 0..<2 {
            let report = try await store.scan([[1]]) { $0.reportsOrphansOnly = true }
            #expect(found(report) == ["candidates": 2, "due": 2] && report.orphans?.isDryRun == true)
            #expect(report.orphans?.records == ["Item 2", "Item 3"] && report.report.deleted == 0)
            #expect(try store.items() == [1, 2, 3])
        }
        #expect(found(try await store.scan([[1]])) == ["candidates": 2, "deleted": 2])
    }

    @Test(
        "records of an entity or of a condition go though no scan has listed them; those known in part, and others, stay",
        arguments: [
            "{ scope: entity, after: one_scan }", "{ where: name begins with n, after: one_scan }",
        ])
    func otherScopes(orphans: String) async throws {
        let store = try store(orphans, attributes: "    relationships: { next: Item }")
        try await store.open().write { writer in
            for key in [7, 8] {
                try writer.put(
                    "Item", RecordKey(Int64(key)), [Record.Field("name", .string(key == 7 ? "n7" : "other"))])
            }
        }
        let partial = recording(
            "/v1/items", #"[{"id":1,"name":"n1","next":{"id":2}},{"id":3,"name":"n3"}]"#, "ETag: \"p\"")
        let report = try await store.sync(nil, transport: try WrittenTransport([partial]))
        let isEntity = orphans.contains("entity")
        #expect(found(report) == ["candidates": isEntity ? 2 : 1, "deleted": isEntity ? 2 : 1])
        #expect(try store.items() == (isEntity ? [1, 2, 3] : [1, 2, 3, 8]))
    }

    @Test("with the scope of an entity a record needs two scans too, from the first that misses it")
    func entityInTwoScans() async throws {
        let store = try store("entity")
        try await store.open().write { try $0.put("Item", RecordKey(7), [Record.Field("name", .string("x"))]) }
        #expect(found(try await store.scan([[1]])) == ["candidates": 1, "waiting": 1])
        #expect(found(try await store.scan([[1]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [1])
    }

    @Test("an excerpt whose detail never came goes with the scope of an entity, too")
    func excerptWithoutDetail() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: header_link
                    excerpts: true
                    orphans: { scope: entity, after: one_scan }
                    children: { detail: { path: '/items/{id}', paginate: single_page } }
                """))
        let gone = recording("/v1/items/2", "{}", status: "404 Not Found")
        let detail = recording("/v1/items/1", #"{"id":1,"name":"n1"}"#)
        let first = try await store.scan([[1, 2]], and: [detail, gone])
        #expect(first.failures.count == 1 && first.orphans?.deleted ?? 0 == 0, "\(first.texts)")
        #expect(try store.items() == [1, 2])
        let report = try await store.scan([[1]], and: [detail, gone])
        #expect(report.orphans?.deleted == 1, "\(report.texts)")
        #expect(try store.items() == [1])
    }

    private func scanBoxes(_ store: MirrorStore, _ content: [[[Int]]]) async throws -> SyncReport {
        let boxes = writtenPages([Array(1...content.count)], path: "/boxes")
        let items = content.enumerated().flatMap { writtenPages($1, path: "/boxes/\($0 + 1)/items") }
        return try await store.sync(nil, transport: try WrittenTransport(boxes + items))
    }

    @Test(
        "of a list that is asked for by its owner: what the owner has and the list has not goes, or lets go of it",
        arguments: [
            ("{ scope: owner, after: one_scan }", false), ("{ scope: owner, after: one_scan, then: unlink }", true),
            ("{ after: one_scan }", false), ("{ after: one_scan, then: unlink }", true),
        ])
    func owner(orphans: String, isUnlinked: Bool) async throws {
        let store = try MirrorStore.boxes("orphans: \(orphans)")
        _ = try await scanBoxes(store, [[[1, 2], [3]], [[4]]])
        let report = try await scanBoxes(store, [[[1], [3]], [[4]]])
        #expect(found(report) == ["candidates": 1, isUnlinked ? "unlinked" : "deleted": 1])
        #expect(try store.items() == (isUnlinked ? [1, 2, 3, 4] : [1, 3, 4]))
        #expect(try store.keys("Box", 1, "items") == [1, 3] && store.keys("Box", 2, "items") == [4])
        if isUnlinked {
            #expect(try store.record("Item", 2)["box"] == .null && report.report.entities["Item"]?.updated == 1)
        }
        #expect(found(try await scanBoxes(store, [[[1], [3]], [[4]]])) == [:])
    }

    @Test("a record that has moved to another owner stays, and is not unlinked from it")
    func moved() async throws {
        let store = try MirrorStore.boxes("orphans: { after: one_scan, then: unlink }")
        _ = try await scanBoxes(store, [[[1, 2]], [[3]]])
        #expect(found(try await scanBoxes(store, [[[1]], [[2, 3]]])) == ["candidates": 1, "elsewhere": 1])
        #expect(try store.keys("Box", 2, "items") == [2, 3] && store.keys("Box", 1, "items") == [1])
    }

    @Test("a record that moves to a list that is scanned later is not deleted in between")
    func movedToLaterList() async throws {
        let store = try MirrorStore.boxes("orphans: after_one_scan")
        _ = try await scanBoxes(store, [[[1, 2]], [[3]]])
        let report = try await scanBoxes(store, [[[1]], [[2, 3]]])
        #expect(found(report) == ["candidates": 1, "elsewhere": 1])
        #expect(report.report.entities["Item"]?.deleted ?? 0 == 0 && report.report.entities["Item"]?.created ?? 0 == 0)
    }

    @Test("the list of an owner that was deleted does not keep a record that has moved from it")
    func listOfDeletedOwner() async throws {
        let store = try MirrorStore.boxes("orphans: after_one_scan")
        _ = try await scanBoxes(store, [[[2, 3]], [[1]]])
        try await store.open().write { _ = try $0.delete("Box", RecordKey(2), ifVersion: nil) }
        _ = try await scanBoxes(store, [[[1, 2, 3]]])
        #expect(found(try await scanBoxes(store, [[[2, 3]]])) == ["candidates": 1, "deleted": 1])
        #expect(try store.items() == [2, 3])
    }

    @Test("an empty page that a link has announced decides about no record, and the next scan does")
    func emptyPage() async throws {
        let store = try store("after_one_scan")
        try await store.scan([[1, 2], [3, 4]])
        let report = try await store.scan([[1, 2], []])
        #expect(found(report) == [:] && report.orphans?.refusals.first?.contains("last page has no records") == true)
        #expect(try store.items() == [1, 2, 3, 4])
        #expect(found(try await store.scan([[1, 2]])) == ["candidates": 2, "deleted": 2])
    }

    @Test(
        "a request for the record decides at once: 404 and 410 are its end, what is answered stays, and anything else waits",
        arguments: [
            ("404 Not Found", "deleted"), ("410 Gone", "deleted"), ("200 OK", "existing"),
            ("500 Internal Server Error", "waiting"),
        ])
    func check(status: String, outcome: String) async throws {
        let store = try store("{ check: '/items/{item.id}' }")
        try await store.scan([[1, 2]])
        let transport = try WrittenTransport(writtenPages([[1]]) + [recording("/v1/items/2", "{}", status: status)])
        let report = try await store.sync(nil, transport: transport)
        #expect(found(report) == ["candidates": 1, outcome: 1])
        #expect(transport.requests == ["/items", "/items/2"])
        #expect(try store.items() == (outcome == "deleted" ? [1] : [1, 2]))
        let again = try await store.sync(nil, transport: transport)
        #expect(again.orphans?.deleted == (outcome == "waiting" ? 1 : 0))
        #expect(try store.items() == (outcome == "existing" ? [1, 2] : [1]))
    }

    @Test("a limit of requests for single records leaves the others to the next scan")
    func checkLimit() async throws {
        let store = try store("{ check: '/items/{item.id}' }")
        try await store.scan([[1, 2, 3, 4]])
        let gone = (2...4).map { recording("/v1/items/\($0)", "{}", status: "404 Not Found") }
        let report = try await store.scan([[1]], and: gone) { $0.orphanCheckLimit = 2 }
        #expect(found(report) == ["candidates": 3, "deleted": 2, "waiting": 1])
    }

    @Test(
        "deleting that is interrupted between its steps goes on with the next sync, and no record is judged twice",
        arguments: [1, 3])
    func interrupted(step: Int) async throws {
        let store = try store()
        try await store.scan([Array(1...10)])
        try await store.scan([[1]])
        let asked = Mutex(0), task = Mutex<Task<SyncReport, any Error>?>(nil)
        let gate = AsyncStream<Void>.makeStream()
        let work = Task {
            for await _ in gate.stream { break }
            return try await store.scan([[1]]) { options in
                options.orphanStep = step
                options.mayDelete = { _ in
                    if asked.withLock({ asked in
                        asked += 1
                        return asked == 4
                    }) {
                        task.withLock { $0?.cancel() }
                    }
                    return true
                }
            }
        }
        task.withLock { $0 = work }
        gate.continuation.yield()
        let report = try await work.value
        let done = try #require(report.orphans?.deleted)
        #expect(report.failures.count == 1 && done >= 4 && done < 9)
        #expect(try store.items().count == 10 - done && store.checkpoint("items")?.hasOrphans == true)
        // The next sync finishes, and then scans; the rest is deleted by the scan that missed it.
        let transport = try WrittenTransport(writtenPages([[1]]))
        let rest = try await store.sync(nil, transport: transport)
        #expect(found(rest) == ["candidates": 9 - done, "deleted": 9 - done])
        #expect(try store.items() == [1] && store.checkpoint("items")?.hasOrphans == false)
    }

    @Test(
        "what goes with a record goes by its delete rules, also if it is more than one step; a rule that denies keeps it"
    )
    func deleteRules() async throws {
        func yaml(_ rule: String) -> String {
            """
            api: { base: https://api.test.example/v1 }
            entities:
              Item: { key: id, attributes: { id: int, name: string }, relationships: { parts: { to: [Part], inverse: item, on_delete: \(rule) } } }
              Part: { key: id, attributes: { id: int }, relationships: { item: { to: Item, inverse: parts } } }
            endpoints:
              items: { path: /items, entity: Item, orphans: after_one_scan }
            """
        }
        for rule in ["cascade", "deny"] {
            let store = try MirrorStore(yaml: yaml(rule))
            try await store.scan([[1, 2, 3]])
            try await store.open().write { writer in
                for key in 1...50 {
                    try writer.put(
                        "Part", RecordKey(Int64(key)), [Record.Field("item", .reference(RecordKey(key <= 40 ? 2 : 1)))])
                }
            }
            let report = try await store.scan([[1]]) { $0.orphanStep = 7 }
            if rule == "cascade" {
                #expect(found(report) == ["candidates": 2, "deleted": 2])
                #expect(try store.items() == [1] && store.count("Part") == 10)
            } else {
                #expect(found(report) == ["candidates": 2, "deleted": 1, "denied": 1])
                #expect(try store.items() == [1, 2] && store.count("Part") == 50)
                #expect(
                    report.report.diagnostics.map { "\($0.code.rawValue) \($0.key ?? "")" } == ["record.deleteDenied 2"]
                )
            }
        }
    }
}
