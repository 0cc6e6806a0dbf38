// RFC 8288, as servers send it.

import Testing

@testable import TarnHTTP

@Suite("Link header")
struct LinkHeaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [String]
        var relation = "next"
        var target: String?
        var testDescription: String { fields.joined(separator: " | ") }

        init(_ fields: String..., relation: String = "next", target: String?) {
            self.fields = fields
            self.relation = relation
            self.target = target
        }
    }

    static let rows = [
        Row(#"<https://a.example/?page=2>; rel="next""#, target: "https://a.example/?page=2"),
        Row(
            #"<https://a.example/?page=2>; rel="next", <https://a.example/?page=5>; rel="last""#,
            target: "https://a.example/?page=2"),
        Row(
            #"<https://a.example/?page=1>; rel="prev", <https://a.example/?page=3>; rel="next""#,
            target: "https://a.example/?page=3"),
        Row("</2>;rel=next", target: "/2"),
        Row("</2> ; rel = next", target: "/2"),
        Row("</2>; rel='next'", target: "/2"),
        Row("</2>; rel='prev next'; title='x'", target: "/2"),
        Row("</2>; rel='", target: nil),
        Row(#"  </2>  ;  rel  =  "next"  "#, target: "/2"),
        Row("</2>; REL=NEXT", target: "/2"),
        Row("</2>; rel=next", relation: "Next", target: "/2"),
        Row(#"</2>; rel="prefetch next""#, target: "/2"),
        Row("</2>; rel=\"prefetch\tnext\"", target: "/2"),
        Row(#"</2>; rel="nextpage""#, target: nil),
        Row(#"</2>; rel="prev"; rel="next""#, target: nil),
        Row(#"</2>; rel="next"; rel="prev""#, target: "/2"),
        Row(#"</1>; title="a, b; rel=\"next\""; rel="prev", </2>; rel="next""#, target: "/2"),
        Row(#"</1>; title="</9>; rel=next", </2>; rel="next""#, target: "/2"),
        Row(#"</2?a,b;c=d>; rel="next""#, target: "/2?a,b;c=d"),
        Row(#"</2>; hreflang=en; title*=UTF-8''x%20y; rel="next"; type="application/json""#, target: "/2"),
        Row(#"</2>; crossorigin; rel="next""#, target: "/2"),
        Row(#"</2>; results="true"; cursor="0:100:0"; rel="next""#, target: "/2"),
        Row(#"</2>; rel="next"; results="false"; cursor="0:200:0""#, target: nil),
        Row(#"</1>; rel="previous"; results="false", </2>; rel="next"; results="true""#, target: "/2"),
        Row(#"</1>; rel="prev""#, #"</2>; rel="next""#, target: "/2"),
        Row(#"</2>; rel="next""#, #"</3>; rel="next""#, target: "/2"),
        Row(#", , </2>; rel="next", "#, target: "/2"),
        Row(#"broken; rel="next", </2>; rel="next""#, target: "/2"),
        Row(#"broken "x, </8>; rel=next; y", </2>; rel="next""#, target: "/2"),
        Row(#"https://a.example/2; rel="next""#, target: "https://a.example/2"),
        Row(#"/2?a=b; rel="next", </3>; rel=last"#, target: "/2?a=b"),
        Row(#"?page=2 ; rel=next"#, target: "?page=2"),
        Row("/2", target: nil),
        Row("/1, </2>; rel=next", target: "/2"),
        Row(#"page 2; rel="next""#, target: nil),
        Row(#"</2; rel="next""#, target: nil),
        Row("</2; rel=next, </3>; rel=last", target: nil),
        Row("</2; rel=next, </3>; rel=last", relation: "last", target: "/3"),
        Row("</1; rel=prev, </2>; rel=next", target: "/2"),
        Row("</2?filter=a<b>; rel=next", target: "/2?filter=a<b"),
        Row(#"</2>; rel="next"#, target: "/2"),
        Row(#"</2>; rel=next; title="open"#, target: "/2"),
        Row("</2>", target: nil),
        Row("</2>; rel", target: nil),
        Row("</2>; rel=", target: nil),
        Row(#"</2>; rel="\n\e\x\t""#, target: "/2"),
        Row("<>; rel=next", target: ""),
        Row(#"</2>; rel="next"; anchor="/other""#, target: nil),
        Row(#"</2>; rel="next"; anchor="""#, target: "/2"),
        Row(#"</2>; rel="next" garbage, </3>; rel="last""#, relation: "last", target: "/3"),
        Row("", target: nil),
        Row(target: nil),
    ]

    @Test("the target of a relation is found as RFC 8288 says, and what is no link hides nothing", arguments: rows)
    func targetIsFound(_ row: Row) {
        let headers = TransportHeaders(
            [.init("Content-Type", "application/json")] + row.fields.map { .init("link", $0) })
        #expect(LinkHeader.target(relation: row.relation, in: headers) == row.target)
    }

    @Test(
        "the examples of RFC 8288 §3.5 are read as it says",
        arguments: [
            (
                #"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#, "previous",
                "http://example.com/TheBook/chapter2"
            ),
            (#"</>; rel="http://example.net/foo""#, "http://example.net/foo", "/"),
            (##"</terms>; rel="copyright"; anchor="#foo""##, "copyright", nil),
            (
                #"</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel"#,
                "next", "/TheBook/chapter4"
            ),
            (
                #"<http://example.org/>; rel="start http://example.net/relation/other""#,
                "http://example.net/relation/other", "http://example.org/"
            ),
            (
                #"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#, "index",
                "https://example.org/index"
            ),
        ] as [(String, String, String?)])
    func examplesOfTheStandard(field: String, relation: String, target: String?) {
        #expect(LinkHeader.target(relation: relation, in: TransportHeaders([.init("Link", field)])) == target)
    }

    @Test(
        "a link with an anchor belongs to the page if the anchor is its URL, or that of its list",
        arguments: [
            ("http://h/items", true), ("/items?page=2", true), ("/items?page=1", false), ("#x", false),
            ("/others", false), ("http://other/items", false),
        ])
    func anchors(anchor: String, isOwn: Bool) {
        let headers = TransportHeaders([.init("Link", "</items?page=3>; rel=next; anchor=\"\(anchor)\"")])
        let target = LinkHeader.target(relation: "next", in: headers, of: "http://h/items?page=2")
        #expect(target == (isOwn ? "/items?page=3" : nil))
        #expect(LinkHeader.target(relation: "next", in: headers) == nil)
    }

    @Test(
        "a relation that belongs to no readable link is noted, so that a list does not end because of it",
        arguments: [
            ("</2; rel=next, </3>", true), ("</2; rel=next, </3>; rel=last", true), (#"</2; rel="next""#, true),
            ("</2; rel=next>", true), ("</2> rel=next", true), (#"</2> rel="next", </3>; rel=last"#, true),
            ("</2>; rel=next", false), ("</2; rel=next, </3>; rel=next", false), ("</1>; rel=prev", false),
            ("</2?a,b;c=d>", false), ("</1>, </3>; rel=last", false),
        ])
    func unreadable(field: String, isUnreadable: Bool) {
        let headers = TransportHeaders([.init("Link", field)])
        #expect(LinkHeader.hasUnreadable(relation: "next", in: headers) == isUnreadable)
    }

    @Test("every link of a field is parsed, in order")
    func allLinksInOrder() {
        let links = LinkHeader.parse(#"</1>; rel="first prev", </3>; rel=next, nonsense, </9>; rel=last; anchor="/x""#)
        #expect(links.map(\.target) == ["/1", "/3", "/9"])
        #expect(links.map(\.relations) == [["first", "prev"], ["next"], ["last"]])
        #expect(links.map(\.anchor) == [nil, nil, "/x"])
    }

    @Test("no text makes the parser hang or fail")
    func anyTextEnds() {
        let pieces = ["<", ">", ";", ",", "\"", "\\", "=", "rel", "next", " ", "é", "/2"]
        let seed = UInt64.random(in: 1...UInt64.max)
        var state = seed
        for _ in 0..<2000 {
            let text = (0..<12).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return pieces[Int(state >> 33) % pieces.count]
            }.joined()
            for link in LinkHeader.parse(text) { #expect(!link.target.contains(">"), "seed \(seed): \(text)") }
        }
    }
}
