// The targets of requests, their credentials, and the limits of both.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: addresses, links and credentials")
struct MirrorBoundaryTests {
    @Test("what is stored does not depend on the address that answers: through another one, every page is 304")
    func keysDoNotDependOnTheBase() async throws {
        let store = try MirrorStore(try Repository.description("forge"))
        let first = try LocalServer(directory: Repository.forge)
        _ = try await store.sync(first.base)
        let second = try LocalServer(directory: Repository.forge)
        #expect(first.port != second.port)
        let report = try await store.sync(second.base)
        #expect(report.failures.isEmpty && report.pages == 28 && report.notModified == 28)
    }

    @Test("links to another address of the API are followed at the base")
    func aliasesAreFollowed() async throws {
        var pages = itemPages(3)
        for index in pages.indices {
            pages[index] = pages[index].replacing(
                "<https://api.test.example/v1", with: "<https://www.test.example/rest"
            )
            .replacing("GET /items", with: "GET /v1/items")
        }
        let server = try LocalServer(pages)
        let store = try MirrorStore(yaml: itemsYAML(api: "  aliases: [https://www.test.example/rest]"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            server.requests.map { $0.split(separator: " ")[1] } == [
                "/v1/items", "/v1/items?page=2", "/v1/items?page=3",
            ])
        #expect(try store.count("Item") == 6)
    }

    @Test("a server that names itself in its links is followed where requests are sent")
    func linksToTheOverridingBaseAreFollowed() async throws {
        let target = try RawServer([
            "HTTP/1.1 200 OK\r\nLink: <BASE/v1/items?page=2>; rel=\"next\"\r\nContent-Length: 23\r\n\r\n[{\"id\":1,\"name\":\"one\"}]",
            "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n[{\"id\":2,\"name\":\"two\"}]",
        ])
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(target.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(target.requests.map { $0.split(separator: " ")[1] } == ["/v1/items", "/v1/items?page=2"])
        #expect(try store.count("Item") == 2)
    }

    @Test("with another base, a link beside the API's path does not lead back to the real server")
    func linksBesideTheBasePathStayAtTheOverride() async throws {
        // As at GitHub: the base has a path, the link leads to another path of the same server.
        let pages = [
            recording(
                "/v1/items", #"[{"id":1,"name":"n"}]"#, "Link: <https://api.test.example/lists/7?page=2>; rel=\"next\""),
            recording("/lists/7?page=2", #"[{"id":2,"name":"n"}]"#),
        ]
        let server = try LocalServer(pages)
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.map { $0.split(separator: " ")[1] } == ["/v1/items", "/lists/7?page=2"])
        #expect(try store.count("Item") == 2)
    }

    @Test("a relative link is relative to the address that a redirect led to", arguments: [false, true])
    func linksAfterRedirects(isOverridden: Bool) async throws {
        let redirect = "HTTP/1.1 301 Moved Permanently\r\nLocation: /v1/lists/7/items\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer([
            redirect,
            "HTTP/1.1 200 OK\r\nLink: <items?page=2>; rel=\"next\"\r\nContent-Length: 23\r\n\r\n[{\"id\":1,\"name\":\"one\"}]",
            "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n[{\"id\":2,\"name\":\"two\"}]",
        ])
        let yaml = isOverridden ? itemsYAML() : itemsYAML().replacing("https://api.test.example", with: server.base)
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(isOverridden ? server.base + "/v1" : nil)
        #expect(report.failures.isEmpty, "\(report.texts)")
        let targets = server.requests.map { $0.split(separator: " ")[1] }
        #expect(targets == ["/v1/items", "/v1/lists/7/items", "/v1/lists/7/items?page=2"])
        #expect(try store.count("Item") == 2)
    }

    @Test("a next link to another server is refused with the way out; the page before it is kept")
    func foreignLinkIsRefused() async throws {
        let foreign = try LocalServer([recording("/items?page=2", "[]")])
        let pages = [
            recording(
                "/v1/items", #"[{"id":1,"name":"n"}]"#,
                "Link: <\(foreign.base)/items?page=2&token=hidden>; rel=\"next\"")
        ]
        let server = try LocalServer(pages)
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1")
        let text = try #require(report.failures.first?.description)
        #expect(text.contains("the next page is on another server: \(foreign.base)/items?page=2&token=***"), "\(text)")
        #expect(text.contains("add its base URL to api.aliases"))
        #expect(text.contains("tarn.yaml:") && text.contains("endpoint items"))
        #expect(foreign.requests == [])
        #expect(try store.count("Item") == 1)
        #expect(try store.checkpoint("items")?.state == .underWay)
    }

    @Test("pages in a circle end with an error, not with an endless walk", arguments: [1, 2, 3])
    func circleIsAnError(backTo page: Int) async throws {
        var pages = itemPages(3).map { $0.replacing("GET /items", with: "GET /v1/items") }
        let target = page == 1 ? "/items" : "/items?page=\(page)"
        pages[2] = pages[2].replacing("\n\n", with: "\nLink: <https://api.test.example/v1\(target)>; rel=\"next\"\n\n")
        let server = try LocalServer(pages)
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base + "/v1")
        #expect(
            report.failures.first?.description.contains("page loop: ") == true, "\(report.texts)")
        #expect(server.requests.count == 3)
        #expect(try store.count("Item") == 6)
        // The next sync ends too.
        let again = try await store.sync(server.base + "/v1")
        #expect(again.failures.count == 1)
        #expect(try store.count("Item") == 6)
    }

    private static let tokenAPI = "  auth: { bearer: { env: TARN_TEST_TOKEN } }"
    private static let token = "s3cr3t-0123456789abcdef"

    @Test("the bearer token is sent with every request, and stands neither in the store nor in an error")
    func tokenIsSentAndNotStored() async throws {
        let page =
            "HTTP/1.1 200 OK\r\nLink: </v1/items?page=2>; rel=\"next\"\r\nETag: \"a\"\r\nContent-Length: 23\r\n\r\n[{\"id\":1,\"name\":\"one\"}]"
        let refusal = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 25\r\n\r\n{\"message\":\"who are you\"}"
        let server = try RawServer([page, refusal])
        let store = try MirrorStore(yaml: itemsYAML(api: MirrorBoundaryTests.tokenAPI))
        let report = try await store.sync(
            server.base + "/v1", environment: ["TARN_TEST_TOKEN": MirrorBoundaryTests.token])
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer \(MirrorBoundaryTests.token)\r\n") })
        #expect(report.failures.first?.isAuthentication == true)
        #expect(report.texts.allSatisfy { !$0.contains(MirrorBoundaryTests.token) }, "\(report.texts)")
        #expect(report.texts.first?.contains("the server returned 401: who are you") == true, "\(report.texts)")
        let data = try Data(contentsOf: URL(fileURLWithPath: store.path + "/data.mdb"))
        #expect(data.range(of: Data("item".utf8)) != nil)
        #expect(data.range(of: Data(MirrorBoundaryTests.token.utf8)) == nil)
    }

    @Test(
        "a token that is missing or empty is an error that names the variable",
        arguments: [[:], ["TARN_TEST_TOKEN": ""]])
    func missingTokenIsAnError(environment: [String: String]) async throws {
        let store = try MirrorStore(yaml: itemsYAML(api: MirrorBoundaryTests.tokenAPI))
        await #expect {
            try await store.sync("http://127.0.0.1:1", environment: environment)
        } throws: { error in
            guard case MirrorError.missingToken("TARN_TEST_TOKEN") = error else { return false }
            return "\(error)".contains("TARN_TEST_TOKEN")
        }
    }

    @Test("another token does not get the answers that were stored for the first: its request has no condition")
    func tokensDoNotShareResponses() async throws {
        let answer = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 23\r\n\r\n[{\"id\":1,\"name\":\"one\"}]"
        let server = try RawServer([answer, answer, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"])
        let store = try MirrorStore(yaml: itemsYAML(api: MirrorBoundaryTests.tokenAPI))
        for token in ["first", "second", "second"] {
            let report = try await store.sync(server.base + "/v1", environment: ["TARN_TEST_TOKEN": token])
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(server.requests.map { $0.contains("If-None-Match: \"a\"") } == [false, false, true])
    }
}
