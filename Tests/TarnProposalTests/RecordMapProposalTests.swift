// Proposals for answers whose records are the members of an object.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for maps of records")
struct RecordMapProposalTests {
    private func proposal(_ body: String) throws -> Proposal {
        let folder = try TemporaryFolder()
        return try Proposal([try Sampler.sample(file: try folder.write("things.json", body))])
    }

    @Test(
        "the key is a field that has the name, an id, or the name itself",
        arguments: [
            (
                #"{"batchcomplete":"","query":{"pages":{"7":{"pageid":7,"title":"a","n":1},"8":{"pageid":8,"title":"b","n":1},"9":{"pageid":9,"title":"c","n":1}}}}"#,
                ["records: 'query.pages.*'", "key: pageid ", "pageid: int"], ["@memberName"]
            ),
            (
                #"{"-NcF3kX9aQ1bZ7yT0w2e":{"name":"a","age":3},"-NcF3kX9aQ1bZ7yT0w2f":{"name":"b","age":3},"-NcF3kX9aQ1bZ7yT0w2g":{"name":"a","age":4}}"#,
                ["records: '*'", "key: id ", "id: { type: string, from: '@memberName' }"], ["UNCERTAIN"]
            ),
            (
                #"{"data":{"1":{"x":1,"y":2},"2":{"x":1,"y":2},"3":{"x":1,"y":3}}}"#,
                ["records: 'data.*'", "id: { type: int, from: '@memberName' }"], ["UNCERTAIN"]
            ),
            (
                #"{"last_serial":9,"releases":{"1.0":[{"filename":"a-1","size":1}],"1.1":[{"filename":"b-1","size":2},{"filename":"b-2","size":2}],"1.2":[],"1.3":[{"filename":"c-1","size":2},{"filename":"c-2","size":2}]}}"#,
                ["records: 'releases.*'", "memberName: { type: string, from: '@memberName' }", "key: filename"],
                [": json"]
            ),
        ])
    func keys(body: String, expected: [String], others: [String]) throws {
        let text = try proposal(body).text
        for part in expected { #expect(text.contains(part), "\(part): \(text)") }
        for part in others { #expect(!text.contains(part), "\(part): \(text)") }
    }

    @Test("a record that has a map keeps it as JSON, and the way to its records is told")
    func owner() throws {
        let body =
            #"{"name":"express","description":"web","versions":{"1.0.0":{"a":1,"b":2},"1.0.1":{"a":1,"b":2},"1.0.2":{"a":3,"b":2}}}"#
        let proposal = try proposal(body)
        #expect(proposal.text.contains("versions: json"), "\(proposal.text)")
        #expect(
            proposal.uncertain.count == 1
                && proposal.uncertain[0].contains("write `records: 'versions.*'`, and `from: '@memberName'` in the key"),
            "\(proposal.uncertain)")
    }

    @Test(
        "values beside the records of a map that tell about the answer are no records",
        arguments: [
            (#"{"updated":"2025-01-01","1a":{"x":1,"y":2},"1b":{"x":1,"y":2},"1c":{"x":1,"y":3}}"#, "'*'", "updated"),
            (
                #"{"data":{"timestamp":1700000000,"7":{"id":7,"n":1},"8":{"id":8,"n":1},"9":{"id":9,"n":2}}}"#,
                "'data.*'", "timestamp"
            ),
        ])
    func exceptions(body: String, path: String, name: String) async throws {
        let server = try ScriptedServer { _ in .init(body: body) }
        let proposal = try await propose(urls: [server.base + "/things"])
        #expect(
            proposal.text.contains("\(path): { entity: \(proposal.entities[0]), except: [\(name)] }"),
            "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count(proposal.entities[0]) == 3)
    }

    @Test("a link to a next page beside the records of a map is followed, down to a page with one record")
    func pagedMap() throws {
        func record(_ number: Int) -> String { #""\#(number)a":{"x":\#(number),"y":2}"# }
        let next = #""next":"https://api.example.com/things?page=2""#
        let first = try JSONValue("{\(next),\(record(1)),\(record(2)),\(record(3))}")
        let lists = ListFinder.lists(in: first)
        #expect(lists.map(\.path.description) == ["*"])
        func facts(_ body: String) throws -> PageFacts {
            let page = Sample.Page(url: "", body: Array(body.utf8), json: try JSONValue(body))
            return PageReader.facts(page, like: lists)
        }
        #expect(try facts(first.text).values == ["next": "https://api.example.com/things?page=2"])
        for body in [#"{"next":null,"total":4,\#(record(4))}"#, #"{"total":4,\#(record(4))}"#] {
            #expect(try facts(body).recordCount == 1)
            #expect(try facts(body).values == ["total": "4"])
        }
    }

    @Test("the books by their numbers are the records, and so are objects of one form that have a list each")
    func ownersOfLists() throws {
        let books = (0...3).map {
            #""ISBN:97\#($0)":{"title":"t\#($0)","pages":9,"authors":[{"name":"a","url":"https://x.example/a"}]}"#
        }
        let proposal = try proposal("{\(books.joined(separator: ","))}")
        #expect(proposal.text.contains("records: '*'\n"), "\(proposal.text)")
        #expect(proposal.records[proposal.entities[0]] == 4, "\(proposal.text)")
        let teams = try self.proposal(
            #"{"home":{"name":"a","coach":"x","players":[{"id":1,"n":1}]},"away":{"name":"b","coach":"y","players":[{"id":2,"n":1}]}}"#
        )
        #expect(teams.text.contains("coach"), "\(teams.text)")
        #expect(teams.uncertain.contains { $0.contains("write `records: '*'`") }, "\(teams.uncertain)")
    }

    @Test("an object with an id beside the list is named")
    func identifiedBeside() throws {
        let proposal = try proposal(
            #"{"list":[{"id":1,"n":1},{"id":2,"n":2}],"city":{"id":7,"name":"x","country":"DE"},"page":{"id":1,"size":2}}"#
        )
        #expect(
            proposal.uncertain.contains { $0.contains("`city` (1 object): not described") }, "\(proposal.uncertain)")
        #expect(!proposal.uncertain.contains { $0.contains("`page`") }, "\(proposal.uncertain)")
    }

    @Test("the way to records by words excepts the members that are none")
    func exceptedWords() throws {
        let proposal = try proposal(#"{"updated":"2025-01-01","ann":{"x":1,"y":2},"bob":{"x":1,"y":2}}"#)
        #expect(
            proposal.uncertain.contains { $0.contains("records: { '*': { entity: …, except: [updated] } }") },
            "\(proposal.uncertain)")
        let object = try self.proposal(
            #"{"name":"n","title":"t","1a":{"x":1,"y":2},"1b":{"x":1,"y":2},"1c":{"x":1,"y":2}}"#)
        #expect(!object.text.contains("except:"), "\(object.text)")
    }

    @Test("an object that has as much as a record beside the list is named")
    func beside() throws {
        let info = #"{"name":"x","author":"y","license":"z","summary":"s","home":"h"}"#
        let proposal = try proposal(#"{"info":\#(info),"urls":[{"id":1,"file":"a"}]}"#)
        #expect(
            proposal.uncertain.contains { $0.contains("`info` (1 object): not described") }, "\(proposal.uncertain)")
        let pages = #"{"count":1,"pages":1,"next":null,"total":1,"offset":0,"limit":9}"#
        let plain = try self.proposal(#"{"info":\#(pages),"urls":[{"id":1,"file":"a"}]}"#)
        #expect(plain.uncertain == [], "\(plain.uncertain)")
    }

    @Test(
        "a map in a record that a wrapper has, or of embedded resources, is no list",
        arguments: [
            (
                #"{"data":{"id":7,"name":"x","flags":{"2024-01":{"on":true,"n":1},"2024-02":{"on":true,"n":1},"2024-03":{"on":true,"n":1}}}}"#,
                "records: data\n"
            ),
            (
                #"{"data":{"type":"articles","id":"1","attributes":{"title":"x"},"relationships":{"author":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"blog":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"cover":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"editor":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"event":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"forum":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"group":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}},"house":{"links":{"self":"/x"},"data":{"type":"t","id":"1"}}}}}"#,
                "records: data\n"
            ),
            (
                #"{"_links":{"self":{"href":"/o"}},"currency":"EUR","_embedded":{"buyer":{"id":1,"name":"a"},"seller":{"id":2,"name":"b"},"carrier":{"id":3,"name":"c"}}}"#,
                "currency: string"
            ),
            (
                #"{"name":"n","title":"t","data":{"1a":{"x":1,"y":2},"1b":{"x":1,"y":2},"1c":{"x":1,"y":2}}}"#,
                "title: string"
            ),
        ])
    func owners(body: String, part: String) throws {
        let proposal = try proposal(body)
        #expect(!proposal.text.contains("from: '@memberName' }"), "\(proposal.text)")
        #expect(proposal.text.contains(part), "\(proposal.text)")
        // Names that are words are those of parts.
        let isData = ["2024-01", "1a"].contains { body.contains($0) }
        #expect(proposal.uncertain.count == (isData ? 1 : 0), "\(proposal.uncertain)")
        #expect(!proposal.uncertain.contains { $0.contains("kept as JSON") }, "\(proposal.uncertain)")
    }

    @Test("a specification's object with members of its own is a record, and a map is a part of it")
    func specifiedOwner() throws {
        let document = """
            {"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.test.example"}],
             "paths":{"/me":{"get":{"responses":{"200":{"description":"ok","content":{"application/json":{"schema":
              {"type":"object","properties":{"login":{"type":"string"},"name":{"type":"string"},"settings":
               {"type":"object","additionalProperties":{"type":"object","properties":{"on":{"type":"boolean"}}}}}}
             }}}}}},"/things":{"get":{"responses":{"200":{"description":"ok","content":{"application/json":{"schema":
              {"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}
             }}}}}}}}
            """
        let text = try Proposal([], specification: OpenAPIDocument(Array(document.utf8), name: "spec")).text
        #expect(text.contains("path: /things") && !text.contains("settings.*"), "\(text)")
    }

    @Test("a specification declares maps by additionalProperties: of objects, and of lists of objects")
    func specification() throws {
        func text(_ schema: String) throws -> String {
            let document = """
                {"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.test.example"}],
                 "paths":{"/players":{"get":{"responses":{"200":{"description":"ok","content":{"application/json":{"schema":\(schema)}}}}}}},
                 "components":{"schemas":{"Player":{"type":"object","properties":{"score":{"type":"integer"},"team":{"type":"string"}}}}}}
                """
            return try Proposal([], specification: OpenAPIDocument(Array(document.utf8), name: "spec")).text
        }
        let map = ##"{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Player"}}"##
        let lists =
            ##"{"type":"object","additionalProperties":{"type":"array","items":{"$ref":"#/components/schemas/Player"}}}"##
        for (schema, records) in [
            (map, "'*'"), (#"{"type":"object","properties":{"data":\#(map)}}"#, "'data.*'"), (lists, "'*'"),
        ] {
            let text = try text(schema)
            #expect(text.contains("records: \(records)\n") && text.contains("from: '@memberName' }"), "\(text)")
            #expect(text.contains("entity: Player\n"), "\(text)")
        }
    }

    @Test(
        "the name of a list in a map is no key of its records, of which it may have several",
        arguments: [
            (#""sku":{"type":"string"},"amount":{"type":"string"}"#, "key: [id, sku]", ""),
            (#""amount":{"type":"number"}"#, "key: position", ""),
            (#""id":{"type":"integer"},"amount":{"type":"string"}"#, "key: id", "unique only within one"),
        ])
    func namedLists(properties: String, key: String, doubt: String) async throws {
        let body = #"""
            {"eur":[{"id":1,"sku":"a","amount":1.5},{"id":2,"sku":"b","amount":2.5}],"usd":[{"id":3,"sku":"a","amount":3}]}
            """#
        let server = try ScriptedServer { _ in .init(body: body) }
        let schema = #"{"type":"object","additionalProperties":\#(TestSpecification.list("Price"))}"#
        let proposal = try await TestSpecification(
            paths: [("/prices", TestSpecification.get(schema))],
            schemas: ["Price": #"{"type":"object","properties":{\#(properties)}}"#], server: server.base
        ).proposal()
        #expect(proposal.text.contains(key + " ") || proposal.text.contains(key + "\n"), "\(proposal.text)")
        #expect(proposal.uncertain.count == (doubt.isEmpty ? 0 : 1), "\(proposal.uncertain)")
        #expect(proposal.uncertain.allSatisfy { $0.contains(doubt) })
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(mirror.report.failures.isEmpty)
        #expect(try mirror.count("Price") == 3, "\(proposal.text)")
    }

    @Test("a sample whose lists have one record each does not prove that their name is a key")
    func singleRecords() throws {
        let lists = (1...4).map { #""2025-01-0\#($0)":[{"file":"a\#($0)","size":\#($0),"slug":"s\#($0)"}]"# }
        let text = try proposal(#"{"days":{\#(lists.joined(separator: ","))}}"#).text
        #expect(text.contains("records: 'days.*'") && text.contains("key: [id, slug]"), "\(text)")
    }

    @Test("a list in one of the few records of a further page is no list of the answer")
    func fewRecords() async throws {
        @Sendable func page(_ range: Range<Int>) -> String {
            "{"
                + range.map { #""2025-01-\#(10 + $0)":{"low":\#($0),"items":[{"id":\#($0),"name":"x"}]}"# }
                .joined(separator: ",") + "}"
        }
        let server = try ScriptedServer { request in
            switch request.target {
            case "/days": .init(fields: ["Link: </days?page=2>; rel=\"next\""], body: #"{"days":\#(page(0..<5))}"#)
            case "/days?page=2": .init(body: #"{"days":\#(page(5..<6))}"#)
            default: .init(status: "404 Not Found")
            }
        }
        let options = SampleRequest.options(pages: 3, headers: [], token: nil)
        let sample = try await Sampler(CurlTransport(), options: options).sample(server.base + "/days")
        let proposal = try Proposal([sample])
        #expect(proposal.text.contains("looked at 2 pages with 6 records"), "\(proposal.text)")
        #expect(!proposal.text.contains("2025-01-15"), "\(proposal.text)")
    }

    @Test("the values of a map's records tell nothing about pages")
    func facts() throws {
        let json = try JSONValue(
            #"{"total":3,"data":{"1a":{"page":1,"n":2},"1b":{"page":2,"n":2},"1c":{"page":3,"n":3}}}"#)
        let values = PageReader.facts(Sample.Page(url: "", body: [], json: json), ListFinder.lists(in: json)).values
        #expect(values["total"] == "3" && values.keys.allSatisfy { !$0.hasPrefix("data") }, "\(values)")
    }

    @Test("further pages of a map continue it, and an empty one ends it")
    func pages() async throws {
        @Sendable func page(_ range: Range<Int>) -> String {
            "{" + range.map { #""2025-01-\#(10 + $0)":{"low":\#($0),"high":9}"# }.joined(separator: ",") + "}"
        }
        let server = try ScriptedServer { request in
            switch request.target {
            case "/days": .init(fields: ["Link: </days?page=2>; rel=\"next\""], body: #"{"days":\#(page(0..<5))}"#)
            case "/days?page=2": .init(body: #"{"days":\#(page(5..<6))}"#)
            default: .init(status: "404 Not Found")
            }
        }
        let options = SampleRequest.options(pages: 3, headers: [], token: nil)
        let sample = try await Sampler(CurlTransport(), options: options).sample(server.base + "/days")
        #expect(sample.pages.count == 2 && sample.isComplete)
        let proposal = try Proposal([sample])
        #expect(proposal.text.contains("records: 'days.*'") && proposal.text.contains("paginate: header_link"))
        #expect(proposal.text.contains("looked at 2 pages with 6 records"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.text)")
    }
}
