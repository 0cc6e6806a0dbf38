// Unusable responses: the messages, the kept state, and that the other endpoints continue.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: failures and odd answers")
struct MirrorFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: String
        var endpoint = "records: $"
        /// Parts of the error, in order.
        var says: [String]
        var testDescription: String { name }
    }

    static let refused: [Case] = [
        Case(
            name: "a wrong key path", answer: recording("/v1/items", #"{"data":[],"meta":{}}"#),
            endpoint: "records: items",
            says: [
                "GET ", "/v1/items: no records at `items`: the key `items` is missing; found `data`, `meta`",
                "tarn.yaml:",
            ]),
        Case(
            name: "a wrong key path further inside", answer: recording("/v1/items", #"{"data":{"list":[]}}"#),
            endpoint: "records: data.items", says: ["`data.items`", "the key `items` is missing; found `list`"]),
        Case(
            name: "a key path that leads nowhere in any group",
            answer: recording("/v1/items", #"{"groups":[{"name":"a"}]}"#),
            endpoint: "records: groups.*.items",
            says: [
                "no records at `groups.*.items`: the key `items` is missing; found `name`",
                "write records: { 'groups.*.items': { entity: NAME, optional: true } } (", "tarn.yaml:",
            ]),
        Case(
            name: "null where the records should be", answer: recording("/v1/items", #"{"data":null}"#),
            endpoint: "records: data",
            says: ["expected a list of records or one record at `data`, found null"]),
        Case(
            name: "text where the records should be", answer: recording("/v1/items", #""hello""#),
            says: ["expected a list of records"]),
        Case(
            name: "HTML", answer: recording("/v1/items", "<!DOCTYPE html><p>Sign in", "Content-Type: text/html"),
            says: ["GET ", "/v1/items: not valid JSON", "<!DOCTYPE html>"]),
        Case(name: "nothing at all with 200", answer: recording("/v1/items", ""), says: ["/v1/items: not valid JSON"]),
        Case(
            name: "half a document", answer: recording("/v1/items", #"[{"id":1,"#), says: ["/v1/items: not valid JSON"]),
        Case(
            name: "records without their key", answer: recording("/v1/items", #"[{"name":"a"},{"name":"b"}]"#),
            says: ["GET ", "/v1/items: no record of the response can be stored", "key.missing at $[0]", "Item", "id"]),
        Case(
            name: "an object that is an error in disguise", answer: recording("/v1/items", #"{"error":"slow down"}"#),
            says: ["no record of the response can be stored", "key.missing at $"]),
        Case(
            name: "an error in place of the list, as in Slack's API",
            answer: recording("/v1/items", #"{"ok":false,"error":"invalid_auth"}"#), endpoint: "records: items",
            says: [
                "GET ",
                "/v1/items: the server returned 200: it has no records at `items`, and `error` says \"invalid_auth\" (",
                "tarn.yaml:",
            ]),
        Case(
            name: "an error in place of the data, as of GraphQL",
            answer: recording(
                "/v1/items", #"{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#),
            endpoint: "records: data.items", says: ["`errors` says \"API rate limit exceeded\""]),
        Case(
            name: "an error beside null in place of the list",
            answer: recording("/v1/items", #"{"data":{"items":null},"errors":[{"message":"no such team"}]}"#),
            endpoint: "records: data.items",
            says: ["it has no records at `data.items`, and `errors` says \"no such team\""]),
        Case(
            name: "404", answer: recording("/v1/items", #"{"message":"no such list"}"#, status: "404 Not Found"),
            says: ["GET ", "/v1/items: the server returned 404: no such list"]),
        Case(
            name: "500 with a long page",
            answer: recording("/v1/items", "<h1>\n" + String(repeating: "x ", count: 500), status: "500 Oops"),
            says: ["/v1/items: the server returned 500: <h1> x", "…"]),
    ]

    @Test("with partitions for each record, the lists are counted that were skipped")
    func listsOfPartitions() async throws {
        let server = try ScriptedServer { request in
            request.target == "/boards"
                ? .init(body: #"[{"id":1},{"id":2}]"#)
                : .init(status: "404 Not Found", body: #"{"message":"no"}"#)
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: id, attributes: { id: int } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards:
                    path: '/boards/{board.id}/{state}'
                    for_each: Board
                    partitions: { state: [open, closed] }
                    entity: Card
                """)
        let report = try await store.sync(server.base)
        let failure = try #require(report.endpoint("cards")?.failures.first)
        #expect("\(failure)".hasPrefix("skipped 4 lists; the first failure: "), "\(failure)")
        #expect("\(failure)".hasSuffix("--roots ENTITY,… without Board"), "\(failure)")
    }

    @Test("an answer that cannot be used is one line that names the request, and stores nothing", arguments: refused)
    func unusableAnswerIsAnError(_ each: Case) async throws {
        let server = try LocalServer([each.answer])
        let store = try MirrorStore(yaml: itemsYAML(each.endpoint))
        let report = try await store.sync(server.base + "/v1")
        let text = try #require(report.failures.first?.description)
        var rest = text[...]
        for part in each.says {
            let range = rest.range(of: part)
            #expect(range != nil, "\(part) in: \(text)")
            if let range { rest = rest[range.upperBound...] }
        }
        #expect(report.failures.count == 1 && !text.contains("\n"))
        #expect(try store.count("Item") == 0)
        #expect(try store.checkpoint("items") == nil)
        #expect(try store.read { try $0.responseCount } == 0)
    }

    @Test(
        "an empty list, an empty answer with 204 and a single object are success",
        arguments: [
            (recording("/v1/items", "[]"), 0), (recording("/v1/items", "", status: "204 No Content"), 0),
            (recording("/v1/items", #"{"id":5,"name":"five"}"#), 1),
        ])
    func emptyIsSuccess(answer: String, count: Int) async throws {
        let server = try LocalServer([answer])
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.listed == count && report.pages == 1)
        #expect(try store.count("Item") == count)
        #expect(try store.checkpoint("items")?.state == .complete)
    }

    @Test(
        "an optional list is proposed only for a path with a wildcard of which something was found, as YAML",
        arguments: [
            (#"{"data":{"list":[]}}"#, "data.items", nil), (#"{"name":"a"}"#, "groups.*.items", nil),
            (
                #"{"groups":[{"name":"a"}]}"#, "groups.*.'the.items'",
                "records: { 'groups.*.''the.items''': { entity: NAME, optional: true } }"
            ),
        ] as [(String, String, String?)])
    func proposedOptional(body: String, records: String, way: String?) async throws {
        let server = try LocalServer([recording("/v1/items", body)])
        let store = try MirrorStore(yaml: itemsYAML("records: \"\(records)\""))
        let text = try #require(try await store.sync(server.base + "/v1").texts.first)
        #expect(text.contains("optional: true") == (way != nil), "\(text)")
        if let way { #expect(text.contains(way), "\(text)") }
    }

    @Test("groups that all leave out their list have no records, if it is declared optional")
    func optionalInGroups() async throws {
        let server = try LocalServer([recording("/v1/items", #"{"groups":[{"name":"a"},{"name":"b"}]}"#)])
        let yaml = itemsYAML("records: { 'groups.*.items': { entity: Item, optional: true } }")
        let store = try MirrorStore(yaml: yaml.replacing("    entity: Item\n", with: ""))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.listed == 0 && report.pages == 1)
    }

    @Test("one record without a key is a diagnostic and skipped; the others of its page are stored")
    func keylessRecordIsSkipped() async throws {
        let server = try LocalServer([
            recording("/v1/items", #"[{"id":1,"name":"a"},{"name":"b"},{"id":"x","name":"c"},{"id":"4","name":"d"}]"#)
        ])
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty)
        #expect(report.report.diagnostics.map(\.code) == [.keyMissing, .keyMissing])
        #expect(report.report.diagnostics.map(\.path) == ["$[1]", "$[2]"])
        #expect(try store.dump().count == 2)
    }

    private static let several = """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, name: string } }
        endpoints:
          first: { path: /first, entity: Item }
          second: { path: /second, entity: Item }
          third: { path: /third, entity: Item }
        """

    private func answers(second: String) -> [String] {
        [recording("/v1/first", #"[{"id":1,"name":"a"}]"#), second, recording("/v1/third", #"[{"id":3,"name":"c"}]"#)]
    }

    @Test("an endpoint that fails leaves the others alone", arguments: ["403 No", "404 Not Found", "500 Oops"])
    func otherEndpointsGoOn(status: String) async throws {
        let server = try LocalServer(answers(second: recording("/v1/second", "", status: status)))
        let store = try MirrorStore(yaml: MirrorFailureTests.several)
        let report = try await store.sync(server.base + "/v1")
        #expect(report.endpoints.map(\.failures.count) == [0, 1, 0])
        #expect(server.requests.count == 3)
        #expect(try store.count("Item") == 2)
        #expect(try store.checkpoint("second") == nil)
    }

    @Test("refused credentials end the sync: the other endpoints would fail for the same reason")
    func refusedCredentialsEndTheSync() async throws {
        let server = try LocalServer(answers(second: recording("/v1/second", "", status: "401 No")))
        let store = try MirrorStore(yaml: MirrorFailureTests.several)
        let report = try await store.sync(server.base + "/v1") { $0.concurrency = 1 }
        #expect(report.endpoints.map(\.name) == ["first", "second"] && report.isCutShort)
        #expect(server.requests.count == 2)
        #expect(try store.count("Item") == 1)
    }

    @Test(
        "a 403 ends its endpoint only; if three are forbidden and none is answered, no other one begins",
        arguments: [true, false])
    func forbidden(isAnswered: Bool) async throws {
        let server = try ScriptedServer { request in
            isAnswered && request.target == "/a" ? .init(body: "[]") : .init(status: "403 No", body: "{}")
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  a: { path: /a, entity: Item }
                  b: { path: /b, entity: Item }
                  c: { path: /c, entity: Item }
                  d: { path: /d, entity: Item }
                  e: { path: /e, entity: Item }
                """)
        let report = try await store.sync(server.base) { $0.concurrency = 1 }
        let names = isAnswered ? ["a", "b", "c", "d", "e"] : ["a", "b", "c"]
        #expect(report.endpoints.map(\.name) == names && report.isCutShort == !isAnswered)
        #expect(report.failures.count == (isAnswered ? 4 : 3), "\(report.texts)")
        #expect(server.targets == names.map { "/" + $0 })
    }

    @Test("a server that cannot be reached ends the sync at its first request")
    func unreachableEndsTheSync() async throws {
        let dead = DeadPort()
        let store = try MirrorStore(yaml: MirrorFailureTests.several)
        let report = try await store.sync("http://127.0.0.1:\(dead.port)/v1") { $0.concurrency = 1 }
        #expect(report.endpoints.map(\.name) == ["first"])
        #expect(report.failures.count == 1 && report.failures.first?.isUnreachable == true)
        #expect(report.texts.first?.contains("GET http://127.0.0.1:\(dead.port)/v1/first") == true)
    }

    @Test("only the endpoints that are named are synced, in the order of the description")
    func namedEndpointsOnly() async throws {
        let server = try LocalServer(answers(second: recording("/v1/second", "[]")))
        let store = try MirrorStore(yaml: MirrorFailureTests.several)
        let report = try await store.sync(server.base + "/v1", names: ["third", "first"])
        #expect(report.endpoints.map(\.name) == ["first", "third"])
    }

    private static let nested = """
        api: { base: https://api.test.example/v1 }
        entities:
          Board: { key: slug, attributes: { slug: string, name: string } }
          Card:
            key: id
            attributes: { id: int, text: string }
            relationships: { board: { to: Board, inverse: cards } }
        endpoints:
          boards: { path: /boards, entity: Board }
          cards:
            path: '/boards/{board.slug}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
            paginate: header_link
        """

    private static let boards = recording(
        "/v1/boards", #"[{"slug":"a b","name":"A"},{"slug":"c/d","name":"C"},{"slug":"ü","name":"U"}]"#)

    private static func cards(_ slug: String, _ ids: [Int], page: Int = 1, of pages: Int = 1) -> String {
        let path = "/boards/\(slug)/cards"
        let body = ids.map { #"{"id":\#($0),"text":"t"}"# }.joined(separator: ",")
        let target = "/v1\(path)\(page > 1 ? "?page=\(page)" : "")"
        return page < pages
            ? recording(target, "[\(body)]", "Link: <https://api.test.example/v1\(path)?page=\(page + 1)>; rel=next")
            : recording(target, "[\(body)]")
    }

    @Test(
        "an endpoint that is walked for each record asks for every page of every parent, its key encoded, and sets the parent"
    )
    func everyParentIsWalked() async throws {
        let server = try LocalServer([
            MirrorFailureTests.boards, MirrorFailureTests.cards("a%20b", [1, 2], of: 2),
            MirrorFailureTests.cards("a%20b", [3], page: 2, of: 2), MirrorFailureTests.cards("c%2Fd", []),
            MirrorFailureTests.cards("%C3%BC", [9]),
        ])
        let store = try MirrorStore(yaml: MirrorFailureTests.nested)
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.endpoint("cards").map { $0.pages == 4 && $0.listed == 4 } == true)
        let lines = try store.dump()
        #expect(lines.contains { $0.hasPrefix("Board a b ") && $0.hasSuffix(" cards: 1 2 3") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("Board c/d ") && $0.hasSuffix(" cards:") })
        #expect(lines.contains { $0.hasPrefix("Board ü ") && $0.hasSuffix(" cards: 9") })
    }

    @Test("a 404 for one parent is a failure that names it; the other parents are walked")
    func failureOfOneParentLeavesTheOthers() async throws {
        let server = try LocalServer([
            MirrorFailureTests.boards, MirrorFailureTests.cards("a%20b", [1]), MirrorFailureTests.cards("%C3%BC", [9]),
        ])
        let store = try MirrorStore(yaml: MirrorFailureTests.nested)
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.count == 1)
        #expect(
            report.texts.first?.contains("/v1/boards/c%2Fd/cards: the server returned 404") == true, "\(report.texts)")
        #expect(report.endpoint("cards")?.pages == 2)
        #expect(try store.count("Card") == 2)
        #expect(try store.checkpoint("cards c/d").map { $0.state == .underWay && $0.failure?.kind == "404" } == true)
        #expect(try store.checkpoint("cards ü")?.state == .complete)
    }

    @Test("an answer that was refused leaves nothing behind in the report of the next one")
    func refusedAnswerLeavesNoTrace() async throws {
        let strange = #"[{"name":1,"strange":true},{"name":2}]"#
        let server = try LocalServer(answers(second: recording("/v1/second", strange)))
        let store = try MirrorStore(yaml: MirrorFailureTests.several)
        let report = try await store.sync(server.base + "/v1")
        #expect(report.endpoints.map(\.failures.count) == [0, 1, 0])
        let third = try #require(report.endpoint("third")?.report)
        #expect(third.diagnosticCount == 0 && third.unmapped == [] && third.created == 1 && third.listed == 1)
    }

    @Test("a refusal with a document of any size, or any depth, is read to its 64th KiB and reported in one line")
    func refusalsAreCut() async throws {
        let bodies = [
            #"{"message":"no\nway "# + String(repeating: "x", count: 1000) + #""}"#,
            #"{"message":"late","data":["# + String(repeating: "[],", count: 1 << 20) + "1]}",
            String(repeating: "[", count: 1 << 20), String(repeating: #"{"message":"#, count: 1 << 18),
        ]
        for body in bodies {
            let seen = Mutex(0)
            let server = try RawServer(["HTTP/1.1 400 Bad Request\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"]
            )
            let inner = MirrorStore.impatient(),
                transport = ClosureTransport { request in
                    let response = try await inner.send(request)
                    seen.withLock { $0 = response.body.count }
                    return response
                }
            let report = try await MirrorStore(yaml: itemsYAML()).sync(server.base, transport: transport)
            #expect(seen.withLock { $0 } == min(body.utf8.count, 64 << 10))
            let line = report.texts.joined()
            #expect(line.contains("the server returned 400") && line.utf8.count < 1000, "\(line)")
        }
    }
}
