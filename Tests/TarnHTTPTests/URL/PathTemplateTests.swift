// Placeholders in paths.

import Testing

@testable import TarnHTTP

@Suite("Path templates")
struct PathTemplateTests {
    @Test("placeholders are replaced by percent-encoded values")
    func expanded() throws {
        let template = try PathTemplate("/repos/{owner}/{repo}/milestones/{milestone.number}/x")
        #expect(template.variables == ["owner", "repo", "milestone.number"])
        #expect(
            try template.expanded(["owner": "ac/me", "repo": "a b?#%", "milestone.number": "7"])
                == "/repos/ac%2Fme/a%20b%3F%23%25/milestones/7/x")
        #expect(try PathTemplate("/plain").expanded([:]) == "/plain")
        #expect(try PathTemplate("{a}{a}-{b}").expanded(["a": "~ü", "b": "...x"]) == "~%C3%BC~%C3%BC-...x")
        #expect(try PathTemplate("{a}{a}").variables == ["a"])
    }

    /// RFC 6570 §3.2.2, level 1.
    @Test(
        "simple expansion is as in the examples of RFC 6570",
        arguments: [
            ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{undef_no}X", "O%2CX"),
        ])
    func examplesOfTheStandard(_ template: String, _ expected: String) throws {
        let values = ["var": "value", "hello": "Hello World!", "half": "50%", "undef_no": ","]
        let parsed = try PathTemplate(template)
        #expect(try parsed.expanded(values.filter { parsed.variables.contains($0.key) }) == expected)
    }

    @Test("literal text that a URL may not hold is encoded, the rest is copied")
    func literals() throws {
        #expect(try PathTemplate("/a b/ü/%41/x;y=1,2@:!$&'()*+").expanded([:]) == "/a%20b/%C3%BC/%41/x;y=1,2@:!$&'()*+")
    }

    @Test(
        "a malformed template is refused and the error shows where",
        arguments: [
            ("/a/{b", "unmatched {"), ("/a/b}", "unmatched }"),
            ("/{a{b}}", "unmatched {"),
            ("/{}", "{} is not"), ("/{a b}", "{a b} is not"), ("/{=path}", "{=path} is not"), ("/{a,}", "{a,} is not"),
            ("/{a:0}", "{a:0} is not"), ("/{a:x}", "{a:x} is not"), ("/{a**}", "{a**} is not"),
            ("/{a.}", "{a.} is not"), ("/{a-b}", "{a-b} is not"),
            ("/{ü}", "{ü} is not"),
        ])
    func malformed(_ text: String, _ message: String) throws {
        let error = try #require(#expect(throws: PathTemplateError.self) { try PathTemplate(text) })
        #expect("\(error)".hasPrefix(text + ": "))
        #expect("\(error)".contains(message))
    }

    @Test("a missing, an unknown and an unusable value are errors that name the placeholder")
    func badValues() throws {
        let template = try PathTemplate("/r/{owner}/{repo}")
        let missing = try #require(#expect(throws: PathTemplateError.self) { try template.expanded(["owner": "a"]) })
        #expect("\(missing)" == "/r/{owner}/{repo}: no value for {repo}")
        let unknown = try #require(
            #expect(throws: PathTemplateError.self) { try template.expanded(["owner": "a", "repo": "b", "rep": "c"]) })
        #expect("\(unknown)" == "/r/{owner}/{repo}: unknown placeholder {rep}; known: {owner}, {repo}")
        for value in ["", ".", ".."] {
            #expect(throws: PathTemplateError.unusable(template: "/r/{owner}/{repo}", variable: "repo", value: value)) {
                try template.expanded(["owner": "a", "repo": value])
            }
        }
    }

    @Test(
        "a segment that leads out of the path is an error also before a combining mark, and encoded",
        arguments: ["../\u{301}x", "a/../\u{301}x", "%2e%2E/x", "a/%2e", "..", "a/.."])
    func dotSegments(_ value: String) throws {
        #expect(throws: PathTemplateError.self) { try PathTemplate("/files/{+path}").expanded(["path": value]) }
    }

    @Test("a slash before a combining mark ends a segment, and dots in other values are encoded")
    func combiningMarks() throws {
        let files = try PathTemplate("/files/{+path}"), names = try PathTemplate("/names/{name}")
        #expect(try files.expanded(["path": "a/\u{301}b"]) == "/files/a/%CC%81b")
        #expect(try files.expanded(["path": "a..b/%2e%2ec"]) == "/files/a..b/%2e%2ec")
        #expect(try names.expanded(["name": "%2e%2e"]) == "/names/%252e%252e")
    }
}
