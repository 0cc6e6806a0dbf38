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
            (#"{"columns":["id"],"rows":[[1],[2]]}"#, "/things", "`rows` has several elements"),
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
            (#"{"open":[{"id":1,"n":2}],"closed":[{"id":2,"n":3}]}"#, false),
        ])
    func named(body: String, isUncertain: Bool) throws {
        let gaps = try gaps(body, "/things")
        #expect(gaps.contains { $0.contains("by names that are data") } == isUncertain, "\(gaps)")
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
