// Proposals from OpenAPI documents.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals from OpenAPI")
struct SpecificationTests {
    private func document(_ text: String) throws -> OpenAPIDocument {
        try OpenAPIDocument(Array(text.utf8), name: "spec")
    }

    private func proposal(_ name: String) throws -> Proposal {
        let path = Checkout.root + "/tools/init-compare/specifications/" + name
        return try Proposal([], specification: try OpenAPIDocument(Sampler.contents(ofFile: path), name: name))
    }

    @Test("the forge: Link, list for each parent by login and number, an incremental parameter")
    func forge() throws {
        let text = try proposal("forge.json").text
        for expected in [
            "base: https://api.forge.example/v1", "auth: { bearer: { env: FORGE_TOKEN } }",
            "path: /orgs/{organization.login}/teams", "path: /repos/{owner}/{repo}/issues/{issue.number}/comments",
            "with: { owner: acme, repo: anvil, per_page: 100 }", "paginate: header_link",
            "parent: { to: Team, from: parent_id, inverse: parentOf }", "user: { to: User, inverse: issues }",
            "\n    since: { param: since, field: updated_at }",
        ] {
            #expect(text.contains(expected), "\(expected) in\n\(text)")
        }
    }

    @Test("the shop: offset and limit, envelope, foreign keys in camel case, money")
    func shop() throws {
        let text = try proposal("shop.yaml").text
        for expected in [
            "base: https://eu.shop.example/api/v2", "records: data", "price: decimal", "key: number",
            "paginate: { offset: { param: offset, per_page: { limit: 200 }, total: total } }",
            "category: { to: Category, from: categoryId, inverse: products }",
            "for_each: { entity: Product, parent: product }",
            "  # productDetails:", "since: { param: updated_after, field: updatedAt }",
        ] {
            #expect(text.contains(expected), "\(expected) in\n\(text)")
        }
    }

    @Test("the CMS: cursor, kinds by a discriminator, a key in a header field")
    func cms() throws {
        let proposal = try proposal("cms.yaml"), text = proposal.text
        for expected in [
            "auth: { api_key: { key: { env: PAPYRUS_CMS_KEY }, header: X-Papyrus-Key } }", "Article: { kind: article }",
            "cursor: { path: meta.next_cursor, param: cursor, has_more: meta.has_more }", "cover: Asset",
            "images: { to: [Asset], ordered: true }", "key: slug", "startsOn: { type: date?, format: day }",
        ] {
            #expect(text.contains(expected), "\(expected) in\n\(text)")
        }
        #expect(
            proposal.entities.contains("Gallery")
                && proposal.endpoints == ["spaces", "entries", "assets", "authors", "tags"])
    }

    @Test("live answers complete a specification: real pages, values and nulls")
    func live() async throws {
        let folder = try TemporaryFolder(), base = "https://api.test.example/v1"
        let specification = try document(
            """
            openapi: 3.0.0
            info: { title: Things, version: '1' }
            servers: [{ url: '\(base)' }]
            paths:
              /things:
                get:
                  responses:
                    '200':
                      description: ok
                      content:
                        application/json:
                          schema: { type: array, items: { $ref: '#/components/schemas/Thing' } }
            components:
              schemas:
                Thing:
                  type: object
                  required: [id, state]
                  properties:
                    id: { type: integer }
                    state: { type: string, enum: [a, b, c] }
                    note: { type: string }
                    rare: { type: string, format: date-time }
            """)
        #expect(specification.lists(base: nil).map(\.url) == [base + "/things"])
        try recordings(
            folder,
            [
                (
                    "/v1/things", ["Link: <\(base)/things?page=2>; rel=\"next\""],
                    #"[{"id":1,"state":"a","note":null,"extra":1}]"#
                ),
                ("/v1/things?page=2", [], #"[{"id":2,"state":"b","note":"x","extra":2}]"#),
            ])
        let transport = try FixtureTransport(directory: folder.path)
        let sample = try await Sampler(transport).sample(base + "/things")
        let proposal = try Proposal([sample], specification: specification)
        for expected in [
            "paginate: header_link", "state: { type: enum, values: [a, b, c]", "note: string?", "extra: int",
            "rare: date?",
        ] {
            #expect(proposal.text.contains(expected), "\(expected) in\n\(proposal.text)")
        }
        let mirror = try await ProposedMirror(transport, proposal)
        mirror.expectClean()
        #expect(try mirror.count("Thing") == 2)
    }

    @Test(
        "merge keys of YAML are merged, references under extensions are none, and examples of credentials are not written"
    )
    func writing() throws {
        let text = """
            openapi: 3.0.0
            info: { title: x, version: '1' }
            servers: [{ url: 'https://a.example' }]
            x-base: &base { id: { type: integer }, name: { type: string } }
            x-odd: { $ref: 'missing.json#/X' }
            paths:
              /things:
                get:
                  parameters: [{ name: X-Api-Key, in: header, required: true, example: s3cret, schema: { type: string } }]
                  responses:
                    '200':
                      description: ok
                      content:
                        application/json:
                          schema:
                            type: array
                            items: { type: object, properties: { <<: *base, size: { type: integer } } }
            """
        let proposal = try Proposal([], specification: try document(text))
        #expect(proposal.text.contains("    key: id\n") && proposal.text.contains("name: string"), "\(proposal.text)")
        #expect(!proposal.text.contains("s3cret") && !proposal.text.contains("missing.json"), "\(proposal.text)")
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains("`X-Api-Key`"))
    }

    @Test("schemes that are needed together are named together, and a deprecated list with its reason")
    func together() throws {
        let things = "{ schema: { type: array, items: { $ref: '#/components/schemas/Thing' } } }"
        let responses = "{ '200': { description: ok, content: { application/json: \(things) } } }"
        let text = """
            openapi: 3.0.0
            info: { title: Things, version: '1' }
            servers: [{ url: 'https://a.example' }]
            security: [{ key: [], app: [] }]
            paths:
              /things:
                get:
                  parameters:
                    - { name: page, in: query, schema: { default: 1 } }
                    - { name: per_page, in: query, schema: { maximum: 50 } }
                  responses: \(responses)
              /old: { get: { deprecated: true, responses: \(responses) } }
            components:
              securitySchemes:
                key: { type: apiKey, in: header, name: X-Key }
                app: { type: apiKey, in: header, name: X-App }
              schemas:
                Thing: { type: object, properties: { id: { type: integer } } }
            """
        let proposal = try Proposal([], specification: try document(text))
        let joined = proposal.text.replacing("\n", with: " ")
        #expect(joined.contains("needed together"), "\(proposal.text)")
        #expect(joined.contains("header: X-Key") && joined.contains("header: X-App"), "\(proposal.text)")
        #expect(proposal.uncertain == ["GET /old is not described: it is deprecated."], "\(proposal.uncertain)")
        #expect(proposal.text.contains("end: empty") && proposal.text.contains("then: stop"), "\(proposal.text)")
    }

    @Test("an OAuth 2.0 flow with a password is a session that is logged in to")
    func passwordFlow() throws {
        let text = """
            {"openapi":"3.1.0","info":{"title":"Things","version":"1"},"servers":[{"url":"https://a.example"}],
             "paths":{"/things":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":
               {"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}}}}}}},
             "components":{"schemas":{"Thing":{"type":"object","properties":{"id":{"type":"integer"}}}},
              "securitySchemes":{"o":{"type":"oauth2","flows":{"password":{"scopes":{},"tokenUrl":"api/login"}}}}}}
            """
        let proposal = try Proposal([], specification: try document(text))
        #expect(
            proposal.text.contains("session: { login: /api/login, form: { grant_type: password,"), "\(proposal.text)")
        #expect(Set(proposal.variables) == ["THINGS_USER", "THINGS_PASSWORD"])
    }

    @Test("an OAuth 2.0 flow with a code is a sign-in, with the scopes that the lists require")
    func signInFlows() throws {
        func text(_ flows: String) throws -> Proposal {
            let text = """
                {"openapi":"3.2.0","info":{"title":"Things","version":"1"},"servers":[{"url":"https://a.example"}],
                 "paths":{"/things":{"get":{"security":[{"o":["things:read"]}],"responses":{"200":{"description":"",
                   "content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Thing"}}}}}}}}},
                 "components":{"schemas":{"Thing":{"type":"object","properties":{"id":{"type":"integer"}}}},
                  "securitySchemes":{"o":{"type":"oauth2","flows":{\(flows)}}}}}
                """
            return try Proposal([], specification: try document(text))
        }
        let code =
            #""authorizationCode":{"authorizationUrl":"https://i.example/a","tokenUrl":"https://i.example/t","#
            + #""scopes":{"things:read":"","admin":""}}"#
        let device =
            #""deviceAuthorization":{"deviceAuthorizationUrl":"https://i.example/d","#
            + #""tokenUrl":"https://i.example/t","scopes":{}}"#
        let browser = try text(code), both = try text(device + "," + code)
        let joined = browser.text.split { $0.isWhitespace }.joined(separator: " ")
        #expect(joined.contains("authorize_url: https://i.example/a"), "\(browser.text)")
        #expect(joined.contains("token_url: https://i.example/t"), "\(browser.text)")
        #expect(joined.contains("things:read") && !joined.contains("admin"), "\(browser.text)")
        #expect(joined.contains("tarn login"), "\(browser.text)")
        #expect(browser.variables == ["THINGS_CLIENT_ID"])
        #expect(both.text.contains("device_url: https://i.example/d"), "\(both.text)")
        #expect(both.text.contains("authorize_url: https://i.example/a"), "\(both.text)")
        let relative = try text(#""authorizationCode":{"authorizationUrl":"/a","tokenUrl":"/t","scopes":{}}"#)
        #expect(relative.text.contains("bearer: { env: THINGS_TOKEN }"), "\(relative.text)")
    }

    @Test("schemas that contain themselves or each other end")
    func recursion() throws {
        let text = """
            {"openapi":"3.1.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://a.example"}],
             "paths":{"/nodes":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":
               {"type":"array","items":{"$ref":"#/components/schemas/Node"}}}}}}}},
              "/trees":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":
               {"type":"array","items":{"$ref":"#/components/schemas/Tree"}}}}}}}}},
             "components":{"schemas":{
               "Node":{"type":"object","properties":{"id":{"type":"string"},"parent":{"$ref":"#/components/schemas/Node"},
                 "children":{"type":"array","items":{"$ref":"#/components/schemas/Node"}},"tree":{"$ref":"#/components/schemas/Tree"}}},
               "Tree":{"type":"object","properties":{"id":{"type":"integer"},"left":{"$ref":"#/components/schemas/Part"}}},
               "Part":{"type":"object","properties":{"name":{"type":"string"},"inner":{"$ref":"#/components/schemas/Part"},
                 "other":{"$ref":"#/components/schemas/Loop"}}},
               "Loop":{"$ref":"#/components/schemas/Loop"}}}}
            """
        let proposal = try Proposal([], specification: try document(text))
        #expect(proposal.text.contains("parent: { to: Node"))
        #expect(proposal.text.contains("children: { to: [Node]"))
        #expect(proposal.text.contains("tree: { to: Tree"))
    }

    @Test(
        "documents that are no OpenAPI 3 are refused with the reason",
        arguments: [
            ("{\"swagger\":\"2.0\"}", "Swagger 2.0"), ("{}", "no OpenAPI document"), ("openapi: 4.0.0", "3.0 or 3.1"),
            ("{\"openapi\":", "not valid JSON"), ("a: [", "not valid YAML"),
            ("x: &a [1]\ny: *a", "no OpenAPI document"), ("x: &a [1]\n*a : 2", "an alias"),
            (
                "a0: &a0 [1]\n"
                    + (1...30).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]\n" }.joined(),
                "too many values"
            ),
            ("", "empty"),
        ])
    func refused(text: String, reason: String) {
        #expect { try document(text) } throws: { "\($0)".contains(reason) }
    }

    private static func parameter(_ name: String, in place: String, value: String = "x") -> String {
        #"{"name":\#(JSONValue.string(name).text),"in":"\#(place)","required":true,"schema":{"type":"string","default":\#(JSONValue.string(value).text)}}"#
    }

    @Test(
        "an operation that no description can have is left out with the reason, and the others are proposed",
        arguments: [
            ("/a b", "", "has a space"), ("/x#y", "", "a query or a fragment"), ("/x?type=1", "", "a query or a"),
            ("/x/{id}.json", "", "a part of a segment"), ("/users('{id}')", "", "a part of a segment"),
            ("/{a}{b}", "", "a part of a segment"), ("/x/{", "", "has no partner"), ("/x}", "", "has no partner"),
            ("/x/:id", "", "a colon"), ("/q", parameter("", in: "query"), "with"),
            ("/h", parameter("a b", in: "header"), "invalid name of a header field"),
            ("/h", parameter("é", in: "header"), "invalid name of a header field"),
            ("/h", parameter("X-A", in: "header", value: "a\r\nX: y"), "line breaks"),
            ("/h", parameter("X-A", in: "header", value: "${HOME}"), "environment variables"),
        ])
    func oddOperation(path: String, parameter: String, reason: String) async throws {
        let list = TestSpecification.list("Item")
        let proposal = try await TestSpecification(paths: [
            ("/good", TestSpecification.get(list)), (path, TestSpecification.get(list, parameter)),
        ]).proposal()
        #expect(proposal.endpoints == ["goods"] || proposal.endpoints == ["good"], "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("is not described") && $0.contains(reason) })
        #expect(proposal.uncertain.count == 1, "\(proposal.uncertain)")
    }

    @Test("variables of a path have names that a template can have; header fields of the transport are left to it")
    func oddNames() async throws {
        let list = TestSpecification.list("Item")
        let text = try await TestSpecification(paths: [
            (
                "/tenants/{tenant-id}/{proxy+}/{é}",
                TestSpecification.get(
                    list, Self.parameter("tenant-id", in: "path", value: "t1"),
                    Self.parameter("Connection", in: "header", value: "close"))
            )
        ]).proposal().text
        #expect(text.contains("path: /tenants/{tenant_id}/{proxy_}/{value}\n"), "\(text)")
        #expect(text.contains("tenant_id: t1") && !text.contains("Connection"), "\(text)")
    }

    @Test("names and values of a specification cannot add lines or control characters", arguments: UInt64(1)...40)
    func hostile(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let odd = ["x\n  evil: 1", "\u{1B}[31m", "a: b", "# x", "'", "\"", "{y}", "null", "", "é", "*", "\u{202E}"]
        func name() -> String { odd[random.roll(0..<odd.count)] + "\(random.roll(0..<3))" }
        func quoted(_ text: String) -> String { JSONValue.string(text).text }
        let properties = (0..<6).map { _ in
            "\(quoted(name())):{\"type\":\"string\",\"description\":\(quoted(name())),\"enum\":[\(quoted(name())),\(quoted("a" + name()))]}"
        }
        let text = """
            {"openapi":"3.0.0","info":{"title":\(quoted(name())),"version":"1"},"servers":[{"url":"https://a.example"}],
             "paths":{"/things":{"get":{"parameters":[{"name":\(quoted(name())),"in":"query","required":true,"schema":{"default":\(quoted(name()))}}],
               "responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{
                 \(quoted(name())):{"type":"array","items":{"$ref":"#/components/schemas/T"}}}}}}}}}}},
             "components":{"securitySchemes":{\(quoted(name())):{"type":"apiKey","in":"header","name":"X-Key"}},
              "schemas":{"T":{"type":"object","properties":{"id":{"type":"integer"},\(properties.joined(separator: ","))}}}}}
            """
        do {
            let proposal = try Proposal([], specification: try document(text))
            #expect(!proposal.text.contains("\n  evil"), "seed \(seed)")
            #expect(!proposal.text.unicodeScalars.contains { $0 != "\n" && YAMLText.isUnsafe($0) }, "seed \(seed)")
        } catch ProposalError.nothingToDescribe {}
    }

    @Test(
        "a value of a required parameter that may select the records is uncertain, with the others",
        arguments: [
            ("region", #"{"enum":["eu","us"]}"#, "", "`partitions: { region: [eu, us] }`"),
            ("q", #"{"type":"string"}"#, #","example":"boat""#, "its value boat"),
            ("region", #"{"enum":["eu","us"],"default":"eu"}"#, "", nil), ("sort", #"{"enum":["a","b"]}"#, "", nil),
        ])
    func selections(name: String, schema: String, more: String, expected: String?) async throws {
        let parameter = TestSpecification.query(name, schema, #","required":true\#(more)"#)
        let specification = TestSpecification(
            paths: [("/items", TestSpecification.get(TestSpecification.list("Item"), parameter))],
            server: "https://api.test.example")
        let proposal = try await specification.proposal()
        let remarks = proposal.uncertain.filter { $0.contains("may select the records") }
        #expect(remarks.count == (expected == nil ? 0 : 1), "\(proposal.uncertain)")
        if let expected { #expect(remarks.first?.contains(expected) == true, "\(remarks)") }
    }
}
