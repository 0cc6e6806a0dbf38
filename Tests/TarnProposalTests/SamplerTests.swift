// Looking at live answers: which requests are sent, and where credentials go.

import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Sampling live answers")
struct SamplerTests {
    private func sampler(pages: Int = 3, token: String? = nil) -> Sampler {
        Sampler(CurlTransport(), options: SampleRequest.options(pages: pages, headers: [], token: token))
    }

    @Test("as many pages as wanted, and one record by its own URL", arguments: [1, 2, 5])
    func pages(count: Int) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(body: #"{"id":1,"name":"x","more":1}"#) }
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
            return .init(
                fields: ["Link: </items?page=\(page + 1)>; rel=\"next\""], body: #"[{"id":\#(page),"name":"x"}]"#)
        }
        let sample = try await sampler(pages: count).sample(server.base + "/items")
        #expect(sample.pages.count == count && !sample.isComplete)
        #expect(server.targets == ["/items"] + (2..<max(2, count + 1)).map { "/items?page=\($0)" } + ["/items/1"])
        #expect(sample.style.text == "header_link")
        let text = try Proposal([sample]).text
        #expect(text.contains("  # itemDetails:") && text.contains("path: /items/{item.id}"), "\(text)")
    }

    @Test("a list that goes in circles ends, and the proposal says so")
    func circles() async throws {
        let server = try ScriptedServer { _ in
            .init(fields: ["Link: </items?page=1>; rel=\"next\""], body: #"[{"id":1}]"#)
        }
        let sample = try await sampler(pages: 50).sample(server.base + "/items?page=1")
        #expect(sample.pages.count == 1)
        #expect(try Proposal([sample]).text.contains("was not fetched"))
    }

    @Test("a page that fails is a remark, not the end")
    func failingPage() async throws {
        let server = try ScriptedServer { request in
            request.target.contains("page=2")
                ? .init(status: "500 Oops", body: "\u{1B}[31m")
                : .init(fields: ["Link: </items?page=2>; rel=\"next\""], body: #"[{"id":1}]"#)
        }
        let text = try Proposal([try await sampler().sample(server.base + "/items")]).text
        #expect(text.contains("the server returned 500") && !text.unicodeScalars.contains("\u{1B}"))
    }

    @Test("a server that ignores the page parameter has one page")
    func ignoredParameter() async throws {
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1},{"id":2}]"#) }
        let sample = try await sampler().sample(server.base + "/items?page=1&per_page=2")
        #expect(sample.pages.count == 1 && sample.style.text == "single_page")
    }

    @Test("a total that the pages do not reach is a remark, and the sync does not fail for it")
    func total() async throws {
        let server = try ScriptedServer { _ in .init(body: #"{"total":9,"items":[{"id":1},{"id":2}]}"#) }
        let proposal = try Proposal([try await sampler().sample(server.base + "/items")])
        #expect(proposal.text.contains("more: ignore"), "\(proposal.text)")
        #expect(try await ProposedMirror(CurlTransport(), proposal).report.failures.isEmpty)
    }

    @Test("a map of records is no list: it is an error, and a remark beside a list")
    func maps() async throws {
        let map =
            "{" + (1...3).map { #""k\#($0)":{"id":\#($0),"labels":[{"id":9,"name":"x"}]}"# }.joined(separator: ",")
            + "}"
        let server = try ScriptedServer { request in
            switch request.target {
            case "/map": .init(body: map)
            case "/data": .init(body: #"{"data":\#(map)}"#)
            case "/rates": .init(body: #"{"base":"EUR","rates":\#(map)}"#)
            default: .init(body: #"{"items":[{"id":1}],"users":\#(map),"links":\#(map)}"#)
            }
        }
        for (path, place) in [("/map", "the response is"), ("/data", "`data` is")] {
            await #expect { try await sampler().sample(server.base + path) } throws: {
                "\($0)".contains("\(place) an object of 3 records by their keys (k1, k2, k3, …)")
            }
        }
        let proposal = try Proposal([try await sampler().sample(server.base + "/both")])
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains("`users` is an object of 3 records"))
        #expect(proposal.entities == ["Both"] && proposal.text.contains("`users` is an object"), "\(proposal.text)")
        #expect(try Proposal([try await sampler().sample(server.base + "/rates")]).uncertain == [])
    }

    @Test("a redirect to another server is refused: the next sync would send it credentials")
    func redirect() async throws {
        let other = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let target = other.base
        let server = try ScriptedServer { request in
            request.target == "/moved"
                ? .init(status: "302 Found", fields: ["Location: /items"])
                : request.target == "/items"
                    ? .init(body: #"[{"id":1}]"#) : .init(status: "302 Found", fields: ["Location: \(target)/items"])
        }
        let sampler = sampler(token: "s3cret")
        await #expect { try await sampler.sample(server.base + "/away") } throws: { "\($0)".contains("another one") }
        #expect(other.requests.allSatisfy { $0.field("Authorization") == nil })
        let sample = try await sampler.sample(server.base + "/moved")
        #expect(sample.origin == server.base + "/items")
        #expect(server.requests.allSatisfy { $0.field("Authorization") == "Bearer s3cret" })
    }

    @Test("a specification elsewhere is requested without the token of the API")
    func specification() async throws {
        let text = """
            {"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{}}
            """
        let server = try ScriptedServer { _ in .init(body: text) }
        let sampler = sampler(token: "s3cret")
        _ = try await sampler.specification(server.base + "/openapi.json", servers: ["https://api.test.example"])
        _ = try await sampler.specification(server.base + "/openapi.json", servers: [server.base + "/items"])
        #expect(server.requests.map { $0.field("Authorization") } == [nil, "Bearer s3cret"])
    }
}
