// Proposals for answers whose records have a table each.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for tables inside of records")
struct NestedTableProposalTests {
    private func proposal(_ body: String) throws -> Proposal {
        let folder = try TemporaryFolder()
        return try Proposal([try Sampler.sample(file: try folder.write("things.json", body))])
    }

    private static let influx =
        #"{"results":[{"statement_id":0,"series":[{"name":"cpu","tags":{"host":"a"},"columns":["time","usage"],"values":[["2025-01-01T00:00:00Z",1.5],["2025-01-01T00:01:00Z",null]]},{"name":"cpu","tags":{"host":"b"},"columns":["time","usage"],"values":[["2025-01-01T00:00:00Z",2.5]]}]}]}"#
    private static let prometheus =
        #"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a"},"values":[[1435781430.781,"1"],[1435781445.781,"0"]]},{"metric":{"__name__":"up"},"values":[[1435781430.781,"1"]]}]}}"#
    private static let loki =
        #"{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"x"},"values":[["1700000000000000000","one"],["1700000000000000000","two"]]},{"stream":{"app":"y"},"values":[["1700000000000000000","one"]]}]}}"#
    private static let graphite =
        #"[{"target":"a.b","datapoints":[[null,1700000000],[2.5,1700000060]]},{"target":"a.c","datapoints":[[1,1700000000]]}]"#

    @Test(
        "the rows are records by the record around them and their time, the records by their labels",
        arguments: [
            (
                influx, "Series", 2, 3,
                [
                    "'results.*.series': { entity: Series, optional: true }",
                    "columns: { 'results.*.series.*.values': 'results.*.series.*.columns' }", "key: [name, host]",
                    "key: [series, time]",
                ]
            ),
            (
                prometheus, "Thing", 2, 3,
                [
                    "records: data.result\n", "columns: { 'data.result.*.values': [time, value] }", "key: [name, job]",
                    "from: metric.job, absent: { value: '' }", "from: '{time}'", "key: [thing, time]",
                ]
            ),
            (loki, "Thing", 2, 3, ["key: app", "key: [thing, time, value]"]),
            (
                graphite, "Thing", 2, 3,
                ["columns: { '*.datapoints': [value, time] }", "key: target", "key: [thing, time]", "value: double?"]
            ),
        ])
    func forms(body: String, entity: String, records: Int, rows: Int, parts: [String]) async throws {
        let server = try ScriptedServer { _ in .init(body: body) }
        let proposal = try await propose(urls: [server.base + "/things"])
        for part in parts { #expect(proposal.text.contains(part), "\(part): \(proposal.text)") }
        #expect(proposal.findings == [], "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("differ only in another label") }, "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        let row = try #require(proposal.entities.first { $0 != entity })
        #expect(try mirror.count(entity) == records, "\(proposal.text)")
        #expect(try mirror.count(row) == rows, "\(proposal.text)")
        let list = try #require(
            mirror.description.schema.entities.first { $0.name == entity }?.relationships.first?.name)
        #expect(try mirror.related(entity, list).stored == rows)
    }

    @Test(
        "a table stays JSON if its rows, or the records around them, cannot be told apart",
        arguments: [
            #"{"data":[{"metric":{},"values":[[1435781430,"1"],[1435781445,"0"]]}]}"#,
            #"{"results":[{"statement_id":0,"series":[{"name":"x","columns":["time","a"],"values":[[1,2]]}]},{"statement_id":1,"series":[{"name":"x","columns":["time","b"],"values":[[1,3]]}]}]}"#,
            #"{"series":[{"name":"x","columns":["time","a"],"values":[[1,2],[1,3]]},{"name":"y","columns":["time","a"],"values":[]}]}"#,
            #"{"features":[{"name":"x","points":[[1,2],[3,4]]},{"name":"y","points":[[5,6],[7,8]]}]}"#,
            #"{"frames":[{"name":"x","schema":{"fields":[{"name":"time"},{"name":"v"}]},"data":{"values":[[1,2],[3,4]]}},{"name":"y","schema":{"fields":[{"name":"time"},{"name":"v"}]},"data":{"values":[[1,2],[3,4]]}}]}"#,
        ])
    func unsure(body: String) throws {
        let proposal = try proposal(body)
        #expect(!proposal.text.contains("columns: {"), "\(proposal.text)")
        #expect(proposal.text.contains(": json"), "\(proposal.text)")
        #expect(proposal.findings == [], "\(proposal.text)")
    }

    @Test("a table stays JSON if the records of a further page cannot be told apart")
    func unsureBehind() throws {
        let url = "https://api.example.com/series"
        func page(_ second: String, like first: [FoundList] = []) throws -> Sample.Page {
            let body =
                #"{"result":[{"metric":{"job":"a"},"values":[[1435781430,"1"]]},{"metric":{"job":"\#(second)"},"values":[[1435781430,"1"]]}]}"#
            return ColumnSearch.page(
                Sample.Page(url: url, body: Array(body.utf8), json: try JSONValue(body)), like: first)
        }
        let first = try page("b")
        for (second, isTable) in [("c", true), ("a", false)] {
            let pages = [first, try page(second, like: first.lists)]
            let proposal = try Proposal([Sample(origin: url, isURL: true, pages: pages)])
            #expect(proposal.text.contains("columns: {") == isTable, "\(proposal.text)")
            let words = proposal.text.split(whereSeparator: \.isWhitespace).filter { $0 != "#" }.joined(separator: " ")
            #expect(words.contains("are records of their own") == isTable, "\(proposal.text)")
            if !isTable { #expect(proposal.text.contains(": json"), "\(proposal.text)") }
        }
    }

    @Test("tables of a list for each record have the record in their key")
    func belowParent() async throws {
        let server = try ScriptedServer { request in
            switch request.target.split(separator: "?").first {
            case "/users": .init(body: #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
            case "/users/1/loads", "/users/2/loads": .init(body: Self.influx)
            default: .init(status: "404 Not Found")
            }
        }
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/1/loads"])
        for part in [
            "for_each: { entity: User, parent: user }", "records: 'results.*.series'\n", "key: [user, name, host]",
        ] {
            #expect(proposal.text.contains(part), "\(part): \(proposal.text)")
        }
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Series") == 4 && mirror.count("Value") == 6, "\(proposal.text)")
    }

    @Test("a record with an id has it as its key, also beside labels")
    func identified() throws {
        let text = try proposal(
            #"{"items":[{"id":1,"name":"x","columns":["day","n"],"rows":[["a",1],["b",2]]},{"id":2,"name":"x","columns":["day","n"],"rows":[["a",3]]}]}"#
        ).text
        for part in ["key: id\n", "key: [thing, day]", "columns: { 'items.*.rows': 'items.*.columns' }"] {
            #expect(text.contains(part), "\(part): \(text)")
        }
    }
}
