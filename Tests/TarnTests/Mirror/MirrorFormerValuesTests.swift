// A description that was edited: the fields of an existing mirror that come from elsewhere now, and
// rules that a 304 cannot decide by.

import TarnDescription
import TarnHTTP
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Mirror: an edited description", .timeLimit(.minutes(5)))
struct MirrorFormerValuesTests {
    private static func yaml(_ attribute: String, _ endpoint: String = "") -> String {
        """
        api: { base: https://api.test.example/v1 }
        entities:
          Item: { key: id, attributes: { id: int, \(attribute) }, ignore: ['*'] }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page\(endpoint) }
        """
    }

    /// Of two records, only the first one has a note.
    private static let server = [
        recording("/v1/items", #"[{"id":1,"name":"one","note":"x"},{"id":2,"name":"two"}]"#, "ETag: \"v1\"")
    ]

    @Test("a field that comes from elsewhere is named until a sync has succeeded; then no longer")
    func otherPath() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("label: { type: string?, from: name }"))
        #expect(try await first.sync(base).formerValues.isEmpty)
        #expect(try await first.sync(base).formerValues.isEmpty)

        let second = try first.edited(Self.yaml("label: { type: string?, from: note }"))
        let failed = try await second.sync("http://127.0.0.1:1")
        #expect(!failed.failures.isEmpty && failed.formerValues.map(\.field) == ["label"])
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(report.formerValues == [FormerValues(entity: "Item", field: "label", records: 2)])
        #expect(try second.record("Item", 1)["label"] == .string("x"))
        #expect(try second.record("Item", 2)["label"] == .string("two"))
        let next = try await second.sync(base)
        #expect(next.notModified == 1 && next.formerValues.isEmpty)
    }

    @Test("a field that comes from elsewhere is named, too, if the API has moved to another host with the same edit")
    func otherHost() async throws {
        let server = try LocalServer(Self.server), other = try LocalServer(Self.server)
        func yaml(_ attribute: String, _ server: LocalServer) -> String {
            Self.yaml(attribute).replacing("https://api.test.example", with: server.base)
        }
        let first = try MirrorStore(yaml: yaml("label: { type: string?, from: name }", server))
        #expect(try await first.sync(nil).formerValues.isEmpty)
        let second = try first.edited(yaml("label: { type: string?, from: note }", other))
        let report = try await second.sync(nil)
        #expect(report.failures.isEmpty && report.formerValues.map(\.field) == ["label"], "\(report.texts)")
        #expect(try await second.sync(nil).formerValues.isEmpty)
        let third = try first.edited(yaml("label: { type: string?, from: note }", server))
        #expect(try await third.sync(nil).formerValues.map(\.field) == ["label"])
    }

    @Test("the first sync of another server's description, which shares the store, names no field of the other one")
    func otherServer() async throws {
        let server = try LocalServer(Self.server), other = try LocalServer(Self.server)
        let fields = "label: { type: string?, from: name }, a: string?, b: string?, c: string?"
        let first = try MirrorStore(yaml: Self.yaml(fields).replacing("https://api.test.example", with: server.base))
        #expect(try await first.sync(nil).failures.isEmpty)
        let second = Self.yaml("label: { type: string?, from: note }")
        let report = try await first.edited(second.replacing("https://api.test.example", with: other.base)).sync(nil)
        #expect(report.failures.isEmpty && report.formerValues.isEmpty, "\(report.texts) \(report.formerValues)")
    }

    @Test("a relationship to records known by their positions is named if another list has precedence")
    func positions() async throws {
        func yaml(_ lines: String) -> String {
            """
            api: { base: https://api.test.example/v1 }
            entities:
              Item:
                key: id
                attributes: { id: int }
                relationships: { lines: { to: [Line]\(lines) } }
                ignore: ['*']
              Line:
                key: [item, position]
                attributes: { position: { type: int, from: '@position' }, text: string? }
                relationships: { item: { to: Item, from: '@parent' } }
                ignore: ['*']
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
            """
        }
        let server = try LocalServer([
            recording("/v1/items", #"[{"id":1,"lines":[{"text":"a"}],"marks":[{"name":"b"}]}]"#, "ETag: \"v1\"")
        ])
        let base = server.base + "/v1", first = try MirrorStore(yaml: yaml(""))
        #expect(try await first.sync(base).formerValues.isEmpty)
        let report = try await first.edited(yaml(", from: marks")).sync(base)
        #expect(report.formerValues.map(\.field) == ["lines"], "\(report.texts) \(report.formerValues)")
    }

    @Test("a sync with a limit leaves former values to the next one; a field without values is not named")
    func limited() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let both = "label: { type: string?, from: name }, other: { type: string?, from: none }"
        let first = try MirrorStore(yaml: Self.yaml(both))
        try await first.sync(base)
        let others = both.replacing("from: name", with: "from: note").replacing("from: none", with: "from: nil")
        let second = try first.edited(Self.yaml(others))
        let limited = try await second.sync(base, options: { $0.mirror.limit = 1 })
        #expect(limited.failures.isEmpty && limited.formerValues.map(\.field) == ["label"], "\(limited.texts)")
        #expect(try await second.sync(base).formerValues.map(\.field) == ["label"])
        #expect(try await second.sync(base).formerValues.isEmpty)
    }

    @Test(
        "a further source, another order, and a new name with the former path leave no former values",
        arguments: [
            ("label: { type: string?, from: name }", "label: { type: string?, from: [note, name] }"),
            ("label: { type: string?, from: [note, name] }", "label: { type: string?, from: [name, note] }"),
            ("name: string?", "name: { type: string?, from: name }"),
            ("name: string?", "label: { type: string?, from: name, was: name }"),
            ("code: { type: string?, from: name }", "label: { type: string?, from: name, was: code }"),
        ])
    func furtherSource(before: String, after: String) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(before))
        try await first.sync(base)
        let report = try await first.edited(Self.yaml(after)).sync(base)
        #expect(report.failures.isEmpty && report.formerValues.isEmpty, "\(report.texts)")
    }

    @Test(
        "a constant, a value for absent fields and a default leave former values when they go",
        arguments: [
            "label: { type: string?, value: v1 }", "label: { type: string?, absent: { value: none } }",
            "label: { type: string?, default: none }",
        ])
    func removedSource(before: String) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml(before))
        try await first.sync(base)
        let second = try first.edited(Self.yaml("label: string?"))
        #expect(try await second.sync(base).formerValues == [FormerValues(entity: "Item", field: "label", records: 2)])
        #expect(try second.record("Item", 1)["label"] != nil)
    }

    @Test("absent: clear, beside the new path, clears the former values, as a new mirror has it, and none are named")
    func cleared() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("label: { type: string?, from: name }"))
        try await first.sync(base)
        let second = try first.edited(Self.yaml("label: { type: string?, from: note, absent: clear }"))
        let sources = FieldSources(second.description)
        #expect(try first.read { try sources.formerValues($0) }.isEmpty)
        #expect(try await second.sync(base).formerValues.isEmpty)
        #expect(try second.record("Item", 1)["label"] == .string("x"))
        #expect(try second.record("Item", 2)["label"] == .null)
    }

    @Test("a constant replaces the values of a path, and of another constant: no former ones are named")
    func constant() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("label: { type: string?, from: name }"))
        try await first.sync(base)
        for value in ["v1", "v2"] {
            let changed = try first.edited(Self.yaml("label: { type: string?, value: \(value) }"))
            #expect(try await changed.sync(base).formerValues.isEmpty)
            #expect(try changed.record("Item", 2)["label"] == .string(value))
        }
    }

    @Test("a key that comes from elsewhere identifies other records: it has no former values")
    func otherKey() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        func yaml(_ key: String) -> String {
            Self.yaml("name: string?").replacing("id: int", with: "id: { type: string, from: \(key) }")
        }
        let first = try MirrorStore(yaml: yaml("name"))
        try await first.sync(base)
        let second = try first.edited(yaml("note"))
        #expect(try await second.sync(base).formerValues.isEmpty)
        #expect(try second.read { try $0.record("Item", RecordKey("x")) }?["name"] == .string("one"))
    }

    @Test("a renamed field has the former values of its earlier name, and none once it is renamed back")
    func renamed() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("code: { type: string?, from: name }"))
        try await first.sync(base)
        let second = try first.edited(Self.yaml("label: { type: string?, from: note, was: code }"))
        #expect(
            try await second.sync(base).formerValues == [FormerValues(entity: "Item", field: "label", records: 2)])
        let third = try first.edited(Self.yaml("code: { type: string?, from: note, was: label }"))
        #expect(try await third.sync(base).formerValues.isEmpty)
        #expect(try third.record("Item", 2)["code"] == .string("two"))
    }

    @Test(
        "a new rule by the text of a body applies to a list that the server answers with 304",
        arguments: ["then: fail", "then: empty"])
    func textRule(action: String) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("name: string?"))
        try await first.sync(base)
        #expect(try await first.sync(base).notModified == 1)
        let rule = ", responses: [{ contains: '\"note\"', \(action) }]"
        let report = try await first.edited(Self.yaml("name: string?", rule)).sync(base)
        #expect(report.notModified == 0 && report.listed == 0)
        #expect(report.failures.isEmpty == (action == "then: empty"), "\(report.texts)")
    }

    @Test("a new rule by the status of a success applies to a list that the server answers with 304")
    func statusRule() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("name: string?"))
        try await first.sync(base)
        let rule = ", responses: [{ status: 200, then: empty }]"
        let report = try await first.edited(Self.yaml("name: string?", rule)).sync(base)
        #expect(report.notModified == 0 && report.listed == 0 && report.failures.isEmpty, "\(report.texts)")
    }

    @Test("two descriptions that take turns name a field with other sources until each has returned once")
    func inTurn() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("label: { type: string?, from: name }"))
        let second = try first.edited(Self.yaml("label: { type: string?, from: note }"))
        var named: [Bool] = []
        for _ in 0..<4 {
            for store in [first, second] { named.append(try await !store.sync(base).formerValues.isEmpty) }
        }
        #expect(named == [false, true, true, true, false, false, false, false])
    }

    @Test(
        "records keep the kind of a rule that was removed: it is named once, and not if a rule names the parent",
        arguments: [("kinds: { Big: { name: none } }, ", true), ("kinds: { Item: {} }, ", false), ("", true)])
    func removedKinds(after: String, isNamed: Bool) async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        func yaml(_ kinds: String) -> String {
            Self.yaml("name: string?").replacing("Item: { key", with: "Big: { parent: Item }\n  Item: { \(kinds)key")
        }
        let first = try MirrorStore(yaml: yaml("kinds: { Big: { name: one } }, "))
        #expect(try await first.sync(base).formerValues.isEmpty)
        let second = try first.edited(yaml(after))
        let report = try await second.sync(base)
        #expect(report.failures.isEmpty && report.formerValues.map(\.isOfKinds) == (isNamed ? [true] : []))
        #expect(try second.record("Item", 1).entity == (isNamed ? "Big" : "Item"))
        #expect(try await second.sync(base).formerValues.isEmpty)
    }

    @Test("a field that comes from elsewhere is named once beside an endpoint that always fails")
    func failingEndpoint() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        func yaml(_ attribute: String) -> String {
            Self.yaml(attribute) + "\n  lost: { path: /lost, entity: Item, paginate: single_page }"
        }
        let first = try MirrorStore(yaml: yaml("label: { type: string?, from: name }"))
        try await first.sync(base)
        let second = try first.edited(yaml("label: { type: string?, from: note }"))
        for isFirst in [true, false] {
            let report = try await second.sync(base)
            #expect(!report.failures.isEmpty && report.formerValues.isEmpty != isFirst, "\(report.texts)")
        }
    }

    @Test("so does a rule of the API, be it the only one or another one")
    func textRuleOfAPI() async throws {
        func yaml(_ rule: String) -> String {
            """
            apis: { a: { base: https://api.test.example/v1 }, b: { base: https://api.test.example/v1\(rule) } }
            entities:
              Item: { api: b, key: id, attributes: { id: int, name: string? }, ignore: ['*'] }
            endpoints:
              items: { api: b, path: /items, entity: Item, paginate: single_page }
            """
        }
        let rule = ", responses: [{ contains: '\"note\"', then: fail }]", one = Self.yaml("name: string?")
        let oneWithRule = one.replacing("example/v1 }", with: "example/v1\(rule) }")
        for (before, after) in [(one, oneWithRule), (yaml(""), yaml(rule))] {
            let transport = ConfirmingTransport(#"[{"id":1,"name":"one","note":"x"}]"#)
            let first = try MirrorStore(yaml: before)
            try await first.sync(nil, transport: transport)
            #expect(try await first.sync(nil, transport: transport).notModified == 1)
            let report = try await first.edited(after).sync(nil, transport: transport)
            #expect(report.notModified == 0 && report.failures.count == 1, "\(report.texts)")
        }
    }

    @Test("records that a rule has kept out come with the next sync after it is removed, by 304 or not")
    func removedTextRule() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let rule = ", responses: [{ contains: '\"note\"', then: empty }]"
        let first = try MirrorStore(yaml: Self.yaml("name: string?", rule))
        try await first.sync(base)
        #expect(try first.count("Item") == 0)
        let second = try first.edited(Self.yaml("name: string?"))
        try await second.sync(base)
        #expect(try second.count("Item") == 2)
    }

    @Test("a rule for refusals, which a 304 is none of, leaves the list confirmed")
    func refusalRule() async throws {
        let server = try LocalServer(Self.server), base = server.base + "/v1"
        let first = try MirrorStore(yaml: Self.yaml("name: string?"))
        try await first.sync(base)
        let rule = ", responses: [{ status: 403, contains: quota, then: retry }]"
        #expect(try await first.edited(Self.yaml("name: string?", rule)).sync(base).notModified == 1)
    }
}

/// Confirms its one response as often as it is asked with a condition.
private struct ConfirmingTransport: Transport {
    private let body: [UInt8]

    init(_ text: String) { body = Array(text.utf8) }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let isConditional = request.headers["If-None-Match"] != nil
        return TransportResponse(
            status: isConditional ? 304 : 200, headers: TransportHeaders([.init("ETag", "\"v1\"")]),
            body: isConditional ? [] : body)
    }
}
