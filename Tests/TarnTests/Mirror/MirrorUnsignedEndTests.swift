// Ends of lists that nothing vouches for: the scan asks again, or fails, and loses no record.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: ends that nothing vouches for", .timeLimit(.minutes(5)))
struct MirrorUnsignedEndTests {
    @Test(
        "a list that has grown behind a full last page goes on, although the page is answered 304 without its Link",
        arguments: [nil, "X-Next-Cursor"], [false, true])
    func grown(field: String?, isAutomatic: Bool) async throws {
        let style =
            isAutomatic
            ? "auto" : field.map { "{ header_cursor: { field: \($0), param: after } }" } ?? "header_link"
        // `auto` sends a cursor as the parameter `cursor`.
        guard !isAutomatic || field == nil else { return }
        let server = GrowingList(cursorField: field), store = try MirrorStore(yaml: itemsYAML("paginate: \(style)"))
        #expect(try await store.sync(nil, transport: server.transport).failures.isEmpty)
        #expect(try store.items() == Array(0..<6))
        server.log.withLock { $0 = [] }
        server.count.withLock { $0 = 8 }
        let report = try await store.sync(nil, transport: server.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == Array(0..<8))
        // The full page that ended the list is requested once more, without a condition.
        #expect(server.log.withLock(\.self) == ["0?", "3?", "3", "6"])
        // The last page is not full now: its 304 is believed.
        server.log.withLock { $0 = [] }
        #expect(try await store.sync(nil, transport: server.transport).notModified == 3)
        #expect(server.log.withLock(\.self) == ["0?", "3?", "6?"])
    }

    @Test("records whose key is their position move with the pages before them, although their own is answered 304")
    func positions() async throws {
        let first = Mutex(["a", "b"])
        let transport = ClosureTransport { request in
            let isFirst = !request.url.contains("page=2"), first = first.withLock(\.self)
            let names = isFirst ? first : ["x", "y"], tag = "\"\(names.joined())\""
            var headers = TransportHeaders()
            headers["ETag"] = tag
            headers["Link"] = isFirst ? "</v1/items?page=2>; rel=next" : "</v1/items>; rel=first"
            if request.headers["If-None-Match"] == tag { return TransportResponse(status: 304, headers: headers) }
            let body = "[" + names.map { #"{"name":"\#($0)"}"# }.joined(separator: ",") + "]"
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: place, attributes: { place: { type: int, from: '@position' }, name: string } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: header_link }
                """)
        func names() throws -> [String] {
            try store.read { reader in
                try reader.fetch(Query("Item")).map { "\($0["name"] ?? .null)" }
            }
        }
        try await store.sync(nil, transport: transport)
        #expect(try names().count == 4)
        first.withLock { $0 = ["a", "b", "c"] }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        let found = try names().map { $0.filter(\.isLetter).suffix(1) }.joined()
        #expect(found == "abcxy")
    }

    @Test(
        "a page without records that states an error is no end of the list, first or later",
        arguments: [
            #""error":"timeout""#, #""Errors":[{"code":5,"message":"timeout"}]"#,
            #""status":"error","message":"timeout""#, #""status":"error","error":"timeout","message":"failed""#,
            #""status":"error","error":true,"message":"timeout""#, #""status":"fail","data":{"reason":"timeout"}"#,
        ], [1, 2])
    func statedError(member: String, page: Int) async throws {
        let transport = ClosureTransport { request in
            let isLast = request.url.contains("page=\(page)")
            let body = isLast ? #"{"items":[],\#(member)}"# : #"{"items":[{"id":1,"name":"a"}]}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let style = "records: items\n    paginate: { page_number: { param: page } }"
        let store = try MirrorStore(yaml: itemsYAML(style))
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1)
        #expect(report.texts.first?.contains("says \"timeout\"; sync again later") == true, "\(report.texts)")
        #expect(try store.items().count == page - 1)
        let name = member.contains("Errors") ? "Errors" : member.contains("error\":") ? "error" : "status"
        let other = try MirrorStore(yaml: itemsYAML(style + "\n    more: { ignore: [\(name)] }"))
        #expect(try await other.sync(nil, transport: transport).failures.isEmpty)
    }

    @Test(
        "an error in place of a map of records is none of its records",
        arguments: [
            #"{"error":{"code":500,"message":"timeout"}}"#, #"{"errors":[{"message":"timeout"}]}"#,
            #"{"ada":{"name":"a"},"error":{"name":"a person"}}"#,
            #"{"errors":[{"message":"timeout"},{"message":"late"}]}"#,
            #"{"ada":{"name":"a"},"error":{"name":"bob","code":5}}"#, #"{"error":{"name":"timeout"}}"#,
            #"{"bob":{"name":"b"},"errors":[{"message":"timeout"},{"message":"late"}]}"#,
            #"{"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{},"i":{},"j":{},"error":{"code":1,"message":"timeout"}}"#,
        ])
    func statedErrorInMap(body: String) async throws {
        let answer = Mutex(#"{"ada":{"name":"a"},"bob":{"name":"b"}}"#)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(answer.withLock(\.self).utf8))
        }
        func store(_ more: String = "") throws -> MirrorStore {
            try MirrorStore(
                yaml: """
                    api: { base: https://api.test.example/v1 }
                    entities:
                      Item: { key: id, attributes: { id: { type: string, from: '@memberName' }, name: string? } }
                    endpoints:
                      items:
                        path: /items
                        records: '*'
                        entity: Item
                        paginate: single_page
                        orphans: after_one_scan
                        \(more)
                    """)
        }
        let isRecord = body.contains("ada"), own = try store()
        #expect(try await own.sync(nil, transport: transport).failures.isEmpty)
        answer.withLock { $0 = body }
        let report = try await own.sync(nil, transport: transport)
        #expect(report.failures.isEmpty == isRecord, "\(report.texts)")
        if !isRecord {
            #expect(report.texts.first?.contains("says \"timeout\"; sync again later") == true, "\(report.texts)")
        }
        #expect(try own.read { try $0.fetch(Query("Item")).count } == 2)
        let ignoring = try store("more: { ignore: [error, errors] }")
        #expect(try await ignoring.sync(nil, transport: transport).failures.isEmpty)
    }

    @Test(
        "an error in a map further inside, or beside other members, is none of its records",
        arguments: [
            #"{"data":{"error":{"code":500,"message":"timeout"}}}"#,
            #"{"data":{"bob":{"name":"c"},"error":{"code":500,"message":"timeout"}}}"#,
            #"{"data":{"bob":{"name":"c"},"updated":7,"error":{"name":"a person"}}}"#,
        ])
    func statedErrorInInnerMap(body: String) async throws {
        let answer = Mutex(#"{"data":{"updated":1,"ada":{"name":"a"},"bob":{"name":"b"}}}"#)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(answer.withLock(\.self).utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: id, attributes: { id: { type: string, from: '@memberName' }, name: string? } }
                endpoints:
                  items:
                    path: /items
                    records: { 'data.*': { entity: Item, except: updated } }
                    paginate: single_page
                """)
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(try store.read { try $0.fetch(Query("Item")).count } == 2)
        answer.withLock { $0 = body }
        let report = try await store.sync(nil, transport: transport), isRecord = body.contains("person")
        #expect(report.failures.isEmpty == isRecord, "\(report.texts)")
        if !isRecord {
            #expect(
                report.texts.first?.contains("`data.error` says \"timeout\"; sync again later") == true,
                "\(report.texts)")
        }
        #expect(try store.read { try $0.fetch(Query("Item")).count } == (isRecord ? 3 : 2))
    }

    @Test("a statement that states an error in place of its list is no empty list")
    func statedErrorInElement() async throws {
        let answer = Mutex(#"{"results":[{"id":0,"error":"database not found"}]}"#)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(answer.withLock(\.self).utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  items:
                    path: /items
                    records: { 'results.*.items': { entity: Item, optional: true } }
                    paginate: single_page
                """)
        let report = try await store.sync(nil, transport: transport)
        #expect(
            report.texts.first?.contains("`results.*.error` says \"database not found\"") == true, "\(report.texts)")
        for body in [#"{"results":[{"id":0}]}"#, #"{"results":[{"id":0,"items":[{"id":1}]},{"id":1,"error":null}]}"#] {
            answer.withLock { $0 = body }
            #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        }
        #expect(try store.read { try $0.fetch(Query("Item")).count } == 1)
    }

    @Test("members that are no records are those of a map")
    func exceptionsOfList() {
        #expect {
            _ = try Description.parse(
                """
                api: { base: https://api.test.example/v1 }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  items: { path: /items, records: { data: { entity: Item, except: [x] } }, paginate: single_page }
                """, file: "tarn.yaml")
        } throws: {
            "\($0)".contains("only a map has members that are no records")
        }
    }

    @Test("a failed state of an answer is told although the list itself is among its errors")
    func statedErrorBesideList() async throws {
        let body = #"{"status":"error","message":"timeout","errors":{"items":[],"code":5}}"#
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
        let store = try MirrorStore(yaml: itemsYAML("records: errors.items\n    paginate: single_page"))
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1)
        #expect(report.texts.first?.contains("`status` says \"timeout\"; sync again later") == true, "\(report.texts)")
    }

    @Test(
        "a member with the name of an error that states none is no error",
        arguments: [
            #""error":null"#, #""error":"""#, #""error":false"#, #""errors":[]"#, #""error":{"code":0}"#,
            #""status":"ok","message":"none""#,
        ])
    func noError(member: String) async throws {
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(#"{"items":[],\#(member)}"#.utf8))
        }
        let store = try MirrorStore(yaml: itemsYAML("records: items\n    paginate: single_page"))
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
    }

    @Test("a server that ignores the number is seen at the second page, also if the position is the key")
    func samePositions() async throws {
        let transport = ClosureTransport { request in
            let number = QueryParameters.values(in: request.url).first { $0.name == "page" }?.value ?? ""
            let body = #"{"data":[{"name":"a"},{"name":"b"}],"asked":"\#(number)","meta":{"pages":9}}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Item: { key: place, attributes: { place: { type: int, from: '@position' }, name: string } }
                endpoints:
                  items:
                    path: /items
                    records: data
                    entity: Item
                    paginate: { page_number: { param: page, total_pages: meta.pages } }
                """)
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1, "\(report.texts)")
        #expect(try store.count("Item") <= 4)
    }

    /// Names on pages of two. The server answers with its last page to all larger numbers.
    private final class RepeatedPages: Sendable {
        static let yaml = """
            api: { base: https://api.test.example/v1 }
            entities:
              Item: { key: place, attributes: { place: { type: int, from: '@position' }, name: string } }
            endpoints:
              items: { path: /items, entity: Item, paginate: { page_number: { param: page, end: repeated } } }
            """

        let names = Mutex(["a", "b", "c", "d"]), failing = Mutex<Int?>(nil)

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let text = QueryParameters.values(in: request.url).first { $0.name == "page" }?.value
                let number = text.flatMap { Int($0) } ?? 1, names = names.withLock(\.self)
                if failing.withLock(\.self) == number { return TransportResponse(status: 500) }
                let page = min(number, (names.count + 1) / 2)
                let part = names.dropFirst(2 * (page - 1)).prefix(2).map { #"{"name":"\#($0)"}"# }
                return TransportResponse(status: 200, body: Array("[\(part.joined(separator: ","))]".utf8))
            }
        }
    }

    @Test(
        "a scan that was interrupted before a repeated last page begins anew there: the page may as well be another one",
        arguments: [["a", "b", "c", "d"], ["y", "z", "a", "b", "c", "d"]])
    func interruptedBeforeRepeatedPage(names: [String]) async throws {
        let store = try MirrorStore(yaml: RepeatedPages.yaml), server = RepeatedPages()
        server.failing.withLock { $0 = 3 }
        #expect(try await store.sync(nil, transport: server.transport).failures.count == 1)
        #expect(try store.count("Item") == 4)
        server.failing.withLock { $0 = nil }
        server.names.withLock { $0 = names }
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: server.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            let found = try store.read { reader in try reader.fetch(Query("Item")).map { $0["name"] } }
            #expect(found.count == names.count)
            for (value, name) in zip(found, names) { #expect(value == .string(name)) }
        }
    }

    @Test("a list that a limit stops before its repeated last page ends there, and does not begin anew for ever")
    func limitBeforeRepeatedPage() async throws {
        let store = try MirrorStore(yaml: RepeatedPages.yaml), server = RepeatedPages()
        for _ in 0..<3 {
            let report = try await store.sync(nil, transport: server.transport) { $0.limit = 2 }
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(try store.read { try $0.checkpoint("items") }?.state == .complete)
        #expect(try store.count("Item") == 4)
    }

    @Test(
        "pages with equal elements are different ones if the key has a value of the document beside them",
        arguments: ["shop", "place"])
    func equalElements(part: String) async throws {
        let transport = ClosureTransport { request in
            let text = QueryParameters.values(in: request.url).first { $0.name == "page" }?.value
            let number = text.flatMap { Int($0) } ?? 1
            let items = number > 3 ? "" : #"{"shop":1,"open":true},{"shop":2,"open":false}"#
            return TransportResponse(status: 200, body: Array(#"{"day":"d\#(number)","items":[\#(items)]}"#.utf8))
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Hours:
                    key: [day, \(part)]
                    attributes:
                      day: { type: string, from: '@root.day' }
                      place: { type: int, from: '@position' }
                      shop: int
                      open: bool
                endpoints:
                  hours: { path: /hours, records: items, entity: Hours, paginate: { page_number: { param: page } } }
                """)
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.count("Hours") == 6)
        }
    }

    @Test("an answer with 202 or 205 and no records is no empty list", arguments: [202, 205])
    func notReady(status: Int) async throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: header_link"))
        let isReady = Mutex(false)
        let transport = ClosureTransport { _ in
            isReady.withLock(\.self)
                ? TransportResponse(status: 200, body: Array(#"[{"id":1,"name":"n"}]"#.utf8))
                : TransportResponse(status: status, body: status == 202 ? Array("[]".utf8) : [])
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.texts.first?.contains("returned \(status): it lists no records") == true, "\(report.texts)")
        #expect(try store.checkpoint("items")?.state != .complete)
        isReady.withLock { $0 = true }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(try store.items() == [1])
    }

    @Test(
        "a declared cursor or link that is an object or a list fails the scan, and names the place",
        arguments: [
            ("{ cursor: { path: next, param: after } }", #"{"id":10}"#),
            ("{ cursor: { path: next, param: after } }", "[10]"),
            ("{ json_link: { path: next } }", #"{"page":2}"#),
        ])
    func containers(style: String, next: String) async throws {
        let store = try MirrorStore(yaml: itemsYAML("records: items\n    paginate: \(style)"))
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(#"{"items":[{"id":1,"name":"n"}],"next":\#(next)}"#.utf8))
        }
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: transport)
            #expect(report.texts.first?.contains("`next` is an object or a list") == true, "\(report.texts)")
        }
        #expect(try store.items() == [1])
        // Empty ones end the list, as null does.
        let empties =
            style.hasPrefix("{ cursor")
            ? ["{}", "[]", "null", #"{"id":null}"#] : ["{}", #"{"href":null}"#, #"{"url":null,"rel":"next"}"#]
        for empty in empties {
            let report = try await store.sync(
                nil,
                transport: ClosureTransport { _ in
                    TransportResponse(
                        status: 200, body: Array(#"{"items":[{"id":1,"name":"n"}],"next":\#(empty)}"#.utf8))
                })
            #expect(report.failures.isEmpty, "\(empty): \(report.texts)")
        }
    }

    @Test("a total that a page contradicts is no total", arguments: [-1, 0])
    func impossibleTotal(total: Int) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("records: items\n    paginate: { offset: { param: offset, total: total } }"))
        let transport = ClosureTransport { request in
            let start = URLComponents(string: request.url)?.queryItems?.first { $0.name == "offset" }?.value
            let first = start.flatMap { Int($0) } ?? 0
            let items = (first..<max(first, min(first + 10, 25))).map { #"{"id":\#($0),"name":"n"}"# }
            return TransportResponse(
                status: 200, body: Array(#"{"items":[\#(items.joined(separator: ","))],"total":\#(total)}"#.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == Array(0..<25))
    }

    @Test("syncs with a limit continue behind what the ones before have listed, and reach the end")
    func limits() async throws {
        let server = GrowingList(cursorField: nil), store = try MirrorStore(yaml: itemsYAML("paginate: header_link"))
        server.count.withLock { $0 = 11 }
        var counts: [Int] = []
        for _ in 0..<4 {
            let report = try await store.sync(nil, transport: server.transport) { $0.limit = 3 }
            #expect(report.failures.isEmpty, "\(report.texts)")
            counts.append(try store.items().count)
        }
        #expect(counts == [3, 6, 9, 11])
        #expect(try store.checkpoint("items")?.state == .complete)
    }
}
