// RFC 3986: splitting, resolving, comparing, moving, and the parameters of a query.

import TestSupport
import Testing

@testable import TarnHTTP

@Suite("URL references")
struct URLReferenceTests {
    /// RFC 3986 §5.4.1 and §5.4.2, with the base `http://a/b/c/d;p?q`.
    static let examples: [(String, String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    @Test("references resolve as in the examples of RFC 3986 §5.4", arguments: examples)
    func examplesOfTheStandard(_ reference: String, _ expected: String) {
        let base = URLReference("http://a/b/c/d;p?q")
        #expect(URLReference(reference).resolved(against: base).description == expected)
    }

    @Test(
        "a reference that is taken apart and put together is the same text",
        arguments: [
            "", "a", "//a", "a://", "http://u@h:1/p//q/?x?y#z#", "?", "#", "?#", "1a:b", "päth", "mailto:a@b",
            "http://a?b",
        ])
    func roundTrip(_ text: String) {
        #expect(URLReference(text).description == text)
    }

    @Test("a base without a path merges as RFC 3986 §5.2.3 says")
    func baseWithoutPath() {
        #expect(URLReference("g").resolved(against: URLReference("http://a")).description == "http://a/g")
        #expect(URLReference("?y").resolved(against: URLReference("http://a")).description == "http://a?y")
    }
}

@Suite("HTTP URLs")
struct HTTPURLTests {
    @Test("a plain URL has the same parts in one pass; what is not plain is left to the whole parser")
    func plain() {
        let parts = [
            "http://", "https://", "HTTP://", "ftp://", "h", "api.example.org", "API", "127.0.0.1", "[::1]", "a_b", "~",
            "u@",
            ":", ":80", ":080", ":0", ":8443", ":65535", ":65536", ":99999999999999999999", "/", "/a/b", "/.", "..",
            "?",
            "?q=1&r", "#f", "%41", "%4", "\u{e4}", " ", "\"", "<", "\\", "[1]", "{}", "|", "\u{7f}", "",
        ]
        var random = SeededRandom(seed: 18), plain = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...6, using: &random)
            let text =
                (["http://h", "https://api.example.org:1", ""].randomElement(using: &random) ?? "")
                + (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            guard let url = HTTPURL(plain: text) else { continue }
            plain += 1
            #expect((try? HTTPURL(parsing: text)) == url, "\(text)")
        }
        #expect(plain > 100)
        #expect(HTTPURL(plain: "http://a:1/b?c") != nil && HTTPURL(plain: "http://a/%41") == nil)
    }

    @Test("a URL is taken apart, with scheme and host in lower case and the rest as written")
    func parts() throws {
        let url = try HTTPURL("HTTPS://API.Example.org:8443/Repos/%c3%a4/x?page[number]=2&q=a+b#frag")
        #expect(url.scheme == "https")
        #expect(url.host == "api.example.org")
        #expect(url.port == 8443)
        #expect(url.path == "/Repos/%c3%a4/x")
        #expect(url.query == "page[number]=2&q=a+b")
        #expect(url.description == "https://api.example.org:8443/Repos/%c3%a4/x?page[number]=2&q=a+b")
    }

    @Test("the path of a URL without one is /, and default ports are known")
    func defaults() throws {
        #expect(try HTTPURL("http://a").target == "/")
        #expect(try HTTPURL("http://a?x=1").target == "/?x=1")
        #expect(try HTTPURL("http://a").port == 80)
        #expect(try HTTPURL("https://a:").port == 443)
        #expect(try HTTPURL("http://[::1]:8080/x").host == "[::1]")
        #expect(try HTTPURL("http://[::1]").port == 80)
        #expect(try HTTPURL("https://a:443/").origin == "https://a")
        #expect(try HTTPURL("https://a:80/").origin == "https://a:80")
    }

    static let refused: [(String, String)] = [
        ("", "absolute"), ("/issues", "absolute"), ("ftp://a/", "absolute"), ("file:///etc/passwd", "absolute"),
        ("http:a", "absolute"), ("//a/b", "absolute"), ("http://", "host is missing"), ("http:///x", "host is missing"),
        ("http://:80/", "host is missing"), ("http://user@a/", "user or password"),
        ("http://u:p@a/", "user or password"),
        ("http://a:0/", "port"), ("http://a:65536/", "port"), ("http://a:x/", "port"), ("http://a:-1/", "port"),
        ("http://bücher.example/", "ASCII"), ("http://a b/", "ASCII"), ("http://a%2eb/", "ASCII"),
        ("http://[::1/", "ASCII"),
        ("http://a/b c", "percent-encoded"), ("http://a/ä", "percent-encoded"), ("http://a/\u{0}", "percent-encoded"),
        ("http://a/<b>", "percent-encoded"), ("http://a/\"", "percent-encoded"),
        ("http://a/b\\c", "percent-encoded"), ("http://a/?x=ü", "percent-encoded"), ("http://a/%", "hexadecimal"),
        ("http://a/%4", "hexadecimal"), ("http://a/%zz", "hexadecimal"), ("http://a/?q=100%", "hexadecimal"),
    ]

    @Test("what is not an absolute http or https URL is refused with its reason", arguments: refused)
    func refusals(_ text: String, _ reason: String) {
        let error = #expect(throws: HTTPURLError.self) { try HTTPURL(text) }
        #expect(error?.reason.contains(reason) ?? false, "\(error?.reason ?? "")")
    }

    @Test("a line break in a URL is refused")
    func lineBreak() {
        #expect(throws: HTTPURLError.self) { try HTTPURL("http://a/\r\nX: y") }
        #expect(throws: HTTPURLError.self) { try HTTPURL("http://a\r\n/") }
        #expect(throws: HTTPURLError.self) { try HTTPURL("http://a/\u{0}") }
    }

    static let origins: [(String, String, Bool)] = [
        ("http://a/x", "http://a:80/y", true), ("https://a", "https://A:443/", true), ("http://a", "https://a", false),
        ("http://a", "http://a:8080", false), ("http://a", "http://b", false), ("http://a", "http://a.b", false),
        ("http://localhost:1", "http://127.0.0.1:1", false),
    ]

    @Test("the same origin is the same scheme, host and port, default ports included", arguments: origins)
    func sameOrigin(_ a: String, _ b: String, _ expected: Bool) throws {
        #expect(try HTTPURL(a).hasSameOrigin(as: HTTPURL(b)) == expected)
    }

    struct Move: Sendable {
        var link: String
        var origins: [String]
        var base: String
        var result: String?
    }

    static let moves = [
        Move(
            link: "https://api.forge.example/issues?page=2", origins: ["https://api.forge.example"],
            base: "http://127.0.0.1:1234", result: "http://127.0.0.1:1234/issues?page=2"),
        Move(
            link: "https://api.forge.example/issues", origins: ["https://api.forge.example/"],
            base: "http://127.0.0.1:1234/", result: "http://127.0.0.1:1234/issues"),
        Move(
            link: "https://API.forge.example:443/issues", origins: ["https://api.forge.example"], base: "http://h/v1",
            result: "http://h/v1/issues"),
        Move(
            link: "https://forge.example/api/v3/issues?x=1",
            origins: ["https://other", "https://forge.example/api/v3"], base: "http://h:1",
            result: "http://h:1/issues?x=1"),
        Move(
            link: "https://forge.example/api/v3", origins: ["https://forge.example/api/v3/"], base: "http://h:1",
            result: "http://h:1/"),
        Move(
            link: "https://forge.example/api/v30/issues", origins: ["https://forge.example/api/v3"], base: "http://h",
            result: nil),
        Move(
            link: "https://forge.example/api/v3/../admin", origins: ["https://forge.example/api/v3"], base: "http://h",
            result: nil),
        Move(link: "http://forge.example/issues", origins: ["https://forge.example"], base: "http://h", result: nil),
        Move(
            link: "https://forge.example.evil/issues", origins: ["https://forge.example"], base: "http://h", result: nil
        ),
        Move(
            link: "https://forge.example@evil/issues", origins: ["https://forge.example"], base: "http://h", result: nil
        ),
        Move(
            link: "https://forge.example:444/issues", origins: ["https://forge.example"], base: "http://h", result: nil),
        Move(link: "/issues", origins: ["https://forge.example"], base: "http://h", result: nil),
        Move(link: "https://forge.example/issues", origins: [], base: "http://h", result: nil),
        Move(link: "https://forge.example/issues", origins: ["https://forge.example"], base: "nowhere", result: nil),
    ]

    @Test("a link under one of the API's names is moved onto the base, any other is not", arguments: moves)
    func rebase(_ move: Move) {
        #expect(HTTPURL.rebase(link: move.link, from: move.origins, onto: move.base) == move.result)
    }
}

@Suite("Query parameters")
struct QueryParametersTests {
    @Test(
        "the parameters of a query are read in their order, decoded; one without a value has an empty one",
        arguments: [
            ("https://a/x?page=2&q=a%20b+c%2B", ["page", "2", "q", "a b c+"]),
            ("/x?a%5B0%5D=1&a%5B0%5D=2", ["a[0]", "1", "a[0]", "2"]),
            ("/x?flag&b=c=d&&e=", ["flag", "", "b", "c=d", "e", ""]), ("/x?", []), ("/x", []),
            ("/x?q=%C3%BC#f", ["q", "ü"]),
        ] as [(String, [String])])
    func values(_ url: String, _ expected: [String]) {
        #expect(QueryParameters.values(in: url).flatMap { [$0.name, $0.value] } == expected)
    }

    @Test("parameters are appended percent-encoded, unreserved bytes kept")
    func append() {
        #expect(QueryParameters.append([("a b", "c&d=e/ü")], to: "/x") == "/x?a%20b=c%26d%3De%2F%C3%BC")
        #expect(QueryParameters.append([("q", "A-z.0_~")], to: "http://h/x?p=1") == "http://h/x?p=1&q=A-z.0_~")
        #expect(QueryParameters.append([("a", "1"), ("a", "2")], to: "/x?") == "/x?a=1&a=2")
        #expect(QueryParameters.append([], to: "/x?p") == "/x?p")
        #expect(QueryParameters.append([("a", "1")], to: "/x#f") == "/x?a=1#f")
    }

    static let replaced: [(String, String)] = [
        ("/x", "/x?page=7"), ("/x?", "/x?page=7"), ("/x?page=2", "/x?page=7"),
        ("/x?a=%41+b&page=2&c", "/x?a=%41+b&page=7&c"),
        ("/x?page=1&z=1&page=2", "/x?page=7&z=1"), ("/x?pag%65=1", "/x?page=7"), ("/x?page", "/x?page=7"),
        ("/x?PAGE=1", "/x?PAGE=1&page=7"), ("/x?per_page=5", "/x?per_page=5&page=7"), ("/x?a&&b", "/x?a&&b&page=7"),
    ]

    @Test("one parameter is replaced, the others keep their order and bytes", arguments: replaced)
    func set(_ url: String, _ expected: String) {
        #expect(QueryParameters.set("page", to: "7", in: url) == expected)
    }
}

@Suite("Redaction")
struct RedactionTests {
    static let rows: [(String, String)] = [
        ("https://a/x?page=2&token=abc&q=1", "https://a/x?page=2&token=***&q=1"),
        ("https://a/?access_token=s3cr3t", "https://a/?access_token=***"),
        ("https://a/?API_KEY=s&apikey=s&api-key=s&key=s", "https://a/?API_KEY=***&apikey=***&api-key=***&key=***"),
        ("https://a/?client_secret=s&password=s&secret=s", "https://a/?client_secret=***&password=***&secret=***"),
        ("https://a/?%74oken=s", "https://a/?%74oken=***"),
        ("https://user:pass@a/x", "https://***@a/x"), ("http://u:pa#ss@a:9/x", "http://***@a:9/x"),
        ("http://u:pa/ss@a/x?token=s", "http://***@a/x?token=***"), ("http://a:8/@b/c", "http://a:8/@b/c"),
        ("http://[::a]/@b", "http://[::a]/@b"),
        ("https://a/cb#access_token=s&state=1", "https://a/cb#access_token=***&state=1"),
        ("https://a/?token=", "https://a/?token=***"),
        ("https://a/?token", "https://a/?token"),
        ("https://a/?page_token=CAE&monkey=1&keyword=x", "https://a/?page_token=CAE&monkey=1&keyword=x"),
        ("https://a/?X-Api-Key=s&hapikey=s&userkey=s", "https://a/?X-Api-Key=***&hapikey=***&userkey=***"),
        ("https://a/?private_key=s&login_token=s&sid=s", "https://a/?private_key=***&login_token=***&sid=***"),
        ("https://a/?code=de&after=x", "https://a/?code=de&after=x"),
        ("https://a/?code=Zm9vYmFyYmF6cXV4Cg%3D%3D", "https://a/?code=***"),
        ("/relative?secret=s", "/relative?secret=***"), ("", ""),
        (
            "https://h/x?X-Amz-Credential=AKIA1%2F2026&oauth_signature=abc&n=1",
            "https://h/x?X-Amz-Credential=***&oauth_signature=***&n=1"
        ),
    ]

    @Test("secrets in a URL are not shown, everything else is", arguments: rows)
    func url(_ text: String, _ expected: String) {
        #expect(Redaction.url(text) == expected)
    }

    @Test("an error's text shows no secret of its URL")
    func errorText() {
        let error = TransportError(
            .connect, method: "GET", url: "http://a/?token=hush&p=1", detail: "could not connect")
        #expect("\(error)" == "GET http://a/?token=***&p=1: could not connect")
        #expect(!"\(PaginationError.repeated(url: "http://a/?key=hush"))".contains("hush"))
        #expect(!"\(HTTPURLError("http://u:hush@a/", "no"))".contains("hush"))
    }
}
