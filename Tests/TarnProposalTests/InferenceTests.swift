// Inference from small responses.

import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Inference of a proposal")
struct InferenceTests {
    /// The lines of a proposal that contain a text, without comments of their own.
    private func line(_ proposal: Proposal, _ start: String) -> String {
        proposal.text.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix(start) }
            .map { String($0.drop { $0 == " " }) } ?? ""
    }

    @Test("types by values: numbers, dates in four formats, uuid, url, lists, mixtures")
    func types() throws {
        let proposal = try propose(
            """
            [{"id":1,"n":1,"f":1.5,"big":18446744073709551615,"money_amount":0.1,"b":true,"at":"2025-01-31T09:00:00Z",
              "day":"2025-01-31","iso":"2025-01-31 09:00:00","http":"Fri, 31 Jan 2025 09:00:00 GMT","seen_at":1738314000,
              "seen_ms_at":1738314000000,"u":"384f7435-e6bf-4ad1-a572-f64273e325f4","link":"https://a.example/x",
              "tags":["a"],"mixed":1,"any":1,"nothing":null,"closed_at":null,"empty":[],"digits":1.2345678901234567890123},
             {"id":2,"n":2,"f":2,"big":1,"money_amount":2,"b":false,"at":"2025-02-01T09:00:00.5+01:00","day":"2025-02-01",
              "iso":"2025-02-01 10:00:00","http":"Sat, 01 Feb 2025 09:00:00 GMT","seen_at":1738400000,
              "seen_ms_at":1738400000000,"u":"6f6c738e-99f1-42f9-8c00-9c6f17194614","link":"https://a.example/y",
              "tags":[],"mixed":"x","any":true,"nothing":null,"closed_at":null,"empty":[],"digits":1}]
            """)
        #expect(proposal.findings == [])
        let expected = [
            "n: int", "f: double", "big: uint", "moneyAmount: decimal", "b: bool", "day: { type: date, format: day",
            "iso: { type: date, format: iso8601", "http: { type: date, format: http",
            "seenAt: { type: date, epoch: seconds",
            "seenMsAt: { type: date, epoch: milliseconds", "u: uuid", "link: url", "tags: [string]", "mixed: string",
            "any: json", "nothing: json?", "closedAt: date?", "empty: json", "digits: decimal",
        ]
        for text in expected { #expect(line(proposal, text) != "", "\(text) in\n\(proposal.text)") }
        #expect(proposal.text.contains("# without a time zone: taken for UTC"), "\(proposal.text)")
    }

    @Test(
        "keys: id, another unique field, several together, the position",
        arguments: [
            (#"[{"name":"a","id":7},{"name":"a","id":8}]"#, "key: id"),
            (#"[{"uuid":"384f7435-e6bf-4ad1-a572-f64273e325f4","v":1}]"#, "key: uuid"),
            (#"[{"title":"x","code":"NO"},{"title":"x","code":"SE"}]"#, "key: code"),
            (
                #"[{"order_id":1,"line":1,"t":true},{"order_id":1,"line":2,"t":true},{"order_id":2,"line":1,"t":true}]"#,
                "key: [orderId, line]"
            ),
            (#"[{"v":1.5},{"v":2.5}]"#, "key: position"),
            (#"[{"thing_id":4,"v":1},{"thing_id":5,"v":1}]"#, "key: thingId"),
            (#"[{"id":18446744073709551616,"name":"a"},{"id":18446744073709551617,"name":"b"}]"#, "key: id"),
            (#"[{"_id":{"$oid":"0a"},"name":"a"},{"_id":{"$oid":"0b"},"name":"b"}]"#, "key: id"),
        ])
    func keys(body: String, key: String) throws {
        let proposal = try propose(body)
        #expect(proposal.text.contains("    \(key)"), "\(proposal.text)")
        #expect(proposal.findings == [])
        #expect(proposal.records.values.reduce(0, +) == (try JSONValue(body)).elements.count)
    }

    @Test("identifiers beyond 64 bits, and ObjectIds of MongoDB, are keys as text")
    func textKeys() throws {
        let large = try propose(#"[{"id":18446744073709551616,"name":"a"},{"id":18446744073709551617,"name":"a"}]"#)
        #expect(line(large, "id: ").hasPrefix("id: { type: string, from: '{id}' }"), "\(large.text)")
        #expect(large.records == ["Thing": 2] && large.findings == [])
        let object = try propose(
            #"[{"_id":{"$oid":"65a1f"},"name":"a","owner":{"$oid":"7"}},{"_id":{"$oid":"65a2f"},"name":"a","owner":null}]"#
        )
        #expect(line(object, "id: ").hasPrefix("id: { type: string, from: _id.$oid }"), "\(object.text)")
        #expect(
            object.records == ["Thing": 2] && object.findings == [] && object.entities == ["Thing"], "\(object.text)")
    }

    @Test(
        "the records: root, wrapper, nested wrapper, edges, single object, several lists",
        arguments: [
            (#"{"data":[{"id":1}],"total":1}"#, "records: data"),
            (#"{"response":{"items":[{"id":1}]},"ok":true}"#, "records: response.items"),
            (#"{"data":{"issues":{"edges":[{"cursor":"x","node":{"id":1}}]}}}"#, "records: 'data.issues.edges.*.node'"),
            (#"{"id":1,"tags":[{"id":2}]}"#, "entity: Thing"),
            (#"{"data":{"id":1,"name":"x"}}"#, "records: data"),
            (#"{"users":[{"id":1,"login":"a"}],"posts":[{"id":1,"title":"t"}]}"#, "      users: User"),
        ])
    func records(body: String, expected: String) throws {
        let proposal = try propose(body)
        #expect(proposal.text.contains(expected), "\(proposal.text)")
        #expect(proposal.findings == [])
    }

    @Test("nested objects with a key become entities, others are flattened, maps are kept as JSON")
    func nesting() throws {
        let proposal = try propose(
            """
            [{"id":1,"author":{"id":5,"login":"ada"},"size":{"w":1,"h":2},"labels":[{"id":9,"name":"bug"}],
              "by_day":{"2025-01-01":1,"2025-01-02":2,"2025-01-03":3}},
             {"id":2,"author":{"id":6,"login":"bob"},"size":{"w":3,"h":4},"labels":[],"by_day":{"2025-01-04":1}}]
            """)
        #expect(proposal.entities == ["Thing", "User", "Label"])
        #expect(proposal.text.contains("author: { to: User, inverse: things }"))
        #expect(proposal.text.contains("labels: { to: [Label], ordered: true, inverse: things }"))
        #expect(proposal.text.contains("w: { type: int, from: size.w }"))
        #expect(proposal.text.contains("byDay: json"))
        #expect(proposal.records == ["Thing": 2, "User": 2, "Label": 1])
    }

    @Test("objects with equal ids and different content are different entities, equal ones are one")
    func evidence() throws {
        func body(_ other: String) -> String {
            #"[{"id":1,"left":{"id":5,"name":"a","rank":1,"size":3},"right":{"id":5,"name":"\#(other)","rank":\#(other == "a" ? 1 : 2),"size":\#(other == "a" ? 3 : 4)}}]"#
        }
        let different = try propose(body("b"))
        #expect(different.entities == ["Thing", "Left", "Right"], "\(different.text)")
        #expect(different.records == ["Thing": 1, "Left": 1, "Right": 1])
        let equal = try propose(body("a"))
        #expect(equal.entities.count == 2 && equal.records.values.reduce(0, +) == 2, "\(equal.text)")
    }

    @Test("an enum needs values that occur often: one that occurs once would hide others")
    func enums() throws {
        func body(_ states: [String]) -> String {
            "[" + states.enumerated().map { #"{"id":\#($0.offset),"state":"\#($0.element)"}"# }.joined(separator: ",")
                + "]"
        }
        let often = try propose(body((0..<60).map { $0 % 3 == 0 ? "open" : "closed" }))
        #expect(often.text.contains("state: { type: enum, values: [closed, open]"))
        let once = try propose(body((0..<60).map { $0 == 0 ? "open" : "closed" }))
        #expect(once.text.contains("state: { type: string"), "\(once.text)")
        #expect(once.text.contains("# or state: { type: enum, values: [closed, open] }"))
    }

    @Test("credentials of the command line are not written")
    func credentials() throws {
        let body = #"[{"id":1}]"#, json = try JSONValue(body)
        let url = "https://api.test.example/things?api_key=S3CRET&per_page=5"
        let sample = Sample(origin: url, isURL: true, pages: [.init(url: url, body: Array(body.utf8), json: json)])
        var options = ProposalOptions()
        options.headers = [("X-Api-Key", "S3CRET"), ("X-Version", "3")]
        for headers in [[], options.headers] {
            options.headers = headers
            let text = try Proposal([sample], options: options).text
            #expect(!text.contains("S3CRET"), "\(text)")
            #expect(text.contains("auth: { api_key: { key: { env: "))
        }
    }

    @Test(
        "credentials are recognized by many names, and no others are taken for them",
        arguments: [
            "key", "private_token", "client_secret", "jwt", "session", "sessionid", "sig", "subscription-key",
            "api-key", "_token", "AccessKey", "pwd", "credential", "X-Api-Key", "appid", "hapikey", "pat", "bearer",
            "userkey", "code", "private_key", "login_token", "sid",
        ])
    func parameters(name: String) throws {
        let body = #"[{"id":1}]"#, json = try JSONValue(body), secret = "s3cr3tVALUE99s3cr3tVALUE99"
        let url = "https://api.test.example/things?\(name)=\(secret)&page_token=CAE&state=open&token_type=x"
        let sample = Sample(origin: url, isURL: true, pages: [.init(url: url, body: Array(body.utf8), json: json)])
        let text = try Proposal([sample]).text
        #expect(!text.contains(secret), "\(text)")
        #expect(text.contains("auth: { api_key: { key: { env: API_KEY }, query: "), "\(text)")
        #expect(text.contains("with: { page_token: CAE, state: open, token_type: x }"), "\(text)")
    }

    @Test(
        "header fields with credentials are recognized by many names",
        arguments: [
            "Ocp-Apim-Subscription-Key", "X-Shopify-Access-Token", "X-Amz-Security-Token", "DD-APPLICATION-KEY",
            "X-Goog-Api-Client-Key", "X-Auth", "X-Access", "X-Session", "X-User-Password", "Cookie", "apikey",
            "X-Passphrase", "CB-ACCESS-PASSPHRASE", "X-Access-Code", "X-Pin", "Ticket",
        ])
    func fields(name: String) throws {
        let body = #"[{"id":1}]"#, json = try JSONValue(body), url = "https://api.test.example/things"
        let sample = Sample(origin: url, isURL: true, pages: [.init(url: url, body: Array(body.utf8), json: json)])
        var options = ProposalOptions()
        options.headers = [("X-Version", "3"), (name, "S3CRET"), ("DD-API-KEY", "S3CRET")]
        let text = try Proposal([sample], options: options).text
        #expect(!text.contains("S3CRET") && text.contains("X-Version: 3"), "\(text)")
        #expect(text.contains("header: \(name) } }") && text.contains("`DD-API-KEY`: not written"), "\(text)")
    }

    @Test("header fields of one name are one line, and those that a description cannot have are named")
    func headerFields() throws {
        let body = #"[{"id":1}]"#, json = try JSONValue(body), url = "https://api.test.example/things"
        let sample = Sample(origin: url, isURL: true, pages: [.init(url: url, body: Array(body.utf8), json: json)])
        var options = ProposalOptions()
        options.headers = [("Accept", "a/b"), ("Host", "x"), ("accept", "c/d"), ("X-Tenant", "${NAME}")]
        let text = try Proposal([sample], options: options).text
        #expect(text.contains("    Accept: 'a/b, c/d'\n") && !text.contains("accept:"), "\(text)")
        #expect(text.contains("# `Host`, `X-Tenant`: not written, and not sent by a sync"), "\(text)")
    }

    @Test("the answers of a person replace the guesses")
    func answers() throws {
        let body = #"[{"code":"a","nick":"x"},{"code":"b","nick":"y"}]"#
        let url = "https://api.test.example/things"
        let sample = Sample(
            origin: url, isURL: true, pages: [.init(url: url, body: Array(body.utf8), json: try JSONValue(body))])
        let first = try Proposal([sample])
        #expect(first.questions.map(\.proposed) == ["Thing", "code"])
        var options = ProposalOptions()
        options.entityNames = ["Thing": "Country"]
        options.keys = ["Thing": ["nick"]]
        let second = try Proposal([sample], options: options)
        #expect(second.entities == ["Country"])
        #expect(second.text.contains("key: nick"))
    }
}
