// The small JSON reader for values other than records: refusals, tokens, positions.

import Testing

@testable import TarnHTTP

@Suite("JSON of refusals and positions")
struct JSONBodyParsingTests {
    @Test(
        "JSON is read as RFC 8259 says, white space and escapes included",
        arguments: [
            (" { \"a\" : [ 1 , -0.5e+3 , true , false , null ] }\n", #"{"a":[1,-0.5e+3,true,false,null]}"#),
            ("[]", "[]"), ("{}", "{}"), ("\t\"x\"\r\n", #""x""#), ("0", "0"), ("-0", "-0"), ("1E5", "1E5"),
            (#""\u0041\n\ud83d\ude00\/""#, "\"A\\u000a😀/\""), (#""\ud800x""#, "\"\u{FFFD}x\""),
            (#""\ud800\u0041""#, "\"\u{FFFD}A\""),
            (#"{"a":1,"a":2}"#, #"{"a":1,"a":2}"#),
        ])
    func reads(_ text: String, _ compact: String) { #expect(JSONBody(parsing: text)?.text == compact) }

    @Test(
        "what is no JSON is nil",
        arguments: [
            "", " ", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1", "1e", "-", "0x10", "nan",
            "inf", "NULL", "\"", "\"\n\"",
            #""\x""#, #""\u12""#, "[1] 2", "true false", "\u{FEFF}1",
        ])
    func refuses(_ text: String) { #expect(JSONBody(parsing: text) == nil) }

    @Test("nesting has a limit, and a hundred thousand brackets are read no further")
    func depth() {
        #expect(JSONBody(parsing: String(repeating: "[", count: 127) + String(repeating: "]", count: 127)) != nil)
        #expect(JSONBody(parsing: String(repeating: "[", count: 129) + String(repeating: "]", count: 129)) == nil)
        #expect(JSONBody(parsing: String(repeating: "[", count: 100_000)) == nil)
        #expect(JSONBody(parsing: String(repeating: "{\"a\":", count: 100_000)) == nil)
    }

    @Test("a position that an earlier version has stored is read, and one that is damaged begins at its text")
    func positions() {
        let request = PageRequest(url: "http://h/items", body: .json(.object([])))
        let stored =
            #"{"after":"2026-01-01","json":"{\"page\":2}","last":"2026-02-01","pages":3,"records":300,"url":"http://h/items"}"#
        let position = PagePosition(text: stored, like: request)
        #expect(position.request.body?.text == #"{"page":2}"# && position.request.url == "http://h/items")
        #expect(
            position.pages == 3 && position.records == 300 && position.after == "2026-01-01"
                && position.last == "2026-02-01")
        #expect(position.text == stored)
        let form = #"{"form":[["q","a b"],["page","2"]],"url":"http://h/items"}"#
        #expect(PagePosition(text: form, like: request).text == form)
        for text in ["{", #"{"url":1}"#, #"{"pages":9223372036854775807,"url":"http://h/","last":"x"}"#] {
            let damaged = PagePosition(text: text, like: request)
            #expect(damaged.pages <= Int(Int32.max))
        }
    }
}
