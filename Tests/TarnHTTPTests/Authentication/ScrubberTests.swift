// Secrets that servers repeat, in every form, and what stays as it was.

import Foundation
import TestSupport
import Testing

@testable import TarnHTTP

@Suite("Scrubber")
struct ScrubberTests {
    private static let secret = "abc/def+ghi=j é"

    private func body(_ status: Int, _ text: String, parameter: String? = nil) -> String {
        let scrubber = Scrubber([Self.secret], parameter: parameter)
        let response = scrubber.response(TransportResponse(status: status, body: Array(text.utf8)))
        return String(decoding: response.body, as: UTF8.self)
    }

    @Test(
        "a secret is found in plain text, in JSON, in a URL and in HTML",
        arguments: [
            "abc/def+ghi=j é", #"abc\/def+ghi=j \u00e9"#, #"abc\u002fdef\u002Bghi\u003dj\u0020é"#,
            "abc%2Fdef%2Bghi%3Dj%20%C3%A9", "abc%2fdef%2bghi%3dj+%c3%a9", "abc&#47;def&#43;ghi&#x3d;j &#xE9;",
            "abc&sol;def&plus;ghi&equals;j é",
            "abc%252Fdef%252Bghi%253Dj%2520%25C3%25A9", "abc%252fdef%252bghi%253dj%2B%25c3%25a9",
        ])
    func forms(_ form: String) {
        #expect(body(400, "<\(form)>") == "<***>")
        #expect(body(300, "see \(form) and \(form)") == "see *** and ***")
        #expect(body(400, "abc\(form)") == "abc***")
    }

    @Test("bytes that are not UTF-8 hide no secret, in a character that was cut off or in ISO-8859-1")
    func notUTF8() {
        let scrubber = Scrubber([Self.secret], parameter: nil)
        for rest in [Array("abc/def+ghi=j é".utf8) + [0xC3], Array("abc/def+ghi=j ".utf8) + [0xE9, 0x21]] {
            let body = scrubber.response(TransportResponse(status: 403, body: [0xE9] + rest)).body
            #expect(body.starts(with: [0xE9] + Array("***".utf8)), "\(body)")
        }
    }

    @Test("the JSON of a success stays, since it becomes records; other text is no record")
    func success() {
        for json in [#"[{"id":"abc/def+ghi=j é"}]"#, #"{"url":"/x?k=1&t=abc%2Fdef%2Bghi%3Dj%20%C3%A9"}"#] {
            #expect(body(200, json) == json)
        }
        // Also a success may have a message.
        let scrubber = Scrubber([Self.secret], parameter: nil)
        let message = scrubber.response(
            TransportResponse(status: 200, body: Array(#"{"error":"bad abc\/def+ghi=j é"}"#.utf8)))
        #expect(message.shownBody == Array(#"{"error":"bad ***"}"#.utf8))
        #expect(body(200, "invalid token abc/def+ghi=j é") == "invalid token ***")
        #expect(body(200, #"{"error":"abc\/def+ghi=j é""#) == #"{"error":"***""#)
        #expect(body(200, "abc/def+ghi=j") == "abc/def+ghi=j")
    }

    @Test(
        "the parameter with the secret is removed from URLs, in whatever text they are",
        arguments: [
            (#"{"next":"/x?page=2&k=SECRET"}"#, #"{"next":"/x?page=2"}"#),
            (#"{"next":"/x?k=SECRET&page=2"}"#, #"{"next":"/x?page=2"}"#),
            (#"{"next":"\/x?page=2\u0026k=SECRET","b":1}"#, #"{"next":"\/x?page=2","b":1}"#),
            (#"{"next":"/x?k=SECRET\u0026page=2"}"#, #"{"next":"/x?page=2"}"#),
            (#"{"a":"/x?k=SECRET","b":"/y?k=SECRET#z"}"#, #"{"a":"/x","b":"/y#z"}"#),
            (#"["<a href='/x?a=1&amp;k=SECRET&amp;b=2'>"]"#, #"["<a href='/x?a=1&amp;b=2'>"]"#),
            (#"["/x?a=1&#038;k=SECRET&#038;b=2", "/x?a=1&#x26;k=SECRET"]"#, #"["/x?a=1&#038;b=2", "/x?a=1"]"#),
            (
                #"["/x?a=1\u0026amp;k=SECRET", "<a href=&quot;/x?k=SECRET&quot;>"]"#,
                #"["/x?a=1", "<a href=&quot;/x&quot;>"]"#
            ),
            (#"["see /x?a=1&k=SECRET. And /x?a=1&k=SECRET."]"#, #"["see /x?a=1. And /x?a=1."]"#),
            // JSON in a text of JSON.
            (#"{"a":"{\"next\":\"/x?page=2\\u0026k=SECRET\"}"}"#, #"{"a":"{\"next\":\"/x?page=2\"}"}"#),
            // Another parameter, and another value.
            (#"["/x?k=SECRET.s"]"#, #"["/x?k=SECRET.s"]"#),
            (#"["/x?ok=SECRET", "/x?k=SECRETs"]"#, #"["/x?ok=SECRET", "/x?k=SECRETs"]"#),
        ])
    func parameter(_ text: String, _ expected: String) {
        for form in ["abc%2Fdef%2Bghi%3Dj%20%C3%A9", "abc%2fdef+ghi%3dj+é"] {
            #expect(
                body(200, text.replacing("SECRET", with: form), parameter: "k")
                    == expected.replacing("SECRET", with: form))
        }
    }

    @Test("a parameter that is there twice in a row is removed twice", arguments: ["&", "&amp;", #"\u0026"#, "%26"])
    func repeated(separator: String) {
        let scrubber = Scrubber(["s3cretKEYvalue9"], parameter: "key")
        for bits in 0..<32 {
            // Every row of up to five parameters, each of them the secret one or another one.
            let isSecret = (0..<5).map { bits >> $0 & 1 == 1 }
            for count in 1...5 {
                let all = isSecret.prefix(count).enumerated().map { $1 ? "key=s3cretKEYvalue9" : "p\($0)=1" }
                let kept = all.filter { !$0.hasPrefix("key") }
                let query = kept.isEmpty ? "" : "?" + kept.joined(separator: separator)
                #expect(scrubber.links("</x?\(all.joined(separator: separator))>") == "</x\(query)>")
            }
        }
        // A secret that ends like a separator.
        #expect(Scrubber(["ab&"], parameter: "k").links("/x?k=ab&k=ab&k=ab&").hasPrefix("/x?"))
    }

    @Test("numeric references of HTML hide no secret, whatever their zeros, nor do doubled backslashes of JSON")
    func references() {
        let scrubber = Scrubber(["p&ss<w>rd+x"], parameter: nil)
        for form in ["p&#038;ss&#x3C;w&#x03e;rd+x", #"p\u0026ss\\u003cw\\u003erd+x"#, #"p\u0026#38;ss&#X3c;w&gt;rd+x"#]
        {
            #expect(scrubber.text("no: \(form)!") == "no: ***!")
        }
    }

    @Test("a secret without letters of ASCII takes no longer than others to be found in a long text")
    func noAnchor() {
        let text = String(repeating: #"{"id":1234,"a":"text 1234","b":[8638,1]}, "#, count: 50_000)
        for secret in ["пароль", "!?$%&/()="] {
            let scrubber = Scrubber([secret], parameter: nil)
            var found = ""
            let time = ContinuousClock().measure { found = scrubber.text(text + secret) }
            #expect(found == text + "***")
            // It was more than three seconds for each megabyte.
            #expect(time < .seconds(3))
        }
    }

    @Test("a secret of characters that are all escaped is found, and one in a long text")
    func unusual() {
        let scrubber = Scrubber(["+/=&", "0123456789abcdef"], parameter: nil)
        #expect(scrubber.text(#"a %2B%2f=&amp; b \u002b\/=& c"#) == "a *** b *** c")
        let long = String(repeating: "0123456789abcde", count: 10_000)
        #expect(scrubber.text(long) == long)
        #expect(scrubber.text(long + "f" + long).utf8.count == 2 * long.utf8.count - 15 + 3)
        #expect(scrubber.recorded(Array("[0123456789abcdef]".utf8)) == Array("[***]".utf8))
    }

    @Test("a recording over a transport with credentials has none of them, also where a record repeats one")
    func recorded() async throws {
        let folder = try LocalServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let inner = ScriptedTransport([
            .status(200, [:], #"{"me":"abc\/def+ghi","next":"/x?page=2&k=abc%2Fdef%2Bghi"}"#)
        ])
        let authorized = AuthorizedTransport(
            inner, .apiKey(.value(Secret("abc/def+ghi")), .query("k")), origins: ["http://h"])
        let recorder = try RecordingTransport(authorized, directory: folder, hiding: ["k"])
        let response = try await recorder.send(TransportRequest(url: "http://h/x"))
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"me":"abc\/def+ghi","next":"/x?page=2"}"#)
        let replayed = try await FixtureTransport(directory: folder).send(TransportRequest(url: "http://h/x"))
        #expect(String(decoding: replayed.body, as: UTF8.self) == #"{"me":"***","next":"/x?page=2"}"#)
    }

    @Test("a message about JSON that repeats a secret has none of it, also where the message is cut")
    func messages() throws {
        let secret = "0123456789abcdef/" + String(repeating: "xyz", count: 40)
        let scrubber = Scrubber([secret], parameter: nil)
        func secrets(_ json: String) -> KnownSecrets? {
            scrubber.response(TransportResponse(status: 200, body: Array(json.utf8))).secrets
        }
        #expect(secrets(#"[{"id":1}]"#) == nil)
        let known = try #require(secrets("[\"\(secret)\"]"))
        #expect(known.conceal("the text \"\(secret.prefix(40))…\"; kept") == "the text \"***…\"; kept")
        #expect(known.conceal("$[0].\(secret): \"x\(secret)\" and …") == "$[0].***: \"x***\" and …")
        #expect(known.conceal("the text \"01234567\"; kept") == "the text \"01234567\"; kept")
    }
}
