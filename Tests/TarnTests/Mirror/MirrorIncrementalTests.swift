// Incremental scans: a sync requests what has changed since the last complete one.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: incremental scans", .timeLimit(.minutes(5)))
struct MirrorIncrementalTests {
    private typealias Items = IncrementalItems

    @Test(
        "the first sync lists everything; the next ones send the largest value, and records of the boundary are recognized"
    )
    func largestValue() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        items.set(Items.first)
        var report = try await store.sync(nil, transport: items.transport)
        #expect(report.failures.isEmpty && report.endpoint("items")?.since == nil, "\(report.texts)")
        #expect(items.log == ["/items", "/items?page=2"])
        #expect(try store.checkpoint("items")?.since == "2026-01-03T10:00:30.5Z")
        report = try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-01-03T10:00:30.5Z"])
        #expect(report.listed == 1 && report.report.unchanged == 1 && report.report.created == 0)
        #expect(report.endpoint("items")?.since == "2026-01-03T10:00:30.5Z")
        items.set(Items.first.dropFirst() + [(4, "2026-01-03T10:00:30.5Z"), (1, "2026-01-04T10:00:00Z")])
        report = try await store.sync(nil, transport: items.transport)
        #expect(report.listed == 3 && report.report.created == 1 && report.report.updated == 1)
        #expect(items.log.first == "/items?since=2026-01-03T10:00:30.5Z")
        _ = try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-01-04T10:00:00Z"])
        #expect(try store.items() == [1, 2, 3, 4])
    }

    @Test(
        "a lag, an open range, a granularity and a format move the value back before it is sent",
        arguments: [
            ("lag: 1h", "2026-01-03T09:00:30.5Z"), ("lag: 90", "2026-01-03T09:59:00.5Z"),
            ("range: open", "2026-01-03T10:00:29.5Z"), ("granularity: second", "2026-01-03T10:00:30Z"),
            ("granularity: minute, range: open", "2026-01-03T09:59:00Z"),
            ("granularity: day, lag: 2d", "2026-01-01T00:00:00Z"),
            ("range: open, format: day, granularity: hour", "2026-01-02"),
            ("granularity: day, format: day", "2026-01-03"), ("format: seconds", "1767434430"),
            ("format: milliseconds, lag: 1", "1767434429500"), ("format: http", "Sat, 03 Jan 2026 10:00:30 GMT"),
            ("range: closed", "2026-01-03T10:00:30.5Z"),
        ])
    func movedBack(options: String, sent: String) async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at, \(options) }")),
            items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        _ = items.log
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(items.log.first?.replacing("+", with: " ") == "/items?since=\(sent)")
    }

    @Test(
        "numbers are compared as numbers, dates of an attribute by its format, other texts by their bytes",
        arguments: [
            ("int", "", ["9", "10", "2"], "10"), ("string", "", ["9", "10", "2"], "9"),
            ("{ type: date, format: dd/MM/yyyy }", "", ["31/01/2025", "01/02/2026", "28/02/2025"], "01/02/2026"),
            ("{ type: date, epoch: seconds }", ", lag: 10", ["5", "100", "20"], "90"),
            ("int", ", range: open, lag: 3", ["7", "5"], "3"),
            // Texts by their form.
            ("string", ", range: open", ["2026-01-03T10:00:30Z", "2026-01-02T00:00:00Z"], "2026-01-03T10:00:29Z"),
            ("string", ", range: open", ["7", "9"], "8"),
            ("uint", ", range: open", ["18446744073709551615"], "18446744073709551614"),
        ])
    func types(type: String, options: String, values: [String], sent: String) async throws {
        let store = try MirrorStore(
            yaml: Items.yaml("{ param: since, field: changed_at\(options) }", type: type, more: "more: ignore"))
        let items = Items()
        items.set(values.enumerated().map { ($0, $1) })
        try await store.sync(nil, transport: items.transport)
        _ = items.log
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(items.log.first == "/items?since=\(sent)")
    }

    @Test("a text that is neither a date nor a number cannot be moved back", arguments: ["range: open", "lag: 1"])
    func text(option: String) async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at, \(option) }", type: "string"))
        let items = Items()
        items.set([(1, "abc")])
        #expect(try await store.sync(nil, transport: items.transport).failures.isEmpty)
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.texts.first?.contains("neither a date nor a number") == true, "\(report.texts)")
    }

    @Test("another value behind the stored one leaves that as it is: the next sync requests what lies between")
    func gap() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        items.set([(1, "2026-01-01T00:00:00Z")])
        try await store.sync(nil, transport: items.transport)
        items.set([(1, "2026-01-01T00:00:00Z"), (2, "2026-01-03T00:00:00Z"), (3, "2026-01-06T00:00:00Z")])
        try await store.sync(nil, transport: items.transport) { $0.since = "2026-01-05" }
        #expect(try store.items() == [1, 3])
        _ = items.log
        try await store.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items?since=2026-01-01T00:00:00Z")
        #expect(try store.items() == [1, 2, 3])
        #expect(try store.checkpoint("items")?.since == "2026-01-06T00:00:00Z")
        // The first sync of all.
        let fresh = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }"))
        try await fresh.sync(nil, transport: items.transport) { $0.since = "2026-01-05" }
        _ = items.log
        try await fresh.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items")
        #expect(try fresh.items() == [1, 2, 3])
    }

    @Test("another value behind the stored one leaves that as it is, also if a later sync continues its scan")
    func interruptedGap() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        items.set([(1, "2026-01-01T00:00:00Z")])
        try await store.sync(nil, transport: items.transport)
        items.set((1...6).map { ($0, "2026-01-0\($0)T00:00:00Z") })
        items.state.withLock { $0.failing = ["/items?page=2&since=2026-01-03"] }
        let failed = try await store.sync(nil, transport: items.transport) { $0.since = "2026-01-03" }
        #expect(failed.failures.count == 1)
        items.state.withLock { $0.failing = [] }
        _ = items.log
        #expect(try await store.sync(nil, transport: items.transport).failures.isEmpty)
        #expect(items.log == ["/items?page=2&since=2026-01-03"])
        #expect(try store.items() == [1, 3, 4, 5, 6])
        let checkpoint = try #require(try store.checkpoint("items"))
        #expect(checkpoint.since == "2026-01-01T00:00:00Z")
        // Records of another list may have moved to this one between the two values.
        #expect(checkpoint.knownSince != checkpoint.startedAt)
        try await store.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items?since=2026-01-01T00:00:00Z")
        #expect(try store.items() == Array(1...6))
        #expect(try store.checkpoint("items")?.since == "2026-01-06T00:00:00Z")
    }

    @Test("a date that is only read by a pattern cannot be moved back: the error names the way out")
    func pattern() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml("{ param: since, field: changed_at, lag: 1d }", type: "{ type: date, format: dd/MM/yyyy }")
        )
        let items = Items()
        items.set([(1, "31/01/2025")])
        #expect(try await store.sync(nil, transport: items.transport).failures.isEmpty)
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.texts.first?.contains("add format: rfc3339") == true, "\(report.texts)")
    }

    @Test("an interrupted scan keeps the value it began with: the largest of its pages counts when it is complete")
    func interrupted() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        // Newest first: the largest value is on the first page.
        items.set((10...15).reversed().map { ($0, "2026-02-\($0)T00:00:00Z") })
        items.state.withLock { $0.failing = ["/items?page=2&since=2026-01-03T10:00:30.5Z"] }
        _ = items.log
        let failed = try await store.sync(nil, transport: items.transport)
        #expect(failed.failures.count == 1)
        let checkpoint = try #require(try store.checkpoint("items"))
        #expect(checkpoint.since == "2026-01-03T10:00:30.5Z" && checkpoint.begunSince == checkpoint.since)
        #expect(checkpoint.seen == "2026-02-15T00:00:00Z")
        items.state.withLock { $0.failing = [] }
        _ = items.log
        #expect(try await store.sync(nil, transport: items.transport).failures.isEmpty)
        #expect(
            items.log == ["/items?page=2&since=2026-01-03T10:00:30.5Z", "/items?page=3&since=2026-01-03T10:00:30.5Z"])
        _ = try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-02-15T00:00:00Z"])
        #expect(try store.count("Item") == 9)
    }

    @Test(
        "a record that moves past an interrupted scan is found by the next one, which begins with the largest value from before the interruption",
        arguments: [false, true])
    func movedPast(isFirst: Bool) async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), items = Items()
        if !isFirst {
            items.set([(1, "2026-01-01T00:00:00Z")])
            try await store.sync(nil, transport: items.transport)
        }
        // In the order of their times, two on a page.
        var list = (10...15).map { ($0, "2026-02-\($0)T00:00:00Z") }
        items.set(list)
        let since = isFirst ? "" : "&since=2026-01-01T00:00:00Z"
        items.state.withLock { $0.failing = ["/items?page=2\(since)"] }
        #expect(try await store.sync(nil, transport: items.transport).failures.count == 1)
        // A record of the first page changes and goes to the end; 12 follows it to the first page.
        list.removeFirst()
        list.append((10, "2026-03-01T00:00:00Z"))
        items.set(list)
        items.state.withLock { $0.failing = [] }
        _ = items.log
        let report = try await store.sync(nil, transport: items.transport)
        #expect(report.failures.isEmpty && items.log.first == "/items?page=2\(since)", "\(report.texts)")
        #expect(try store.items().suffix(5) == [10, 11, 13, 14, 15])
        #expect(try store.checkpoint("items")?.since == "2026-02-11T00:00:00Z")
        try await store.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items?since=2026-02-11T00:00:00Z")
        #expect(try store.items().suffix(6) == Array(10...15))
        try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-03-01T00:00:00Z"])
    }

    @Test("a full sync ignores the stored value, another one replaces it, and the first one may have an initial value")
    func options() async throws {
        let
            store = try MirrorStore(
                yaml: Items.yaml("{ param: since, field: changed_at, initial: 2026-01-02 }")), items = Items()
        items.set(Items.first)
        try await store.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items?since=2026-01-02")
        #expect(try store.items() == [2, 3])
        try await store.sync(nil, transport: items.transport) { $0.isFull = true }
        #expect(items.log.first == "/items?since=2026-01-02")
        try await store.sync(nil, transport: items.transport) { $0.since = "2025-06-01" }
        #expect(items.log.first == "/items?since=2025-06-01")
        #expect(try store.items() == [1, 2, 3])
        try await store.sync(nil, transport: items.transport)
        #expect(items.log == ["/items?since=2026-01-03T10:00:30.5Z"])
        // Another mapping needs all records again.
        var other = store
        other.description = try Description.parse(
            Items.yaml("{ param: since, field: changed_at }").replacing(
                "kind: string?", with: "kind: string?, x: int?"),
            file: "tarn.yaml")
        other.description.storePath = store.path
        try await other.sync(nil, transport: items.transport)
        #expect(items.log.first == "/items")
    }

    @Test("another account does not begin with the value of the one before")
    func otherAccount() async throws {
        let yaml = Items.yaml("{ param: since, field: changed_at }").replacing(
            "test.example }", with: "test.example, auth: { bearer: { env: TOKEN } } }")
        let store = try MirrorStore(yaml: yaml), items = Items()
        items.set([(1, "2026-01-01T10:00:00Z")])
        for (token, target) in [("a", "/items"), ("b", "/items"), ("b", "/items?since=2026-01-01T10:00:00Z")] {
            let isNext = try store.checkpoint("items") == nil || target != "/items"
            let report = try await store.sync(nil, transport: items.transport, environment: ["TOKEN": token])
            #expect(items.log == [target])
            #expect(report.endpoint("items")?.hasOtherCredentials == !isNext)
        }
        for (token, since) in [("b", "2026-01-01T10:00:00Z"), ("c", nil)] as [(String, String?)] {
            let mirror = try APIMirror(
                store.description, store: try store.open(), transport: items.transport, environment: ["TOKEN": token])
            #expect(try await mirror.status().first?.since == since)
        }
    }

    @Test("a list with another credential in a header field does not begin with the value of the one before")
    func otherHeaderCredential() async throws {
        let yaml = Items.yaml("{ param: since, field: changed_at }")
        var store = try MirrorStore(yaml: yaml)
        let items = Items(), path = store.path
        items.set([(1, "2026-01-01T10:00:00Z")])
        for (key, target) in [("a", "/items"), ("b", "/items"), ("b", "/items?since=2026-01-01T10:00:00Z")] {
            store.description = try Description.parse(
                yaml.replacing("test.example }", with: "test.example, headers: { X-Api-Key: \(key) } }"),
                file: "tarn.yaml")
            store.description.storePath = path
            let isOther = try store.checkpoint("items") != nil && target == "/items"
            let report = try await store.sync(nil, transport: items.transport)
            #expect(items.log == [target])
            #expect(report.endpoint("items")?.hasOtherCredentials == isOther)
        }
        // No response of the first one is left.
        let variants = try store.read { reader in
            var variants: Set<String> = []
            try reader.access.responses.forEach { view in
                variants.insert(view.entry?.request.variant ?? "")
                return true
            }
            return variants
        }
        #expect(variants.count == 1 && variants.first?.utf8.count == 32)
    }

    @Test("a scan that ends at an empty page which the one before names leaves the value as it was, and says so")
    func inDoubt() async throws {
        let store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }")), isLost = Mutex(true)
        let transport = ClosureTransport { request in
            let isFirst = !request.url.contains("page=2")
            if !isFirst, isLost.withLock({ $0 }) { return TransportResponse(status: 204) }
            var headers = TransportHeaders()
            if isFirst { headers["Link"] = "</items?page=2>; rel=next" }
            let body = #"[{"id":\#(isFirst ? 2 : 1),"changed_at":"2026-01-0\#(isFirst ? 2 : 1)T10:00:00Z"}]"#
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.endpoint("items")?.inDoubt == 1, "\(report.texts)")
        #expect(try store.checkpoint("items").map { $0.state == .complete && $0.since == nil } == true)
        isLost.withLock { $0 = false }
        try await store.sync(nil, transport: transport)
        #expect(try store.checkpoint("items")?.since == "2026-01-02T10:00:00Z")
        #expect(try store.items() == [1, 2])
    }

    @Test(
        "a second scan in a row that ends at such a page counts, and says so; after a change of the plan it is the first"
    )
    func inDoubtAgain() async throws {
        var store = try MirrorStore(yaml: Items.yaml("{ param: since, field: changed_at }"))
        let path = store.path
        let transport = ClosureTransport { request in
            guard !request.url.contains("page=2") else { return TransportResponse(status: 204) }
            var headers = TransportHeaders()
            headers["Link"] = "</items?page=2>; rel=next"
            return TransportResponse(
                status: 200, headers: headers, body: Array(#"[{"id":2,"changed_at":"2026-01-02T10:00:00Z"}]"#.utf8))
        }
        let yaml = Items.yaml("{ param: since, field: changed_at }")
        for (description, isAgain) in [
            (yaml, false), (yaml, true),
            (Items.yaml("{ param: after, field: changed_at, initial: '2020-01-01' }"), false),
        ] {
            store.description = try Description.parse(description, file: "tarn.yaml")
            store.description.storePath = path
            let report = try await store.sync(nil, transport: transport), items = report.endpoint("items")
            #expect(items?.inDoubt == (isAgain ? 0 : 1) && items?.inDoubtAgain == (isAgain ? 1 : 0), "\(report.texts)")
        }
    }

    @Test("a list whose record was deleted is requested as a whole when the record comes back")
    func ownerComesBack() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Box:
                    key: id
                    attributes: { id: int }
                    relationships: { items: { to: [Item], inverse: box, on_delete: cascade } }
                  Item: { key: id, attributes: { id: int }, relationships: { box: { to: Box, inverse: items } } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page, orphans: after_one_scan }
                  items:
                    path: '/boxes/{box.id}/items'
                    for_each: { entity: Box, parent: box }
                    entity: Item
                    paginate: single_page
                    since: { param: since, field: id }
                """)
        let boxes = Mutex("[]"), log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            log.withLock { $0.append(target) }
            let body = target == "/boxes" ? boxes.withLock { $0 } : target.hasPrefix("/boxes/1") ? #"[{"id":7}]"# : "[]"
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for list in [#"[{"id":1},{"id":2}]"#, #"[{"id":2}]"#, #"[{"id":1},{"id":2}]"#] {
            boxes.withLock { $0 = list }
            log.withLock { $0 = [] }
            #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        }
        #expect(log.withLock { $0.contains("/boxes/1/items") })
        #expect(try store.items() == [7])
    }

    @Test(
        "the list is requested as a whole, too, if the record comes back before the endpoint is scanned again",
        arguments: ["a", "#general"], [true, false])
    func ownerComesBackAtOnce(key: String, isOnlyOwner: Bool) async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Box:
                    key: id
                    attributes: { id: string }
                    relationships: { items: { to: [Item], inverse: box, on_delete: cascade } }
                  Item: { key: id, attributes: { id: int }, relationships: { box: { to: Box, inverse: items } } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page, orphans: after_one_scan }
                  items:
                    path: '/boxes/{box.id}/items'
                    for_each: { entity: Box, parent: box }
                    entity: Item
                    paginate: single_page
                    since: { param: since, field: id }
                """)
        let boxes = Mutex("[]"), log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            log.withLock { $0.append(target) }
            let body =
                target == "/boxes" ? boxes.withLock { $0 } : target.hasPrefix("/boxes/z/") ? "[]" : #"[{"id":7}]"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        for (list, names) in [
            (#"[{"id":"\#(key)"},{"id":"z"}]"#, nil), (#"[{"id":"z"}]"#, isOnlyOwner ? ["boxes"] : nil),
            (#"[{"id":"\#(key)"},{"id":"z"}]"#, isOnlyOwner ? ["boxes"] : nil),
        ] as [(String, Set<String>?)] {
            boxes.withLock { $0 = list }
            log.withLock { $0 = [] }
            #expect(try await store.sync(nil, transport: transport, names: names).failures.isEmpty)
        }
        if isOnlyOwner {
            #expect(try store.items() == [])
            #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        }
        let requests = log.withLock { $0 }.filter { $0 != "/boxes" && !$0.hasPrefix("/boxes/z/") }
        #expect(requests.count == 1 && requests.first?.contains("since") == false)
        #expect(try store.items() == [7])
        // A record that only changes, or does not, keeps the value of its list.
        log.withLock { $0 = [] }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(log.withLock { $0.contains { $0.hasSuffix("items?since=7") } })
    }

    @Test("a value in the body of a request is a member there")
    func body() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ body: filter.after, field: id }", more: "body: { filter: { size: 10 } }\n    paginate: single_page"))
        let bodies = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            bodies.withLock { $0.append(String(decoding: request.body ?? [], as: UTF8.self)) }
            return TransportResponse(status: 200, body: Array(#"[{"id":7,"changed_at":null},{"id":12}]"#.utf8))
        }
        for _ in 0..<2 { #expect(try await store.sync(nil, transport: transport).failures.isEmpty) }
        #expect(bodies.withLock { $0 } == [#"{"filter":{"size":10}}"#, #"{"filter":{"size":10,"after":12}}"#])
    }

    // MARK: Partitions

    @Test("an endpoint with partitions is scanned for every combination, each with its own progress and value")
    func partitions() async throws {
        let store = try MirrorStore(
            yaml: Items.yaml(
                "{ param: since, field: id }",
                more: "partitions: { kind: [bug, task], state: [open, closed] }\n    paginate: single_page"
            ).replacing("/items", with: "/{kind}/items").replacing(
                "kind: string?", with: "kind: { type: string, from: '@param.kind' }"))
        let log = Mutex<[String]>([]), broken = Mutex(true)
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            log.withLock { $0.append(target) }
            if target.hasPrefix("/task/items?state=open"), broken.withLock({ $0 }) {
                return TransportResponse(status: 404)
            }
            let id = (target.hasPrefix("/bug") ? 10 : 20) + (target.contains("open") ? 1 : 2)
            return TransportResponse(status: 200, body: Array(#"[{"id":\#(id),"changed_at":null}]"#.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1 && report.texts.first?.contains("/task/items?state=open") == true)
        #expect(report.endpoint("items")?.pages == 3)
        #expect(try store.items() == [11, 12, 22])
        #expect(try store.record("Item", 22)["kind"] == .string("task"))
        #expect(
            try store.checkpoint("items [kind=bug&state=closed]").map { $0.state == .complete && $0.since == "12" }
                == true)
        log.withLock { $0 = [] }
        broken.withLock { $0 = false }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(
            Set(log.withLock { $0 }) == [
                "/bug/items?state=open&since=11", "/bug/items?state=closed&since=12", "/task/items?state=open",
                "/task/items?state=closed&since=22",
            ])
        let mirror = try APIMirror(store.description, store: try store.open(), transport: transport)
        let status = try #require(try await mirror.status().first)
        #expect(status.lists == 4 && status.completeLists == 4)
    }
}
