// The requests of a specification that change records, as the `write` of entities.

import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Requests that change records, of a specification", .timeLimit(.minutes(2)))
struct ProposedWritesTests {
    /// Returns the proposal of a specification in YAML.
    private func proposal(_ paths: String, _ schemas: String, server: String = "https://a.example") throws -> Proposal {
        func indented(_ text: String) -> String {
            text.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        }
        let text = """
            openapi: 3.0.3
            info: { title: Forge, version: '1' }
            servers: [{ url: '\(server)' }]
            paths:
            \(indented(paths))
            components:
              schemas:
            \(indented(schemas))
            """
        return try Proposal([], specification: try OpenAPIDocument(Array(text.utf8), name: "openapi.yaml"))
    }

    private func writes(_ proposal: Proposal, _ entity: String) throws -> WriteRequests? {
        try Description.parse(proposal.text, file: "tarn.yaml").writes[entity]
    }

    private static func list(_ schema: String) -> String {
        "{ responses: { '200': { content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/\(schema)' } } } } } } }"
    }

    private static func one(_ schema: String) -> String {
        "{ responses: { '200': { content: { application/json: { schema: { $ref: '#/components/schemas/\(schema)' } } } } } }"
    }

    private static func body(_ schema: String, _ type: String = "application/json") -> String {
        "{ requestBody: { content: { \(type): { schema: \(schema) } } }, responses: { '200': { description: ok } } }"
    }

    private static let issue = """
        User: { type: object, properties: { id: { type: integer }, login: { type: string } }, required: [id] }
        Issue:
          type: object
          required: [id, number, title]
          properties:
            id: { type: integer, readOnly: true }
            number: { type: integer, readOnly: true }
            title: { type: string }
            body: { type: string, nullable: true }
            dueOn: { type: string }
            created_at: { type: string, format: date-time, readOnly: true }
            user: { $ref: '#/components/schemas/User' }
            assignees: { type: array, items: { $ref: '#/components/schemas/User' } }
        """

    // MARK: Forms

    @Test("POST at a list, PATCH and DELETE at a record: the writable fields, in the places of the body")
    func plain() throws {
        let input = """
            { type: object, required: [title, reason], properties: { title: { type: string }, body: { type: string },
              dueOn: { type: string }, user_id: { type: integer }, assignees: { type: array, items: { type: integer } },
              reason: { type: string } } }
            """.split(separator: "\n").joined(separator: " ")
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")), post: \(Self.body(input)) }
            /issues/{issue_number}:
              get: \(Self.one("Issue"))
              patch: \(Self.body("{ $ref: '#/components/schemas/Issue' }"))
              delete: { responses: { '204': { description: gone } } }
            """, Self.issue)
        let writes = try #require(try writes(proposal, "Issue"), "\(proposal.text)")
        let create = try #require(writes.create), update = try #require(writes.update)
        #expect(create.method == "POST" && create.url == "/issues")
        #expect(create.fields == ["title", "body", "dueOn", "user", "assignees"], "\(proposal.text)")
        #expect(create.places == ["dueOn": "dueOn", "user": "user_id"])
        #expect(proposal.text.contains("UNCERTAIN: `reason` is required, and no field has it"))
        #expect(update.method == "PATCH" && update.url == "/issues/{number}")
        // A read-only member is not sent, and a nested object goes by its key.
        #expect(update.fields == ["title", "body", "dueOn", "user", "assignees"], "\(proposal.text)")
        #expect(update.referenceForms == ["user": .object, "assignees": .object])
        #expect(writes.delete?.method == "DELETE" && writes.delete?.url == "/issues/{number}")
    }

    @Test("a path below another record: the variable is the relationship to it; a fixed value is a text")
    func belowParent() throws {
        let proposal = try proposal(
            """
            /orgs/{org}/repos:
              parameters: [{ name: org, in: path, required: true, schema: { type: string, example: acme } }]
              get: \(Self.list("Repo"))
              post: \(Self.body("{ type: object, properties: { name: { type: string } } }"))
            /orgs/{org}/repos/{repo_name}/issues:
              parameters:
                - { name: org, in: path, required: true, schema: { type: string, example: acme } }
                - { name: repo_name, in: path, required: true, schema: { type: string } }
              get: \(Self.list("Issue"))
              post: \(Self.body("{ $ref: '#/components/schemas/Issue' }"))
            """,
            Self.issue + "\n"
                + "Repo: { type: object, required: [id, name], properties: { id: { type: integer }, name: { type: string } } }"
        )
        #expect(try writes(proposal, "Repo")?.create?.url == "/orgs/acme/repos", "\(proposal.text)")
        #expect(try writes(proposal, "Issue")?.create?.url == "/orgs/acme/repos/{repo.name}/issues", "\(proposal.text)")
    }

    @Test("JSON:API: the envelope, its constants and the key, and the media type")
    func jsonAPI() throws {
        let article = """
            Article:
              type: object
              required: [type, id]
              properties:
                type: { type: string, enum: [articles] }
                id: { type: string }
                attributes: { type: object, properties: { title: { type: string }, words: { type: integer } } }
            """
        let input = """
            { type: object, properties: { data: { $ref: '#/components/schemas/Article' } } }
            """
        let answer =
            "{ responses: { '200': { content: { application/vnd.api+json: { schema: { type: object, properties: { data: { type: array, items: { $ref: '#/components/schemas/Article' } } } } } } } } }"
        let proposal = try proposal(
            """
            /articles: { get: \(answer) }
            /articles/{id}: { patch: \(Self.body(input, "application/vnd.api+json")) }
            """, article)
        let update = try #require(try writes(proposal, "Article")?.update, "\(proposal.text)")
        #expect(update.envelope == "data" && update.records == "data" && update.url == "/articles/{id}")
        #expect(update.values.contains(.init("data.type", .string("articles"))), "\(proposal.text)")
        #expect(update.values.contains(.init("data.id", .string("{id}"))), "\(proposal.text)")
        #expect(update.fields?.contains("id") == false)
        #expect(update.headers.map(\.value) == ["application/vnd.api+json"])
    }

    @Test(
        "formats: a form by POST, a merge patch, a JSON patch",
        arguments: [
            ("post", "application/x-www-form-urlencoded", WriteRequest.Format.form),
            ("patch", "application/merge-patch+json", .mergePatch),
            ("patch", "application/json-patch+json", .jsonPatch),
        ])
    func formats(method: String, type: String, format: WriteRequest.Format) throws {
        let schema =
            format == .jsonPatch
            ? "{ type: array, items: { type: object } }" : "{ type: object, properties: { title: { type: string } } }"
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")) }
            /issues/{id}: { get: \(Self.one("Issue")), \(method): \(Self.body(schema, type)) }
            """, Self.issue)
        let update = try #require(try writes(proposal, "Issue")?.update, "\(proposal.text)")
        #expect(update.format == format && update.method == method.uppercased())
        #expect((update.body ?? .changed) == .changed)
        #expect(update.fields == (format == .jsonPatch ? nil : ["title"]))
    }

    @Test("a PUT has the URL at which the record is read, and an idempotency key its declared field")
    func put() throws {
        let proposal = try proposal(
            """
            /issues:
              get: \(Self.list("Issue"))
              post:
                parameters: [{ name: X-Idempotency-Key, in: header, required: true, schema: { type: string } }]
                requestBody: { content: { application/json: { schema: { type: object, properties: { ticket: { $ref: '#/components/schemas/Issue' } } } } } }
                responses: { '201': { description: made } }
            /issues/{id}: { get: \(Self.one("Issue")), put: \(Self.body("{ $ref: '#/components/schemas/Issue' }")) }
            """, Self.issue)
        let writes = try #require(try writes(proposal, "Issue"), "\(proposal.text)")
        #expect(writes.update?.method == "PUT" && writes.read == "/issues/{id}")
        #expect(writes.idempotency == "X-Idempotency-Key" && writes.create?.envelope == "ticket")
    }

    @Test(
        "keys that are all in camelCase have their style declared, for requests that are written by hand, too",
        arguments: [
            (["dueOn", "id"], true), (["dueOn", "_id", "__v"], true), (["dueOn", "due_on"], false),
            (["title"], false), (["DueOn"], false), (["due-on"], false),
        ])
    func style(names: [String], isCamelCase: Bool) {
        let shape = ObjectShape()
        shape.add(.object(names.map { JSONValue.Member($0, .number("1")) }))
        #expect(KeyStyle.isCamelCase([shape]) == isCamelCase)
    }

    @Test("a proposal of such answers has the style, and its bodies the keys of the answers")
    func declaredStyle() throws {
        let proposal = try proposal(
            "/things: { get: \(Self.list("Thing")), post: \(Self.body("{ $ref: '#/components/schemas/Thing' }")) }",
            "Thing: { type: object, required: [id], properties: { id: { type: integer }, dueOn: { type: string } } }")
        #expect(proposal.text.contains("\n  naming: camelCase"), "\(proposal.text)")
        #expect(try writes(proposal, "Thing")?.create?.places == [:], "\(proposal.text)")
    }

    @Test("the URL ends like the path of the specification: with a slash, or without")
    func slash() throws {
        let proposal = try proposal(
            """
            /issues/: { get: \(Self.list("Issue")), post: \(Self.body("{ $ref: '#/components/schemas/Issue' }")) }
            /issues/{id}/:
              get: \(Self.one("Issue"))
              patch: \(Self.body("{ $ref: '#/components/schemas/Issue' }"))
              delete: { responses: { '204': { description: gone } } }
            """, Self.issue)
        let writes = try #require(try writes(proposal, "Issue"), "\(proposal.text)")
        #expect(writes.create?.url == "/issues/" && writes.update?.url == "/issues/{id}/", "\(proposal.text)")
        #expect(writes.delete?.url == "/issues/{id}/")
    }

    @Test("a PUT whose path has no GET declares no URL at which the record is read")
    func putOnly() throws {
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")) }
            /issues/{id}: { put: \(Self.body("{ $ref: '#/components/schemas/Issue' }")) }
            """, Self.issue)
        let writes = try #require(try writes(proposal, "Issue"), "\(proposal.text)")
        #expect(writes.update?.method == "PUT" && writes.read == nil, "\(proposal.text)")
    }

    @Test("the answer has the record where the specification declares it, whatever the place in the body is")
    func answers() throws {
        let issue = "$ref: '#/components/schemas/Issue'"
        func operation(_ body: String, _ answer: String) -> String {
            "{ requestBody: { content: { application/json: { schema: \(body) } } }, responses: { '400': { description: no }, '201': { content: { application/json: { schema: \(answer) } } } } }"
        }
        func wrapped(_ name: String) -> String { "{ type: object, properties: { \(name): { \(issue) } } }" }
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")), post: \(operation("{ \(issue) }", wrapped("data"))) }
            /issues/{id}: { get: \(Self.one("Issue")), patch: \(operation(wrapped("issue"), "{ \(issue) }")) }
            """, Self.issue)
        let writes = try #require(try writes(proposal, "Issue"), "\(proposal.text)")
        #expect(writes.create?.envelope.keys == [] && writes.create?.records == "data", "\(proposal.text)")
        #expect(writes.update?.envelope == "issue" && writes.update?.records.keys == [], "\(proposal.text)")
        #expect(!proposal.text.contains("records: issue"))
    }

    @Test("a constant that is a text of digits stays a text")
    func constantText() throws {
        let input =
            "{ type: object, required: [version], properties: { title: { type: string }, version: { type: string, enum: ['1.0'] } } }"
        let proposal = try proposal(
            "/issues: { get: \(Self.list("Issue")), post: \(Self.body(input)) }", Self.issue)
        let create = try #require(try writes(proposal, "Issue")?.create, "\(proposal.text)")
        #expect(create.values == [.init("version", .string("1.0"))], "\(proposal.text)")
    }

    @Test("another record in a body is no envelope, even if it has more of the names")
    func nestedRecord() throws {
        let comment = """
            Comment:
              type: object
              required: [id, body]
              properties:
                id: { type: integer }
                title: { type: string }
                body: { type: string }
                dueOn: { type: string }
                issue: { $ref: '#/components/schemas/Issue' }
            """
        let input =
            "{ type: object, properties: { body: { type: string }, issue: { $ref: '#/components/schemas/Issue' } } }"
        let proposal = try proposal(
            "/comments: { get: \(Self.list("Comment")), post: \(Self.body(input)) }", Self.issue + "\n" + comment)
        let create = try #require(try writes(proposal, "Comment")?.create, "\(proposal.text)")
        #expect(create.envelope.keys == [] && create.fields == ["body", "issue"], "\(proposal.text)")
        #expect(create.referenceForms == ["issue": .object])
    }

    @Test("references of another type than the key, such as logins, are not sent: a comment says so")
    func otherKeys() throws {
        let input =
            "{ type: object, properties: { title: { type: string }, assignees: { type: array, items: { type: string } } } }"
        let proposal = try proposal(
            "/issues: { get: \(Self.list("Issue")), post: \(Self.body(input)) }", Self.issue)
        let create = try #require(try writes(proposal, "Issue")?.create, "\(proposal.text)")
        #expect(create.fields == ["title"], "\(proposal.text)")
        #expect(proposal.text.contains("UNCERTAIN: `assignees` is not sent: its values are no keys of User."))
    }

    @Test("guesses of a URL are told: a value that is not known, and a variable with another name than the field")
    func uncertainURLs() throws {
        let proposal = try proposal(
            """
            /orgs/{org}/issues: { get: \(Self.list("Issue")) }
            /orgs/{org}/issues/{issue}: { delete: { responses: { '204': { description: gone } } } }
            """, Self.issue)
        #expect(try writes(proposal, "Issue")?.delete?.url == "/orgs/CHANGE_ME/issues/{id}", "\(proposal.text)")
        #expect(proposal.text.contains("UNCERTAIN: write the value for CHANGE_ME, as in the endpoint"))
        #expect(proposal.text.contains("UNCERTAIN: `{issue}` of the path is taken for `id`."))
    }

    // MARK: What is not described

    @Test("requests that a description cannot have are named with the reason")
    func named() throws {
        let proposal = try proposal(
            """
            /issues:
              get: \(Self.list("Issue"))
              post: \(Self.body("{ type: object, properties: { title: { type: string } } }", "multipart/form-data"))
            /issues/{id}:
              get: \(Self.one("Issue"))
              patch:
                parameters: [{ name: reason, in: query, required: true, schema: { type: string } }]
                requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Issue' } } } }
                responses: { '200': { description: ok } }
              delete: { deprecated: true, responses: { '204': { description: gone } } }
            """, Self.issue)
        #expect(try writes(proposal, "Issue") == nil)
        #expect(proposal.text.contains("POST /issues is not described: its body is multipart/form-data."))
        #expect(proposal.text.contains("PATCH /issues/{id} is not described: its parameter `reason` is required."))
        #expect(!proposal.text.contains("DELETE"))
    }

    @Test("names from outside stay texts")
    func hostile() throws {
        let input =
            #"{ type: object, required: ["a: b\n#x", title], properties: { title: { type: string }, "a: b\n#x": { type: string, enum: ["{id}"] }, "{x}": { type: string } } }"#
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")), post: \(Self.body(input)) }
            """, Self.issue)
        let create = try #require(try writes(proposal, "Issue")?.create, "\(proposal.text)")
        #expect(create.fields == ["title"] && create.values.isEmpty, "\(proposal.text)")
    }

    // MARK: Use

    @Test("the proposed requests are those that the server takes")
    func sent() async throws {
        let server = try ScriptedServer { request in
            switch (request.method, request.target) {
            case ("GET", _): ScriptedServer.Answer(body: #"[{"id":1,"number":11,"title":"a","dueOn":"may"}]"#)
            case ("POST", "/issues"):
                ScriptedServer.Answer(status: "201 Created", body: #"{"id":2,"number":12,"title":"new"}"#)
            case ("PATCH", "/issues/11"):
                ScriptedServer.Answer(body: #"{"id":1,"number":11,"title":"a","dueOn":"june"}"#)
            default: ScriptedServer.Answer(status: "404 Not Found")
            }
        }
        let proposal = try proposal(
            """
            /issues: { get: \(Self.list("Issue")), post: \(Self.body("{ $ref: '#/components/schemas/Issue' }")) }
            /issues/{issue_number}:
              get: \(Self.one("Issue"))
              patch: \(Self.body("{ $ref: '#/components/schemas/Issue' }"))
            """, Self.issue, server: server.base)
        let folder = try TemporaryFolder()
        let description = try Description.parse(proposal.text, file: folder("tarn.yaml"))
        let store = try Store.open(at: folder("store"), schema: description.schema)
        let client = try APIClient(description, store: store, transport: CurlTransport())
        _ = await APIMirror(client).sync()
        let outbox = client.outbox()
        try await outbox.create("Issue", [.init("title", .string("new"))])
        try await outbox.update("Issue", RecordKey(1), [.init("dueOn", .string("june"))])
        let report = try await outbox.drain()
        #expect(report.sent == 2 && report.warnings.isEmpty, "\(report)")
        let bodies = server.requests.filter { $0.method != "GET" }.map(\.body)
        #expect(Set(bodies) == [#"{"title":"new"}"#, #"{"dueOn":"june"}"#], "\(bodies)")
        #expect(try store.read { try $0.record("Issue", RecordKey(2)) } != nil)
    }
}
