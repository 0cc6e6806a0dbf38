// The JSON Schema of description files, compared with what the reader accepts.

import Foundation
import TarnDescription
import TestSupport
import Testing

@Suite("Command line: the schema of descriptions")
struct SchemaCommandTests {
    /// Mappings that no page shows an example of.
    private static let others = """
        api:
          base: https://a.example
          naming: { style: snake_case, words: { id: identifier }, references: [_id] }
          auth: { oauth2: { token_url: https://a.example/token, client_id: x, client_secret: { file: secret } } }
          retry: { attempts: 2 }
          transport: { redirects: 1 }
          cache: { shared: true }
          pace: { per_second: 1 }
          responses: [{ status: 404, then: empty }]
        entities:
          Sample:
            key: id
            attributes: { id: int, count: { type: int?, absent: { value: 0 } } }
            relationships: { other: { to: Sample, inverse: others }, others: { to: [Sample], inverse: other } }
            indexes: { byCount: { on: count } }
        endpoints:
          samples: { path: /s, entity: Sample, more: { ignore: [a] }, limit: { pages: 1 }, commit: { every: 2 } }
          each: { path: '/s/{sample.id}', records: { a: { entity: Sample } }, for_each: { entity: Sample } }
          deep: { path: /d, entity: Sample, orphans: { after: one_scan }, restart: { param: a, field: b, pages: 2 } }
          one: { path: /1, entity: Sample, paginate: { header_link: { rel: next } } }
          two: { path: /2, entity: Sample, paginate: { json_link: { path: a } } }
          four: { path: /4, entity: Sample, since: { param: a, field: b }, children: { five: { path: '/{id}' } } }
          three: { path: /3, entity: Sample, paginate: { since_id: { param: a } } }
        """
    /// The other ways to authenticate.
    private static let authentications = [
        "bearer: { env: A }", "basic: { user: a, password: { env: A } }",
        "api_key: { key: { env: A }, header: X-Key }",
        "api_key: [{ key: { env: A }, header: X-Key }, { key: { env: B }, query: k }]",
        "jwt: { key: { env: A }, send: { header: X-Token, prefix: 'T ' } }",
        "oauth2: { token_url: 'https://a.example/t', client_id: a, client_key: { key: { env: A } } }",
        "session: { login: /l, auth: { basic: { user: a, password: { env: A } } }, "
            + "token: [{ cookie: c }, { header: X-A, send: { header: X-B } }], logout: { method: POST, path: /x } }",
        "session: { login: /l, auth: { api_key: { key: { env: A }, header: X } }, token: t }",
        "session: { login: /l, auth: { api_key: [{ key: { env: A }, header: X }, { key: { env: B }, query: k }] }, token: t }",
        "session: { login: /l, auth: { jwt: { key: { env: A }, send: { header: X } } }, token: t }",
    ].map {
        "api: { base: 'https://a.example', auth: { \($0) } }\nentities: { Sample: { key: id, attributes: { id: int } } }\n"
    }

    private static func schema() async throws -> JSONSchema { try JSONSchema(try await tarn("schema").output) }

    private static func value(_ yaml: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try Description.json(ofYAML: yaml).utf8))
    }

    @Test("the committed schema is the one that `tarn schema` prints")
    func committed() async throws {
        let printed = try await tarn("schema", "--json-schema")
        #expect(printed.status == 0)
        let committed = try String(contentsOfFile: Repository.root + "/tools/schemas/tarn.schema.json", encoding: .utf8)
        #expect(printed.output == committed, "write it: tarn schema --json-schema > tools/schemas/tarn.schema.json")
        #expect(try JSONSchema(committed).problems(of: ["entity": "A"]) == ["entity: unknown key"])
    }

    @Test("each mapping of the schema has exactly the keys that the reader accepts there, and the reverse")
    func keys() async throws {
        let schema = try await Self.schema()
        var seen: Set<String> = []
        let texts =
            try DescriptionBlocks.all().compactMap(DescriptionBlocks.whole) + [Self.others] + Self.authentications
        for text in texts {
            for (path, accepted) in try Description.acceptedKeys(in: text) {
                let known = schema.mappings(at: path)
                // A value of any form may be the place of a secret.
                if known.isEmpty, Set(accepted) == ["env", "file", "command"] { continue }
                // A style without options is a word, not a key with a mapping.
                let isStyle = path.hasSuffix(".paginate")
                let fitting = known.filter {
                    isStyle ? $0.keys.isSubset(of: accepted) && $0.keys.count > 5 : $0.keys == Set(accepted)
                }
                let keys = known.map { $0.keys.symmetricDifference(accepted).sorted() }
                #expect(!fitting.isEmpty, "\(path): the schema and the reader differ in \(keys)")
                seen.formUnion(fitting.map(\.pointer))
            }
        }
        let unseen = schema.mappings.filter { !seen.contains($0.pointer) }.map { "\($0.pointer): \($0.keys.sorted())" }
        #expect(unseen == [], "the reader was never asked about these mappings")
    }

    @Test("every description that the pages show as right is valid by the schema")
    func examples() async throws {
        let schema = try await Self.schema()
        var count = 0
        for block in try DescriptionBlocks.all() {
            guard let text = DescriptionBlocks.whole(block) else { continue }
            count += 1
            #expect(schema.problems(of: try Self.value(text)) == [], "\(block.page), line \(block.line)")
        }
        #expect(count > 40)
        for text in [Self.others] + Self.authentications { #expect(schema.problems(of: try Self.value(text)) == []) }
        let fixture = try String(contentsOfFile: Repository.forgeFile, encoding: .utf8)
        #expect(schema.problems(of: try Self.value(fixture)) == [])
    }

    @Test("a file that includes others may lack what they have, and so may a file that is included")
    func includes() async throws {
        let schema = try await Self.schema()
        for text in [
            "include: common.yaml\n", "include: a.yaml\napi: { headers: { X-A: b } }\n", "api: { nulls: clear }\n",
        ] {
            #expect(schema.problems(of: try Self.value(text)) == [], "\(text)")
        }
    }

    @Test("a key without a value is right beside like, and refused without it, as by the reader")
    func emptyKeys() async throws {
        let schema = try await Self.schema()
        func text(_ entity: String, _ endpoint: String) -> String {
            """
            api: { base: 'https://a.example' }
            templates:
              Base: { key: id, url: '/a/{id}', attributes: { id: int, note: string? }, version: id }
              List: { path: /list, records: items, headers: { X-A: b } }
            entities: { A: { \(entity) } }
            endpoints: { a: { entity: A, \(endpoint) } }
            """
        }
        let right = text(
            "like: Base, version: null, url: null, attributes: { note: null }",
            "like: List, records: null, headers: { X-A: null }")
        #expect(schema.problems(of: try Self.value(right)) == [])
        _ = try Description.parse(right, file: "a.yaml")
        for wrong in [
            text("key: id, attributes: { id: int }, version: null", "path: /a"),
            text("key: id, attributes: { id: int, note: null }", "path: /a"),
            text("key: id, attributes: { id: int }", "path: /a, excerpts: null"),
            text("like: null, key: id, attributes: { id: int }", "path: /a"),
        ] {
            #expect(!schema.problems(of: try Self.value(wrong)).isEmpty, "\(wrong)")
            #expect(throws: DescriptionError.self) { try Description.parse(wrong, file: "a.yaml") }
        }
    }

    @Test("what the pages show as wrong is refused by the schema as well, as far as it can tell")
    func wrong() async throws {
        let schema = try await Self.schema()
        let block = try #require(
            try DescriptionBlocks.all().first { $0.firstLine == "# not valid" && $0.text.contains("strng") })
        let problems = schema.problems(of: try Self.value(block.text))
        for path in ["relationships.author", "attributes.title"] {
            #expect(problems.contains { $0.contains(path) }, "\(problems)")
        }
    }

    @Test(
        "a reference may be a form or a template: a text, an object or a list",
        arguments: ["nested", "'A({id})'", "{ id: '{id}' }", "['{id}']"])
    func references(reference: String) async throws {
        let text = """
            api: { base: 'https://a.example' }
            entities:
              A:
                key: id
                attributes: { id: int }
                relationships: { other: { to: A } }
                write: { update: { request: 'PATCH /a/{id}', references: { other: \(reference) } } }
            """
        #expect(try await Self.schema().problems(of: try Self.value(text)) == [])
        _ = try Description.parse(text, file: "a.yaml")
    }

    @Test(
        "a wrong key, word, type or number is refused",
        arguments: [
            ("api: { base: 'https://a.example', retry: { attempt: 3 } }", "api.retry"),
            ("api: { base: 'https://a.example', coercion: lax }", "api.coercion"),
            ("api: { bas: 'https://a.example' }", "api.bas: unknown key"),
            ("api: { base: 'https://a.example', pace: { burst: 0 } }", "api.pace.burst: less than 1"),
            ("api: { base: 'https://a.example', auth: { bearer: secret } }", "api.auth.bearer"),
            (
                "api: { base: 'https://a.example' }\nendpoints: { a: { path: /a, entity: A, more: { ignore: } } }",
                "endpoints.a.more"
            ),
            (
                "api: { base: 'https://a.example' }\nendpoints: { a: { path: /a, entity: A, children: { b: { each: [c], path: '/{id}' } } } }",
                "endpoints.a.children.b: what must not be"
            ),
        ])
    func refused(api: String, problem: String) async throws {
        let text = api + "\nentities: { A: { key: id, attributes: { id: int } } }"
        let problems = try await Self.schema().problems(of: try Self.value(text))
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
        #expect(throws: DescriptionError.self) { try Description.parse(text, file: "a.yaml") }
    }
}
