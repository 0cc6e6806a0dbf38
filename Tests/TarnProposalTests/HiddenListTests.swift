// Lists that a proposal may not reach: answers that look like single objects, and names that are data.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Hidden lists of a proposal")
struct HiddenListTests {
    private func gaps(_ body: String, _ path: String) throws -> [String] {
        let json = try JSONValue(body)
        return Sampler.gaps(json, ListFinder.lists(in: json), url: "https://api.test.example" + path)
    }

    @Test(
        "an answer that looks like a single object, and may be a list, is uncertain",
        arguments: [
            (#"{"id":"req-1","object":"list","data":[{"id":1},{"id":2}]}"#, "/things", "`data` has several"),
            (#"{"uuid":"a-1","things":[{"id":1}]}"#, "/things", "`things` has the name of the path"),
            (
                #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"things":[{"id":1}]}"#, "/v1/things.json",
                "`things` has the name"
            ),
            (#"{"a":{"b":{"c":{"d":{"e":[{"id":1},{"id":2}]}}}}}"#, "/things", "`a.b.c.d.e` has several objects"),
            (#"{"size":7,"rows":[[1],[2]]}"#, "/things", "`rows` has several elements"),
            (#"{"things":["a","b"]}"#, "/things", "`things` has the name of the path"),
            (#"{"things":{"id":1,"name":"x"}}"#, "/things", "is an object today"),
        ])
    func hidden(body: String, path: String, expected: String) throws {
        let gaps = try gaps(body, path)
        #expect(gaps.count == 1 && gaps[0].contains(expected), "\(gaps)")
    }

    @Test(
        "a record with lists is a single object",
        arguments: [
            (#"{"id":7,"total":3,"items":[{"id":1},{"id":2}]}"#, "/orders/7"),
            (#"{"id":7,"customer":"x","items":[{"id":1},{"id":2}]}"#, "/orders/latest"),
            (#"{"id":1,"login":"ada","tags":["a","b"]}"#, "/me"), (#"{"settings":{"dark":true}}"#, "/settings"),
            (#"{"data":{"id":1,"name":"x"}}"#, "/things"),
        ])
    func single(body: String, path: String) throws { #expect(try gaps(body, path) == []) }

    @Test(
        "lists of one kind under names that are data are uncertain, others are not",
        arguments: [
            (#"{"days":{"2025-01-01":[{"id":1,"n":2}],"2025-01-02":[{"id":2,"n":3}]}}"#, true),
            (#"{"acme":[{"id":1,"n":2}],"blue":[{"id":2,"n":3}],"corp":[{"id":3,"n":3}]}"#, true),
            (#"{"users":[{"id":1,"login":"a"}],"posts":[{"id":1,"title":"t"}],"tags":[{"id":2,"text":"t"}]}"#, false),
            (#"{"open":[{"id":1,"n":2}],"closed":[{"id":2,"n":3}]}"#, true),
            (#"{"users":[{"id":1,"name":"a"}],"teams":[{"id":1,"name":"b"}]}"#, false),
        ])
    func named(body: String, isUncertain: Bool) throws {
        let gaps = try gaps(body, "/things")
        #expect(gaps.contains { $0.contains("by names that may be data") } == isUncertain, "\(gaps)")
    }

    @Test("two lists of one answer with the same records are uncertain: one entity does not tell them apart")
    func sharedEntity() throws {
        let items = #"[{"id":1,"name":"a","note":"x"},{"id":2,"name":"b","note":"y"},{"id":3,"name":"c","note":"z"}]"#
        let proposal = try propose(#"{"open":\#(items),"closed":\#(items)}"#)
        #expect(proposal.uncertain.contains { $0.contains("list records of one entity") }, "\(proposal.text)")
        let other = try propose(#"{"users":[{"id":1,"login":"a"}],"posts":[{"id":2,"title":"b"}]}"#)
        #expect(other.uncertain == [], "\(other.text)")
    }

    @Test(
        "records as columns are described as such, lists of a record are not",
        arguments: [
            (#"{"id":[1,2,3],"name":["a","b","c"]}"#, true),
            (#"{"status":"ok","data":{"id":[1,2],"name":["a",null]}}"#, true),
            (#"{"status":"ok","t":[1,2,3],"o":[4,5,6],"c":[7,8,9]}"#, true),
            (#"{"place":"x","t":[1,2,3],"o":[4,5,6],"c":[7,8,9]}"#, true),
            (#"{"latitude":52.5,"hourly":{"time":["2025-01-01T00:00","2025-01-01T01:00"],"rain":[0,0.1]}}"#, true),
            (
                #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"hourly":{"time":["2025-01-01","2025-01-02"],"rain":[0,0.1]}}"#,
                true
            ),
            (#"{"id":7,"tags":["a","b"],"sizes":[1,2]}"#, false),
            (#"{"name":"x","price":3,"tags":["a","b"],"sizes":[1,2]}"#, false),
            (#"{"languages":["en","de","fr"],"currencies":["EUR","USD"]}"#, false),
            (#"{"name":"x","":{"id":[1,2,3],"name":["a","b","c"]}}"#, false),
        ])
    func columns(body: String, isColumns: Bool) throws {
        let proposal = try propose(body)
        let isDoubtful = proposal.uncertain.contains { $0.contains("if it is one record with lists") }
        #expect(isDoubtful == body.contains("\"place\""), "\(proposal.uncertain)")
        #expect(proposal.text.contains("columns: '@memberName'") == isColumns, "\(proposal.text)")
        #expect(proposal.text.contains("remove `columns`") == isColumns, "\(proposal.text)")
    }

    @Test(
        "columns of texts alone are uncertain, unless one has the name of an id or a time",
        arguments: [
            (#"{"topics":["a","b"],"languages":["go","c"],"page":1}"#, true),
            (#"{"allowed":["a","b"],"denied":["c","d"]}"#, true),
            (#"{"id":["a","b"],"name":["c","d"]}"#, false), (#"{"name":["a","b"],"n":[1,2]}"#, false),
        ])
    func texts(body: String, isUncertain: Bool) throws {
        let uncertain = try propose(body).uncertain
        #expect(uncertain.contains { $0.contains("remove `columns`") } == isUncertain, "\(uncertain)")
    }

    @Test(
        "objects of one form by words are uncertain, other members of a single object are not",
        arguments: [
            (#"{"ann":{"mail":"a","note":"x"},"bob":{"mail":"b","note":"y"}}"#, true),
            (#"{"user":{"name":"x","login":"y"},"settings":{"theme":"dark","size":3}}"#, false),
            (#"{"title":"x","billing":{"city":"a","zip":"b"},"shipping":{"city":"c","zip":"d"}}"#, false),
        ])
    func objectsByWords(body: String, isUncertain: Bool) throws {
        #expect(try gaps(body, "/things").contains { $0.contains("objects of one form") } == isUncertain)
    }

    @Test(
        "an object with a link to a next page, or with a part of a list of ids, is uncertain",
        arguments: [
            (
                #"{"id":"x","link":[{"relation":"next","url":"/things?p=2"}],"entry":[{"fullUrl":"a"},{"fullUrl":"b"}]}"#,
                "`link` has a link to a next page"
            ),
            (#"{"result":{"count":"55","ids":["1","2","3"]}}"#, "`result.ids` has 3 values of 55"),
            (#"{"result":{"count":"3","ids":["1","2","3"]}}"#, nil),
            (#"{"id":"x","link":[{"relation":"self","url":"/things/x"}],"name":"a"}"#, nil),
        ] as [(String, String?)])
    func partOfList(body: String, expected: String?) throws {
        let gaps = try gaps(body, "/things")
        #expect(gaps.count == (expected == nil ? 0 : 1), "\(gaps)")
        if let expected { #expect(gaps.first?.contains(expected) == true, "\(gaps)") }
    }

    @Test(
        "a list inside of a record that is shorter than its count is uncertain",
        arguments: [
            (#""comments":{"total":13,"comments":[{"id":1},{"id":2}]}"#, "`comments.comments`"),
            (#""refunds":{"data":[{"id":1}],"has_more":true}"#, "`refunds.data`"),
            (#""labels":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true}}"#, "`labels.nodes`"),
            (#""comments_count":13,"comments":[{"id":1},{"id":2}]"#, "`comments`"),
            (#""comments":{"total":2,"comments":[{"id":1},{"id":2}]}"#, nil),
            (#""refunds":{"data":[{"id":1}],"has_more":false}"#, nil),
            (#""comments_count":2,"votes_count":13,"comments":[{"id":1},{"id":2}]"#, nil),
        ] as [(String, String?)])
    func partInRecord(members: String, expected: String?) throws {
        let gaps = try gaps(#"{"items":[{"id":7,\#(members)}]}"#, "/things")
        #expect(gaps.count == (expected == nil ? 0 : 1), "\(gaps)")
        if let expected { #expect(gaps.first?.hasPrefix(expected + " inside of a record") == true, "\(gaps)") }
    }

    @Test("an empty list that the path names, beside another one, is uncertain")
    func emptyMain() throws {
        let body = #"{"things":[],"users":[{"id":1,"login":"a"}]}"#
        #expect(try gaps(body, "/things").contains { $0.contains("`things` is empty") })
        #expect(try gaps(body, "/users") == [])
    }

    @Test("a list with null or a text in place of a record is a list", arguments: ["null", #""deleted""#])
    func placeholders(element: String) throws {
        let proposal = try propose(#"{"items":[{"id":1},\#(element),{"id":3}]}"#)
        #expect(proposal.text.contains("records: items") && proposal.records == ["Thing": 2], "\(proposal.text)")
        #expect(!proposal.findings.isEmpty, "\(proposal.text)")
    }
}
