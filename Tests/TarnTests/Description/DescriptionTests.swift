// The result of a sound description file.

import Foundation
import Tarn
import TarnDescription
import TarnHTTP
import TarnImport
import TarnStore
import Testing

@Suite("Description file: values")
struct DescriptionTests {
    private func parse(_ text: String, file: String = "forge.yaml") throws -> Description {
        try Description.parse(text, file: file)
    }

    private func minimal(_ rest: String) -> String {
        "api: { base: 'https://a.example' }\nentities:\n  A:\n    key: id\n    attributes:\n      id: int\n" + rest
    }

    @Test("the api section gives base, aliases, header fields in order and the token's variable")
    func apiIsRead() throws {
        let text = soundDescription.replacing(
            "{ Accept: application/json }", with: "{ X-B: 1.10, Accept: text/html, X-A: yes }")
        let api = try parse(text).api
        #expect(api.base == "https://api.example.org")
        #expect(api.aliases == ["https://www.example.org/api"])
        #expect(api.headers == [.init("X-B", "1.10"), .init("Accept", "text/html"), .init("X-A", "yes")])
        #expect(api.authentication == .bearer(.environment("FORGE_TOKEN")))
    }

    @Test("entities become a schema with types, keys, indexes and relationships, in the order of the file")
    func schemaIsRead() throws {
        let schema = try parse(soundDescription).schema
        #expect(schema.entities.map(\.name) == ["User", "Label", "Milestone", "Issue"])
        #expect(
            schema.entities.last
                == EntityDefinition(
                    "Issue", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("state", .enumeration(["open", "closed"])),
                        .init("createdAt", .date, indexed: true), .init("seenAt", .date, optional: true),
                        .init("thumbsUp", .int, optional: true), .init("tags", .array(.string)),
                    ],
                    relationships: [
                        .init("author", to: "User", inverse: "issues"),
                        .init("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                        .init("milestone", to: "Milestone"),
                    ]))
        #expect(schema.problems().isEmpty)
    }

    @Test("from, epoch, ignore and naming become the mapping")
    func mappingIsRead() throws {
        let mapping = try parse(soundDescription).mapping
        #expect(mapping.naming == NamingConvention(words: ["id": "identifier"]))
        #expect(
            mapping.entities["Issue"]
                == EntityMapping(
                    paths: [
                        "createdAt": ["created_at", "inserted_at"], "thumbsUp": ["reactions.+1"], "author": ["user"],
                    ],
                    epochs: ["seenAt": .milliseconds], ignored: ["node_id", "*_url", "reactions.*"],
                    declared: ["author", "labels", "milestone"]))
        #expect(mapping.entities["User"] == EntityMapping())
    }

    @Test("rows of an entity are compressed unless the description says none", arguments: [nil, "zstd", "none"])
    func compressionIsRead(_ written: String?) throws {
        let text = soundDescription.replacing(
            "    ignore: [node_id", with: "\(written.map { "    compression: \($0)\n" } ?? "")    ignore: [node_id")
        let schema = try parse(text).schema
        #expect(
            schema.entities.map { "\($0.name) \($0.compression)" } == [
                "User zstd", "Label zstd", "Milestone zstd", "Issue \(written ?? "zstd")",
            ])
    }

    @Test("endpoints keep their parameters in order and know their place")
    func endpointsAreRead() throws {
        let endpoints = try parse(soundDescription).endpoints
        var issues = Endpoint(
            name: "issues", path: "/repos/{owner}/{repo}/issues",
            parameters: [
                .init("owner", "acme"), .init("repo", "anvil"), .init("per_page", "100"), .init("state", "all"),
            ],
            records: "$", entity: "Issue", pagination: .headerLink())
        issues.place = "forge.yaml:34"
        var ofMilestone = Endpoint(
            name: "ofMilestone", path: "/milestones/{milestone.number}/issues", entity: "Issue",
            pagination: .pageNumber(parameter: "page", start: 1, size: .init(parameter: "size", value: 10)))
        ofMilestone.forEach = .init(entity: "Milestone", parent: "milestone", variable: "milestone")
        ofMilestone.place = "forge.yaml:40"
        #expect(endpoints == [issues, ofMilestone])
        #expect(endpoints.map(\.pathVariables) == [["owner", "repo"], ["milestone.number"]])
    }

    @Test(
        "every type is read, and a ? makes it optional",
        arguments: [
            ("bool", AttributeType.bool, false), ("int?", .int, true), ("uint", .uint, false),
            ("double", .double, false),
            ("string?", .string, true), ("date", .date, false), ("uuid", .uuid, false), ("url", .url, false),
            ("json?", .json, true), ("[date]", .array(.date), false), ("'[string]?'", .array(.string), true),
            ("{ type: string }", .string, false), ("{ type: [int] }", .array(.int), false),
            ("{ type: 'double?' }", .double, true), ("{ type: enum?, values: [a] }", .enumeration(["a"]), true),
            ("{ type: [enum], values: [a, b] }", .array(.enumeration(["a", "b"])), false),
        ])
    func typesAreRead(written: String, type: AttributeType, optional: Bool) throws {
        let attribute = try parse(minimal("      x: \(written)\n")).schema.entities[0].attributes[1]
        #expect(attribute == AttributeDefinition("x", type, optional: optional))
    }

    @Test("values and parameters are the texts that were written: yes, no, 1.10 and 0x1F stay what they are")
    func scalarsStayText() throws {
        let description = try parse(
            minimal("      x: { type: enum, values: [yes, no, on, 1.10, 0x1F, 'null', 2024-01-01] }\n")
                + "endpoints:\n  e: { path: /, entity: A, with: { a: yes, b: 1.10, c: 007, d: '', e: true } }\n")
        #expect(
            description.schema.entities[0].attributes[1].type
                == .enumeration(["yes", "no", "on", "1.10", "0x1F", "null", "2024-01-01"]))
        #expect(description.endpoints[0].parameters.map(\.value) == ["yes", "1.10", "007", "", "true"])
    }

    @Test("a composite key is a list of attributes")
    func compositeKeyIsRead() throws {
        let text = soundDescription.replacing(
            "key: id\n    attributes: { id: int, number", with: "key: [id, number]\n    attributes: { id: int, number")
        #expect(try parse(text).schema.entities[2].key == ["id", "number"])
    }

    @Test(
        "every pagination is read",
        arguments: [
            ("single_page", Pagination.singlePage), ("header_link", .headerLink(relation: "next")),
            ("{ header_link: { rel: older } }", .headerLink(relation: "older")),
            ("{ page_number: { param: p } }", .pageNumber(parameter: "p", start: 1, size: nil)),
            (
                "{ page_number: { param: _page, start: 0, per_page: { _limit: 10 } } }",
                .pageNumber(parameter: "_page", start: 0, size: .init(parameter: "_limit", value: 10))
            ),
            // A program can declare all that a description can.
            ("json_link", .jsonLink()), ("{ json_link: { path: n, has_more: m } }", .jsonLink(path: "n", hasMore: "m")),
            ("{ json_link: { path: next, is_last: l } }", .jsonLink(isLast: "l")),
            (
                "{ cursor: { path: c, param: p, is_last: l, last: '0' } }",
                .cursor(path: "c", sends: .query("p"), isLast: "l", last: "0")
            ),
            ("{ offset: { param: p, is_last: l } }", .offset(.query("p"), isLast: "l")),
            ("{ page_number: { param: p, is_last: l } }", .pageNumber(.query("p"), isLast: "l")),
            ("{ page_number: { param: p, has_more: m } }", .pageNumber(.query("p"), hasMore: "m")),
        ])
    func paginationIsRead(written: String, pagination: Pagination) throws {
        let text = soundDescription.replacing("paginate: header_link", with: "paginate: \(written)")
        #expect(try parse(text).endpoints[0].pagination == pagination)
    }

    @Test("what may be left out has its default: single page, root, no endpoints, a store named after the file")
    func defaults() throws {
        let description = try parse(
            minimal("endpoints: { e: { path: /a, entity: A, for_each: } }").replacing(", for_each: ", with: ""))
        var endpoint = Endpoint(name: "e", path: "/a", entity: "A")
        endpoint.place = "forge.yaml:7"
        #expect(description.endpoints == [endpoint])
        #expect(description.api == APIDescription(base: "https://a.example"))
        #expect(try parse(minimal("")).endpoints.isEmpty)
        #expect(try parse(minimal("endpoints:\n")).endpoints.isEmpty)
        #expect(try parse(minimal("    relationships:\n    ignore:\n")).schema.entities[0].relationships.isEmpty)
    }

    @Test("for_each may be just the entity; its variable begins in lower case")
    func shortForEachIsRead() throws {
        let text = soundDescription.replacing("{ entity: Milestone, parent: milestone }", with: "Milestone")
        #expect(try parse(text).endpoints[1].forEach == .init(entity: "Milestone", parent: nil, variable: "milestone"))
    }

    @Test(
        "the store lies beside the description file",
        arguments: [
            ("tarn.yaml", nil, "tarn.tarn"), ("a/forge.yml", nil, "a/forge.tarn"), ("/x/forge", nil, "/x/forge.tarn"),
            ("a/forge.yaml", "s.tarn", "a/s.tarn"), ("forge.yaml", "d/s.tarn", "d/s.tarn"),
            ("a/f.yaml", "/s.tarn", "/s.tarn"),
            ("a.b/.yaml", nil, "a.b/.yaml.tarn"), ("/dev/shm/a/f.yaml", "s.tarn", "/dev/shm/a/s.tarn"),
            ("/dev/shm/f.yaml", "s.tarn", "/dev/shm/s.tarn"),
            ("/dev/fd/63", "s.tarn", "s.tarn"), ("/proc/self/fd/0", nil, "tarn.tarn"),
            ("/proc/self/root/a/f.yaml", nil, "/proc/self/root/a/f.tarn"),
            ("/proc/self/fd/7/f.yaml", nil, "/proc/self/fd/7/f.tarn"),
            ("/dev/fd/7/f.yaml", "s.tarn", "/dev/fd/7/s.tarn"),
        ] as [(String, String?, String)])
    func storeIsBesideTheFile(file: String, store: String?, path: String) throws {
        let line = store.map { "store: \($0)\n" } ?? ""
        #expect(try parse(line + minimal(""), file: file).storePath == path)
    }

    @Test(
        "a base URL may have a port, a path and an address in brackets; its trailing / is dropped",
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("https://a.example/", "https://a.example"),
            ("https://a.example/v1//", "https://a.example/v1"), ("HTTP://[::1]:80/x", "HTTP://[::1]:80/x"),
            ("https://[2001:db8::1]", "https://[2001:db8::1]"),
        ])
    func baseURLsAreRead(written: String, base: String) throws {
        #expect(try parse(minimal("").replacing("https://a.example", with: written)).api.base == base)
    }

    @Test("both sides of a relationship may be declared if they name each other")
    func bothSidesMayBeDeclared() throws {
        let text = soundDescription.replacing(
            "      name: string?",
            with: "      name: string?\n    relationships:\n      issues: { to: [Issue], inverse: author }")
        #expect(try parse(text).schema.problems().isEmpty)
    }

    @Test(
        "the descriptions among the fixtures are sound",
        arguments: [("forge", ["labels", "issues"]), ("github", ["issues"]), ("jsonplaceholder", ["posts", "users"])])
    func fixturesAreSound(name: String, endpoints: [String]) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(
                "../../fixtures"
            ).standardized
        let description = try Description.load(path: "\(folder.path)/\(name)/tarn.yaml")
        #expect(Set(endpoints).isSubset(of: description.endpoints.map(\.name)))
    }
}
