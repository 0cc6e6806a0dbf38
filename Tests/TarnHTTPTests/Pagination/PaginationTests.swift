// First pages, next pages, and the guards of a scan.

import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Pagination")
struct PaginationTests {
    static let numbered = Pagination.pageNumber(parameter: "_page", size: .init(parameter: "_limit", value: 10))

    struct Row: Sendable {
        var pagination: Pagination
        var url = "http://h/posts?state=all"
        var headers = TransportHeaders()
        var count = 10
        var ordinal = 1
        var next: NextPage
    }

    static let link = TransportHeaders([.init("Link", #"</posts?page=2>; rel="next", </posts?page=9>; rel="older""#)])
    static let rows = [
        Row(pagination: .singlePage, headers: link, next: .end),
        Row(pagination: .headerLink(), headers: link, next: .next("/posts?page=2")),
        Row(pagination: .headerLink(relation: "older"), headers: link, next: .next("/posts?page=9")),
        Row(pagination: .headerLink(), headers: link, count: 0, next: .next("/posts?page=2")),
        Row(pagination: .headerLink(), next: .end),
        Row(pagination: numbered, next: .next("http://h/posts?state=all&_page=2")),
        Row(
            pagination: numbered, url: "http://h/posts?_page=4&_limit=10", ordinal: 4,
            next: .next("http://h/posts?_page=5&_limit=10")),
        Row(pagination: numbered, headers: link, count: 9, ordinal: 2, next: .end),
        Row(pagination: numbered, count: 0, next: .end),
        Row(pagination: numbered, count: 11, next: .next("http://h/posts?state=all&_page=2")),
        Row(pagination: .pageNumber(parameter: "p", start: 0), count: 1, next: .next("http://h/posts?state=all&p=1")),
        Row(
            pagination: .pageNumber(parameter: "p", start: 0), count: 1, ordinal: 3,
            next: .next("http://h/posts?state=all&p=3")),
        Row(pagination: .pageNumber(parameter: "p"), count: 0, next: .end),
    ]

    @Test("what follows a page is decided by its style, its headers and its count", arguments: rows)
    func next(_ row: Row) throws {
        #expect(
            try row.pagination.next(
                after: PageRequest(url: row.url), PageFacts(headers: row.headers, recordCount: row.count),
                ordinal: row.ordinal,
                listed: row.count) == row.next)
    }

    @Test("page numbers and sizes are added to the first page, other styles leave the URL as it is")
    func firstPage() {
        func first(_ pagination: Pagination, _ url: String) -> String {
            pagination.firstPage(of: PageRequest(url: url)).url
        }
        #expect(first(Self.numbered, "http://h/posts") == "http://h/posts?_page=1&_limit=10")
        #expect(first(Self.numbered, "http://h/posts?_limit=3&x=1") == "http://h/posts?_limit=10&x=1&_page=1")
        #expect(first(Pagination.pageNumber(parameter: "p", start: 0), "http://h/x?p=4") == "http://h/x?p=0")
        #expect(first(Pagination.headerLink(), "http://h/x?y") == "http://h/x?y")
        #expect(first(Pagination.singlePage, "http://h/x?y") == "http://h/x?y")
    }
}

@Suite("Page sequences")
struct PageSequenceTests {
    private func headers(_ target: String) -> TransportHeaders {
        TransportHeaders([.init("Link", "<\(target)>; rel=\"next\"")])
    }

    @Test("a walk follows links to its end, on the base, and counts its pages")
    func walkToTheEnd() throws {
        var pages = try PageSequence(
            .headerLink(), url: "http://127.0.0.1:1/issues?per_page=2", base: "http://127.0.0.1:1",
            aliases: ["https://api.forge.example"])
        #expect(pages.url == "http://127.0.0.1:1/issues?per_page=2")
        #expect(try pages.advance(headers: headers("https://api.forge.example/issues?page=2"), recordCount: 2))
        #expect(pages.url == "http://127.0.0.1:1/issues?page=2")
        #expect(try pages.advance(headers: headers("?page=3"), recordCount: 2))
        #expect(pages.url == "http://127.0.0.1:1/issues?page=3")
        #expect(try pages.advance(headers: headers("/other/4"), recordCount: 2))
        #expect(pages.url == "http://127.0.0.1:1/other/4")
        #expect(pages.ordinal == 4)
        #expect(try !pages.advance(headers: TransportHeaders(), recordCount: 2))
        #expect(pages.ordinal == 4)
    }

    @Test("numbered pages end at a short page")
    func numberedPages() throws {
        var pages = try PageSequence(PaginationTests.numbered, url: "http://h/posts", base: "http://h")
        #expect(pages.url == "http://h/posts?_page=1&_limit=10")
        #expect(try pages.advance(headers: TransportHeaders(), recordCount: 10))
        #expect(pages.url == "http://h/posts?_page=2&_limit=10")
        #expect(try !pages.advance(headers: TransportHeaders(), recordCount: 3))
    }

    @Test("a page that names itself or an earlier one as the next is an error, not a loop")
    func repeatedPage() throws {
        var pages = try PageSequence(.headerLink(), url: "http://h/a", base: "http://h", aliases: ["https://x"])
        #expect(throws: PaginationError.repeated(url: "http://h/a")) {
            try pages.advance(headers: headers("http://h/a"), recordCount: 1)
        }
        #expect(try pages.advance(headers: headers("/b"), recordCount: 1))
        let error = #expect(throws: PaginationError.self) {
            try pages.advance(headers: headers("https://x/a"), recordCount: 1)
        }
        #expect(error == .repeated(url: "http://h/a"))
        #expect("\(try #require(error))".contains("already fetched: http://h/a"))
        #expect(pages.url == "http://h/b")
    }

    @Test("a walk ends with an error at its page limit")
    func pageLimit() throws {
        var pages = try PageSequence(.pageNumber(parameter: "p"), url: "http://h/", base: "http://h", pageLimit: 3)
        #expect(try pages.advance(headers: TransportHeaders(), recordCount: 1))
        #expect(try pages.advance(headers: TransportHeaders(), recordCount: 1))
        #expect(throws: PaginationError.tooManyPages(limit: 3, url: "http://h/?p=4")) {
            try pages.advance(headers: TransportHeaders(), recordCount: 1)
        }
    }

    @Test(
        "a link to another server is not followed, and the error names the way out",
        arguments: [
            "https://evil.example/issues?page=2", "//evil.example/x", "http://h:81/x", "https://h/x",
        ])
    func foreignLink(_ link: String) throws {
        var pages = try PageSequence(
            .headerLink(), url: "http://h/issues", base: "http://h", aliases: ["https://api.forge.example"])
        let error = #expect(throws: PaginationError.self) { try pages.advance(headers: headers(link), recordCount: 1) }
        let text = "\(try #require(error))"
        #expect(text.contains("allowed: http://h, https://api.forge.example"))
        #expect(text.contains("api.aliases"))
        #expect(pages.ordinal == 1)
    }

    @Test("a link elsewhere on the base's own server is followed")
    func sameServer() throws {
        var pages = try PageSequence(.headerLink(), url: "http://h/v1/a", base: "http://h/v1")
        #expect(try pages.advance(headers: headers("http://h/repositories/7/a?page=2"), recordCount: 1))
        #expect(pages.url == "http://h/repositories/7/a?page=2")
    }

    @Test("a relative link is relative to the URL that answered")
    func relativeAfterRedirect() throws {
        var pages = try PageSequence(.headerLink(), url: "http://h/old/a", base: "http://h")
        #expect(try pages.advance(headers: headers("b?page=2"), recordCount: 1, answeredBy: "http://h/new/a"))
        #expect(pages.url == "http://h/new/b?page=2")
    }

    @Test(
        "a link that is no URL is an error that shows it",
        arguments: ["ftp://h/x", "http://u:p@h/x", "/a b", "http://"])
    func malformedLink(_ link: String) throws {
        var pages = try PageSequence(.headerLink(), url: "http://h/a", base: "http://h")
        #expect {
            try pages.advance(headers: headers(link), recordCount: 1)
        } throws: { error in
            if case .malformed = error as? PaginationError { true } else { false }
        }
    }

    @Test("a walk does not begin at what is no URL")
    func malformedStart() {
        #expect(throws: PaginationError.self) { try PageSequence(.singlePage, url: "/issues", base: "http://h") }
        #expect(throws: PaginationError.self) { try PageSequence(.singlePage, url: "http://h/", base: "h") }
    }

    @Test("a served API is walked to its end over the network, and a second walk is answered 304 throughout")
    func walkOverTheNetwork() async throws {
        func page(_ number: Int, _ link: String) -> String {
            """
            GET /repos/acme/anvil/issues?per_page=1\(number > 1 ? "&page=\(number)" : "")
            HTTP/1.1 200 OK
            ETag: W/"page\(number)"
            \(link)

            [{"id":\(number)}]
            """
        }
        // Links name the API's public host, as a server behind a proxy or a recording does.
        let api = "https://api.forge.example/repos/acme/anvil/issues"
        let server = try LocalServer([
            page(1, "Link: <\(api)?page=2&per_page=1>; rel=\"next\", <\(api)?page=3&per_page=1>; rel=\"last\""),
            page(2, "Link: <\(api)?page=1&per_page=1>; rel=\"prev\", <\(api)?page=3&per_page=1>; rel=\"next\""),
            page(3, "Link: <\(api)?page=2&per_page=1>; rel=\"prev\""),
        ])
        let transport = CurlTransport()
        var stored: [String: TransportHeaders] = [:]
        var bodies: [String] = []
        for expected in [200, 304] {
            var pages = try PageSequence(
                .headerLink(), url: server.base + "/repos/acme/anvil/issues?per_page=1", base: server.base,
                aliases: ["https://api.forge.example"])
            repeat {
                var request = TransportRequest(url: pages.url)
                if let known = stored[pages.url] { Validators(known).apply(to: &request) }
                let response = try await transport.send(request)
                #expect(response.status == expected)
                if response.status == 200 { bodies.append(String(decoding: response.body, as: UTF8.self)) }
                stored[pages.url] = stored[pages.url]?.updated(byNotModified: response.headers) ?? response.headers
            } while try pages.advance(headers: try #require(stored[pages.url]), recordCount: 1)
            #expect(pages.ordinal == 3)
        }
        #expect(bodies == [#"[{"id":1}]"#, #"[{"id":2}]"#, #"[{"id":3}]"#])
        #expect(server.requests.count == 6)
        #expect(server.requests.suffix(3).allSatisfy { $0.contains(" 304 conditional") })
    }
}
