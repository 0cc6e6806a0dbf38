// Specifications and servers of small APIs.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

/// A specification as text.
struct TestSpecification {
    /// The path items by their paths, as JSON.
    var paths: [(path: String, item: String)]
    /// The schemas by their names, as JSON.
    var schemas: [String: String] = TestSpecification.item
    var server: String?

    static let item = ["Item": object(#""id":{"type":"integer"},"name":{"type":"string"}"#)]

    static func object(_ properties: String, required: String = "id") -> String {
        #"{"type":"object","required":["\#(required)"],"properties":{\#(properties)}}"#
    }

    static func reference(_ schema: String) -> String { ##"{"$ref":"#/components/schemas/\##(schema)"}"## }
    static func list(_ schema: String) -> String { #"{"type":"array","items":\#(reference(schema))}"# }

    /// A parameter of the query.
    static func query(_ name: String, _ schema: String = #"{"type":"integer"}"#, _ more: String = "") -> String {
        #"{"name":"\#(name)","in":"query","schema":\#(schema)\#(more)}"#
    }

    static func path(_ name: String, _ schema: String = #"{"type":"integer"}"#) -> String {
        #"{"name":"\#(name)","in":"path","required":true,"schema":\#(schema)}"#
    }

    /// A path item with a GET.
    static func get(
        _ schema: String, _ parameters: String..., type: String = "application/json", headers: String = "{}",
        servers: String? = nil
    ) -> String {
        let servers = servers.map { #""servers":[{"url":"\#($0)"}],"# } ?? ""
        return #"{\#(servers)"get":{"parameters":[\#(parameters.joined(separator: ","))],"responses":{"200":"#
            + #"{"description":"","headers":\#(headers),"content":{"\#(type)":{"schema":\#(schema)}}}}}}"#
    }

    func document() throws -> OpenAPIDocument {
        func object(_ members: [(String, String)]) -> String {
            "{" + members.map { "\(JSONValue.string($0).text):\($1)" }.joined(separator: ",") + "}"
        }
        let servers = server.map { #"[{"url":"\#($0)"}]"# } ?? "[]"
        let text =
            #"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":\#(servers),"paths":"#
            + object(paths.map { ($0.path, $0.item) }) + #","components":{"schemas":"#
            + object(schemas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) + "}}"
        return try OpenAPIDocument(Array(text.utf8), name: "openapi.json")
    }

    /// Proposes a description as `tarn init` does.
    func proposal(live: Bool = false, targets: [String] = [], token: String? = nil) async throws -> Proposal {
        let document = try document()
        let sampler = Sampler(CurlTransport(), options: SampleRequest.options(pages: 3, headers: [], token: token))
        var samples: [Sample] = [], options = ProposalOptions()
        for target in targets { samples.append(try await sampler.sample(target)) }
        if live {
            for list in document.lists(base: nil, fetched: samples.map(\.origin)) {
                samples.append(try await sampler.sample(list))
            }
        }
        options.siblings = await sampler.siblings(
            Proposal.siblings(samples, specification: document, options: options))
        return try Proposal(samples, specification: document, options: options)
    }
}

/// Proposes a description of URLs as `tarn init` does.
func propose(urls: [String]) async throws -> Proposal {
    let sampler = Sampler(CurlTransport(), options: SampleRequest.options(pages: 3, headers: [], token: nil))
    var samples: [Sample] = [], options = ProposalOptions()
    for url in urls { samples.append(try await sampler.sample(url)) }
    options.siblings = await sampler.siblings(Proposal.siblings(samples, specification: nil, options: options))
    return try Proposal(samples, options: options)
}

/// A list of items with the ids 1 to `count`, in pages of at most 50.
enum ItemList {
    static let count = 237
    static let cap = 50

    static func items(_ ids: some Sequence<Int>) -> String {
        "[" + ids.map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",") + "]"
    }

    /// The items behind a number of others.
    static func items(behind before: Int, size: Int) -> String {
        before < count && before >= 0 ? items(before + 1...min(before + min(size, cap), count)) : "[]"
    }

    static func number(_ name: String, in target: String) -> Int? {
        QueryParameters.values(in: target).first { $0.name == name }.flatMap { Int($0.value) }
    }

    /// The page that a target requests by `page` and a size, or by `offset` and `limit`.
    static func page(_ target: String, first: Int = 1, size name: String = "per_page") -> String {
        if let offset = number("offset", in: target) {
            return items(behind: offset, size: number("limit", in: target) ?? 20)
        }
        let size = min(number(name, in: target) ?? number("limit", in: target) ?? 20, cap)
        let page = (number("page", in: target) ?? first) - first
        return items(behind: page * size, size: size)
    }

    /// A server that knows the parameters of ``page(_:first:size:)``.
    static func server(first: Int = 1, size: String = "per_page") throws -> ScriptedServer {
        try ScriptedServer { request in
            request.target.hasPrefix("/items?") || request.target == "/items"
                ? .init(body: page(request.target, first: first, size: size)) : .init(status: "404 Not Found")
        }
    }
}

/// A sync by the proposal stores all items.
func expectAll(_ proposal: Proposal, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let mirror = try await ProposedMirror(CurlTransport(), proposal)
    mirror.expectClean(sourceLocation: sourceLocation)
    #expect(try mirror.count("Item") == ItemList.count, "\(proposal.text)", sourceLocation: sourceLocation)
}
