// The server of a proposal, what its requests carry, and schemas that are hostile.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Servers and requests of a proposal")
struct ProposedServerTests {
    private typealias Specification = TestSpecification

    @Test(
        "the base URL is that of the answers, and no other server gets the token",
        arguments: [("", false), ("", true), ("/eu/v2", true)])
    func base(path: String, live: Bool) async throws {
        let other = try ScriptedServer { _ in .init(body: ItemList.items(1...3)) }
        let server = try ScriptedServer { _ in .init(body: ItemList.items(1...3)) }
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list("Item")))], server: other.base + path
        ).proposal(live: live, targets: [server.base + path + "/items"], token: "s3cret")
        #expect(other.requests.isEmpty)
        #expect(
            proposal.text.contains("base: \(server.base)\(path)   #")
                || proposal.text.contains("base: \(server.base)\(path)\n"))
        #expect(proposal.text.contains("the specification names \(other.base)\(path)"), "\(proposal.text)")
        #expect(proposal.endpoints == ["items"], "\(proposal.text)")
    }

    @Test("a server that is relative to nothing is that of the answers")
    func relativeServer() async throws {
        let server = try ItemList.server()
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list("Item")))], server: "/"
        ).proposal(targets: [server.base + "/items?page=1"])
        #expect(proposal.text.contains("base: \(server.base)   # where the answers came from"), "\(proposal.text)")
    }

    @Test(
        "a server that is not known is named, and its path is kept; so are variables whose values may be examples",
        arguments: [
            (#"{"url":"/v1"}"#, "https://api.example.org/v1   # CHANGE THIS: the specification names the server /v1"),
            (
                #"{"url":"https://{tenant}.example/v1"}"#,
                "https://api.example.org   # CHANGE THIS: the specification names the server https://{tenant}.example/v1"
            ),
            (
                #"{"url":"https://{tenant}.example/{v}","variables":{"tenant":{"default":"demo"},"v":{"enum":["v2"]},"x":{"default":"y"}}}"#,
                "https://demo.example/v2   # with the value that the specification has for `tenant`, `v`"
            ),
        ])
    func unknownServer(server: String, expected: String) throws {
        let text =
            #"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":[\#(server)],"paths":{"/items":"#
            + Specification.get(Specification.list("Item")) + #"},"components":{"schemas":{"Item":"#
            + (Specification.item["Item"] ?? "") + "}}}"
        let proposal = try Proposal([], specification: OpenAPIDocument(Array(text.utf8), name: "spec"))
        let lines = proposal.text.replacing("\n  # ", with: " ")
        let parts = expected.split(separator: "   # ")
        #expect(lines.contains("base: \(parts[0])") && lines.contains(parts[1]), "\(proposal.text)")
    }

    @Test("live lists below the path of the server are proposed once")
    func livePath() async throws {
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/eu/v2/items") || request.target.hasPrefix("/eu/v2/teams")
                ? .init(body: #"{"items":\#(ItemList.page(request.target)),"total":237}"#)
                : .init(status: "404 Not Found")
        }
        let list = Specification.get(
            Specification.object(#""items":\#(Specification.list("Item")),"total":{"type":"integer"}"#),
            Specification.query("page", #"{"default":1}"#))
        let proposal = try await Specification(
            paths: [("/items", list), ("/teams", list)], server: server.base + "/eu/v2"
        ).proposal(live: true)
        #expect(proposal.endpoints == ["items", "teams"], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count(proposal.entities[0]) == 237)
    }

    @Test("servers of the paths replace those of the specification")
    func serversOfPaths() async throws {
        let server = try ScriptedServer { _ in .init(body: ItemList.items(1...3)) }
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list("Item"), servers: server.base))],
            server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("base: \(server.base)"), "\(proposal.text)")
        #expect(try await ProposedMirror(CurlTransport(), proposal).count("Item") == 3)
    }

    @Test("required header parameters and lists are sent with their declared values")
    func requiredParameters() async throws {
        let server = try ScriptedServer { request in
            request.field("X-Ver") == "3" && request.target == "/items?ids=1&ids=2&only=a%2Cb"
                ? .init(body: ItemList.items(1...3)) : .init(status: "400 Bad Request")
        }
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.list("Item"),
                        #"{"name":"X-Ver","in":"header","required":true,"schema":{"default":"3"}}"#,
                        #"{"name":"X-Org","in":"header","schema":{"default":"4"}}"#,
                        Specification.query("ids", #"{"type":"array"}"#, #","required":true,"example":[1,2]"#),
                        Specification.query(
                            "only", #"{"type":"array","default":["a","b"]}"#, #","required":true,"explode":false"#))
                )
            ], server: server.base
        ).proposal()
        #expect(!proposal.text.contains("CHANGE_ME") && !proposal.text.contains("X-Org"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        #expect(try await ProposedMirror(CurlTransport(), proposal).count("Item") == 3, "\(proposal.text)")
    }

    @Test("values of a path that look like an environment variable are written as they are")
    func variableInPath() async throws {
        let proposal = try await Specification(
            paths: [
                (
                    "/{lang}/items",
                    Specification.get(
                        Specification.list("Item"),
                        Specification.path("lang", #"{"type":"string","enum":["${HOME}","en"]}"#))
                )
            ], server: "https://a.example"
        ).proposal()
        let partitions = try Description.parse(proposal.text, file: "tarn.yaml").endpoints[0].partitions
        #expect(partitions.first?.values == ["${HOME}", "en"], "\(proposal.text)")
    }

    @Test(
        "schemas in a circle end",
        arguments: [
            ["A": #"{"allOf":[\#(TestSpecification.reference("A"))]}"#],
            [
                "A": #"{"oneOf":[\#(TestSpecification.reference("B"))]}"#,
                "B": #"{"anyOf":[\#(TestSpecification.reference("A"))]}"#,
            ],
        ])
    func circles(schemas: [String: String]) async throws {
        let specification = Specification(
            paths: [("/a", Specification.get(Specification.list("A")))], schemas: schemas, server: "https://a.example")
        await #expect(throws: ProposalError.self) { try await specification.proposal() }
    }

    @Test("schemas with a discriminator that refer to each other in a circle end")
    func circleOfKinds() async throws {
        func part(_ name: String) -> String {
            #"{"allOf":[\#(Specification.reference(name))],"discriminator":{"propertyName":"t"}}"#
        }
        let proposal = try? await Specification(
            paths: [("/a", Specification.get(Specification.list("A")))], schemas: ["A": part("B"), "B": part("A")],
            server: "https://a.example"
        ).proposal()
        #expect(proposal?.uncertain.isEmpty != false)
    }

    @Test("a schema with thousands of heirs and references to itself ends", .timeLimit(.minutes(1)))
    func manyHeirs() async throws {
        let properties = (0..<300).map { #""p\#($0)":\#(Specification.reference("Base"))"# }.joined(separator: ",")
        let base =
            #"{"type":"object","properties":{"id":{"type":"integer"},"kind":{"type":"string"},\#(properties)},"discriminator":{"propertyName":"kind"}}"#
        let heir = #"{"allOf":[\#(Specification.reference("Base")),{"properties":{"own":{"type":"string"}}}]}"#
        var schemas = Dictionary(uniqueKeysWithValues: (0..<8000).map { ("Heir\($0)", heir) })
        schemas["Base"] = base
        let proposal = try await Specification(
            paths: [("/a", Specification.get(Specification.list("Base")))], schemas: schemas,
            server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("Base:"))
    }

    @Test("nested allOf end, and each part counts once", .timeLimit(.minutes(1)))
    func nestedParts() async throws {
        func all(_ name: String) -> String {
            #"{"allOf":["# + Array(repeating: Specification.reference(name), count: 6).joined(separator: ",") + "]}"
        }
        var schemas = ["A": all("B0"), "B20": Specification.object(#""id":{"type":"integer"},"x":{"type":"string"}"#)]
        for level in 0..<20 { schemas["B\(level)"] = all("B\(level + 1)") }
        let proposal = try await Specification(
            paths: [("/a", Specification.get(Specification.list("A")))], schemas: schemas, server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("x: string?"), "\(proposal.text)")
    }

    @Test("a list that a parameter limits to one record of another list is uncertain, with the way to all of them")
    func limitedToOwner() async throws {
        let server = try ScriptedServer { request in
            if request.target.hasPrefix("/posts") {
                return .init(
                    body: "[" + (1...5).map { #"{"id":\#($0),"title":"t\#($0)"}"# }.joined(separator: ",") + "]")
            }
            return .init(body: "[" + (31...35).map { #"{"id":\#($0),"text":"x\#($0)"}"# }.joined(separator: ",") + "]")
        }
        let way = "write `for_each: Post`, and `post_id: '{post.id}'` under `with`"
        let limited = try await propose(urls: [server.base + "/posts", server.base + "/comments?post_id=3"])
        #expect(limited.uncertain.contains { $0.contains(way) }, "\(limited.text)")
        // Neither a number that is no key, nor another name.
        for query in ["post_id=77", "depth=3"] {
            let other = try await propose(urls: [server.base + "/posts", server.base + "/comments?" + query])
            #expect(!other.uncertain.contains { $0.contains("names one") }, "\(other.text)")
        }
    }
}
