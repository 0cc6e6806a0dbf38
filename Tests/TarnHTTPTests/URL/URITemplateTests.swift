// The examples of RFC 6570, section by section.

import Testing

@testable import TarnHTTP

@Suite("URI templates")
struct URITemplateTests {
    /// RFC 6570 §3.2: the values of all its examples.
    static let values: [String: URITemplate.Value] = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value",
        "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar", "list": ["red", "green", "blue"],
        "keys": ["semi": ";", "dot": ".", "comma": ","], "v": "6", "x": "1024", "y": "768", "empty": "",
        "empty_keys": .members([]),
        "year": ["1965", "2000", "2012"], "term": "john", "lang": "en", "q": "chocolate", "number": "6", "long": "",
        "lat": "37.76",
    ]

    static let examples: [(String, String)] = [
        // §1.2, level 1 to 4
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{+var}", "value"), ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"), ("here?ref={+path}", "here?ref=/foo/bar"), ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"),
        ("map?{x,y}", "map?1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"), ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"), ("X{.x,y}", "X.1024.768"), ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"), ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&x,y,empty}", "&x=1024&y=768&empty="),
        // §2.4.1
        ("{var:3}", "val"), ("{var:20}", "value"), ("{var}", "value"), ("{semi}", ""),
        // §2.4.2
        ("find{?year*}", "find?year=1965&year=2000&year=2012"), ("www{.dom*}", "www.example.com"),
        // §3.2.1
        ("{count}", "one,two,three"), ("{count*}", "one,two,three"), ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"), ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"), ("{&count*}", "&count=one&count=two&count=three"),
        // §3.2.2 simple
        ("{half}", "50%25"), ("O{empty}X", "OX"), ("O{undef}X", "OX"), ("{x,y}", "1024,768"), ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"), ("{var:30}", "value"), ("{list}", "red,green,blue"), ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"), ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        // §3.2.3 reserved
        ("{+half}", "50%25"), ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"), ("O{+undef}X", "OX"), ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+list}", "red,green,blue"), ("{+list*}", "red,green,blue"), ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        // §3.2.4 fragment
        ("{#var}", "#value"), ("{#half}", "#50%25"), ("foo{#empty}", "foo#"), ("foo{#undef}", "foo"),
        ("{#path:6}/here", "#/foo/b/here"),
        ("{#list}", "#red,green,blue"), ("{#list*}", "#red,green,blue"), ("{#keys}", "#semi,;,dot,.,comma,,"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
        // §3.2.5 label
        ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"), ("X{.empty}", "X."),
        ("X{.undef}", "X"),
        ("X{.var:3}", "X.val"), ("X{.list}", "X.red,green,blue"), ("X{.list*}", "X.red.green.blue"),
        ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"), ("X{.empty_keys}", "X"), ("X{.empty_keys*}", "X"),
        // §3.2.6 path segments
        ("{/who}", "/fred"), ("{/who,who}", "/fred/fred"), ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"), ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"), ("{/var:1,var}", "/v/value"), ("{/list}", "/red,green,blue"),
        ("{/list*}", "/red/green/blue"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"), ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        // §3.2.7 path-style parameters
        ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"), ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,bar,who}", ";v=6;who=fred"), ("{;x,y,undef}", ";x=1024;y=768"), ("{;hello:5}", ";hello=Hello"),
        ("{;list}", ";list=red,green,blue"),
        ("{;list*}", ";list=red;list=green;list=blue"), ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        // §3.2.8 form-style query
        ("{?who}", "?who=fred"), ("{?half}", "?half=50%25"), ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"),
        ("{?list}", "?list=red,green,blue"), ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        // §3.2.9 form-style continuation
        ("{&who}", "&who=fred"), ("{&half}", "&half=50%25"), ("{&x,y,undef}", "&x=1024&y=768"),
        ("{&var:3}", "&var=val"),
        ("{&list}", "&list=red,green,blue"), ("{&list*}", "&list=red&list=green&list=blue"),
        ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
        ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
    ]

    @Test("an example of RFC 6570 is expanded as it says", arguments: examples)
    func standard(_ template: String, _ expected: String) throws {
        #expect(try URITemplate(template).expand(Self.values) == expected)
    }

    @Test(
        "characters are Unicode's: a prefix does not cut bytes, and what is encoded already is not encoded again where that is allowed"
    )
    func unicode() throws {
        #expect(try URITemplate("{a:2}").expand(["a": "üñz"]) == "%C3%BC%C3%B1")
        #expect(try URITemplate("{+a}").expand(["a": "%41%zz"]) == "%41%25zz")
        #expect(try URITemplate("{a}").expand(["a": "%41"]) == "%2541")
        #expect(try URITemplate("/ü/{a}").expand(["a": "b"]) == "/%C3%BC/b")
        #expect(try URITemplate("{?a%20b}").expand(["a%20b": "c"]) == "?a%20b=c")
    }

    @Test(
        "what is no template is refused",
        arguments: [
            "{", "}", "a{b", "{a{b}", "{}", "{a b}", "{=a}", "{,a}", "{!a}", "{@a}", "{|a}", "{a,}", "{a:0}",
            "{a:10000}", "{a:01}", "{a:}", "{a:3*}", "{a**}",
            "{.}", "{a.}", "{a..b}", "{ü}", "{a%2}", "{?}", "{++a}", "{-a}", "{ a}",
        ])
    func malformed(_ text: String) {
        #expect(throws: URITemplateError.self) { try URITemplate(text) }
    }

    @Test("the variables are known, each once")
    func variables() throws {
        #expect(try URITemplate("/a/{b}{/c*,b}{?d:3,e.f}").variables == ["b", "c", "d", "e.f"])
    }
}

@Suite("Paths in the ancestors' style")
struct ColonPathTests {
    static let rows: [(String, String)] = [
        ("/repos/:repository.full_name/issues", "/repos/{repository.full_name}/issues"), ("/users/:id", "/users/{id}"),
        ("/users/:id.json", "/users/{id}.json"),
        ("/x/:id_value/:id", "/x/{id_value}/{id}"), ("http://localhost:3000/:id", "http://localhost:3000/{id}"),
        ("/a/:i", "/a/{i}"),
        ("/at/12:30", "/at/12:30"), ("/:id:id", "/{id}:id"), ("/:id/:", "/{id}/:"), ("/a:b", "/a:b"),
        ("/:id.", "/{id}."), ("/:id.v2.json", "/{id}.v2.json"),
        ("/{a:3}/:id", "/{a:3}/{id}"), ("/::id", "/::id"), ("/{id}:cancel", "/{id}:cancel"), ("/:a-:b", "/{a}-{b}"),
        ("/:ID", "/{ID}"), ("/(:id)", "/({id})"),
    ]

    @Test("a colon begins a name as long as it goes, and dots belong to it only if they are known to", arguments: rows)
    func colons(_ path: String, _ expected: String) throws {
        let template = try PathTemplate(path) { $0 == "repository.full_name" }
        #expect(template.description == expected)
    }

    @Test("values are put in by name, one never into another")
    func values() throws {
        let template = try PathTemplate("/x/:id/:id_value/:id.json") { _ in false }
        #expect(try template.expanded(["id": "a/b", "id_value": ":id"]) == "/x/a%2Fb/%3Aid/a%2Fb.json")
    }

    @Test("a path takes the other forms of RFC 6570, and no value leads to another resource")
    func expressions() throws {
        let template = try PathTemplate("/files{/segments*}{?q,tags*}")
        #expect(
            try template.expanded(lists: ["segments": ["a", "b/c"], "q": [""], "tags": ["x", "y"]])
                == "/files/a/b%2Fc?q=&tags=x&tags=y")
        #expect(throws: PathTemplateError.self) {
            try template.expanded(lists: ["segments": ["a", ".."], "q": ["x"], "tags": ["y"]])
        }
        #expect(throws: PathTemplateError.self) { try PathTemplate("/{+path}").expanded(["path": "a/../b"]) }
        #expect(try PathTemplate("/{+path}").expanded(["path": "a/b"]) == "/a/b")
    }
}
