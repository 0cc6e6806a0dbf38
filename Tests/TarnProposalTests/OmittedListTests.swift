// Lists that a proposal leaves out, or that are uncertain: each is named, with the reason.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Omitted lists of a proposal")
struct OmittedListTests {
    private typealias Specification = TestSpecification

    @Test("a list that is not described is named, with the reason")
    func omitted() async throws {
        let proposal = try await Specification(
            paths: [
                ("/items", Specification.get(Specification.list("Item"))),
                ("/others", Specification.get(#"{"$ref":"other.json#/List"}"#)),
                (
                    "/wrapped",
                    Specification.get(
                        #"{"type":"object","properties":{"data":{"type":"array","items":{"$ref":"o.json"}}}}"#)
                ),
                ("/table", Specification.get(Specification.list("Item"), type: "text/csv")),
                ("/away", Specification.get(Specification.list("Item"), servers: "https://b.example")),
                ("/b\n}x: 1", Specification.get(Specification.list("Item"))),
            ], server: "https://a.example"
        ).proposal()
        let expected = [
            "GET /others is not described: its schema refers to another document, other.json#/List",
            "GET /wrapped is not described: its schema refers to another document, o.json",
            "GET /table is not described: its response is text/csv, and no JSON",
            "GET /away is not described: its server is https://b.example",
            "GET /b }x: 1 is not described: its path is not one of a URL",
        ]
        #expect(proposal.uncertain.count == expected.count, "\(proposal.uncertain)")
        for (text, start) in zip(proposal.uncertain, expected) {
            #expect(text.hasPrefix(start), "\(text)")
        }
        #expect(proposal.endpoints == ["items"] && proposal.text.contains("GET /others is not described"))
    }

    @Test("lists beyond the limit are named")
    func limit() async throws {
        let proposal = try await Specification(
            paths: (0..<160).map { ("/a\($0)", Specification.get(Specification.list("Item"))) },
            server: "https://a.example"
        ).proposal()
        #expect(proposal.endpoints.count == 150 && proposal.uncertain.count == 10, "\(proposal.uncertain)")
        #expect(proposal.uncertain.last == "GET /a159 is not described: it is beyond the limit of 150 lists.")
    }

    @Test("paths without a GET do not count for the limit of paths, and those beyond it are counted in a remark")
    func paths() async throws {
        let post = #"{"post":{"responses":{"204":{"description":""}}}}"#
        let named = Specification.get(Specification.reference("Item"), Specification.path("id"))
        var specification = Specification(
            paths: (0..<5000).map { ("/act\($0)", post) }, server: "https://a.example")
        specification.paths.append(("/items", Specification.get(Specification.list("Item"))))
        let proposal = try await specification.proposal()
        #expect(proposal.endpoints == ["items"] && proposal.uncertain == [], "\(proposal.uncertain)")
        specification.paths += (0..<5001).map { ("/a\($0)/{id}", named) }
        let remarks = try await specification.proposal().uncertain
        #expect(
            remarks == ["2 more paths are not looked at: a specification has at most 5000 with a GET."], "\(remarks)")
    }

    @Test("schemas with more values than the limit are named, and lists behind 100,000 values are described")
    func values() async throws {
        func object(_ value: String) -> String {
            Specification.object((0..<100).map { "\"f\($0)\":\(value)" }.joined(separator: ","))
        }
        let large = Specification.get(object(object("{}")))
        func specification(_ count: Int) -> Specification {
            Specification(
                paths: (0..<count).map { ("/a\($0)", large) } + [
                    ("/items", Specification.get(Specification.list("Item")))
                ], server: "https://a.example")
        }
        let proposal = try await specification(12).proposal()
        #expect(proposal.endpoints == ["items"] && proposal.uncertain == [], "\(proposal.uncertain)")
        await #expect { try await specification(51).proposal() } throws: {
            "\($0)".contains("The schemas have more than 500000 values")
        }
    }

    @Test("a specification without lists states the reasons")
    func nothingToDescribe() async throws {
        let specification = Specification(
            paths: [("/names", Specification.get(#"{"type":"array","items":{"type":"string"}}"#))],
            server: "https://a.example")
        await #expect { try await specification.proposal() } throws: {
            "\($0)".contains("GET /names is not described: its response has no objects")
        }
    }

    @Test("an answer whose only list is empty may be a single object, and is uncertain")
    func emptyList() async throws {
        let server = try ScriptedServer { _ in .init(body: #"{"parts":[],"total":0}"#) }
        let proposal = try await propose(urls: [server.base + "/parts"])
        #expect(proposal.uncertain.contains { $0.contains("`parts` is empty") }, "\(proposal.uncertain)")
    }

    @Test("a list beside a cursor that is null is described too, and lists that are left out are uncertain")
    func leftOut() async throws {
        let server = try ScriptedServer { request in
            let more = request.target.hasPrefix("/named") ? #","next_cursor":null"# : ""
            let facets = #"[{"name":"a","hits":1},{"name":"b","hits":2}]"#
            return .init(
                body: #"{"facets2":\#(facets),"response":{"things":\#(ItemList.items(1...8))\#(more)}}"#)
        }
        let named = try await propose(urls: [server.base + "/named"])
        #expect(named.records == ["Thing": 8, "Facets2": 2], "\(named.text)")
        #expect(!named.uncertain.contains { $0.contains("The answer also has") }, "\(named.uncertain)")
        let other = try await propose(urls: [server.base + "/things"])
        #expect(other.records == ["Facets2": 2], "\(other.text)")
        #expect(
            other.uncertain.contains { $0.contains("The answer also has `response.things` (8 objects)") },
            "\(other.uncertain)")
    }
}
