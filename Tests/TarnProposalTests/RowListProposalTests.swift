// Proposals for answers whose records are lists of values.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for lists of rows")
struct RowListProposalTests {
    private func proposal(_ body: String) throws -> Proposal {
        let folder = try TemporaryFolder()
        return try Proposal([try Sampler.sample(file: try folder.write("things.json", body))])
    }

    @Test(
        "the columns have the names beside the list, as texts or in objects",
        arguments: [
            (#"{"database":"x","columns":["id","name"],"rows":[[1,"a"],[2,"b"]],"truncated":false}"#, "columns"),
            (
                #"{"meta":[{"name":"id","type":"UInt64"},{"name":"name","type":"String"}],"data":[[1,"a"],[2,"b"]],"rows":2}"#,
                "'meta.*.name'"
            ),
            (#"[["id","name"],[1,"a"],[2,"b"]]"#, "'[0]'"),
            (#"{"range":"A1:C3","values":[["id","name","x"],["1","a"],["2","b","3"]]}"#, "'values[0]'"),
            (#"{"id":"q7","columns":[{"name":"id"},{"name":"name"}],"data":[[1,"a"],[2,"b"]]}"#, "'columns.*.name'"),
            (
                #"{"meta":{"view":{"columns":[{"fieldName":"id"},{"fieldName":"name"}]}},"data":[["1","a"],["2","b"]]}"#,
                "'meta.view.columns.*.fieldName'"
            ),
        ])
    func named(body: String, columns: String) throws {
        let proposal = try proposal(body)
        for part in ["columns: \(columns)\n", "name: string", "key: id"] {
            #expect(proposal.text.contains(part), "\(part): \(proposal.text)")
        }
        #expect(!proposal.text.contains("[1]"), "\(proposal.text)")
        // The check has imported the rows.
        #expect(Array(proposal.records.values) == [2], "\(proposal.findings)")
        // A query has an id, and a record may have rows.
        let uncertain = proposal.uncertain.map { $0.contains("has an id, and is not described") }
        #expect(uncertain == (body.contains("\"q7\"") ? [true] : []), "\(proposal.text)")
    }

    @Test("objects, lists of objects and large numbers in rows are found by the names of their columns")
    func nested() throws {
        let rows = (1...3).map {
            #"[1844674407370955161\#($0),{"id":5,"login":"x"},[{"id":\#($0),"name":"a"}]]"#
        }
        let proposal = try proposal(
            #"{"columns":["id","owner","tags"],"rows":[\#(rows.joined(separator: ","))]}"#)
        for part in ["from: '{id}'", "owner: { to: User", "tags: { to: [Tag]", "columns: columns"] {
            #expect(proposal.text.contains(part), "\(part): \(proposal.text)")
        }
        #expect(proposal.uncertain == [], "\(proposal.text)")
    }

    @Test("rows without names are named by their positions, which is uncertain")
    func unnamed() throws {
        let proposal = try proposal(#"[[1499040000000,"0.01",[]],[1499040060000,"0.02",[]]]"#)
        #expect(
            proposal.text.contains("column1: { type: ") && proposal.text.contains("from: '[1]'"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("rows without names") }, "\(proposal.uncertain)")
        let table = try self.proposal(#"[["NAME","CODE"],["Alabama","al"],["Alaska","ak"]]"#)
        #expect(
            table.uncertain.contains { $0.contains("If the first row has their names, write `columns: '[0]'`") },
            "\(table.uncertain)")
    }

    @Test(
        "a first row that may be a record is one, and the fields of a filter are no names of columns",
        arguments: [
            #"[["alice","2020-01-01"],["bob","2021-01-01"],["carol","2022-01-01"]]"#,
            #"[["alice","Main street"],["bob","1st street"],["carol","2nd street"]]"#,
            #"[["alice",null],["bob",5]]"#,
            #"{"data":[["a",1],["b",2]],"filters":{"fields":["n","stock"]},"sort":{"keys":["n","name"]}}"#,
        ])
    func firstRecord(body: String) throws {
        let proposal = try proposal(body)
        #expect(!proposal.text.contains("  columns:"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("rows without names") }, "\(proposal.uncertain)")
    }

    @Test("rows without names have none on further pages; names in a first row are there on all of them")
    func furtherPages() throws {
        let pages = [#"[["alice","admin"],["bob","user"]]"#, #"[["carol","owner"],["dave","user"]]"#]
        let first = try JSONValue(pages[0]), unnamed = ListFinder.lists(in: first)
        #expect(ColumnSearch.named(first).columns == [])
        #expect(ColumnSearch.named(try JSONValue(pages[1]), like: unnamed).columns == [])
        let table = ColumnSearch.named(try JSONValue(#"[["id","name"],[1,"a"],[2,"b"]]"#))
        #expect(table.columns.map(\.names.description) == ["[0]"])
        let next = ColumnSearch.named(
            try JSONValue(#"[["id","name"],[3,"c"]]"#), like: ListFinder.lists(in: table.json))
        #expect(next.columns == table.columns)
        #expect(next.json.text == #"[{"id":3,"name":"c"}]"#)
        // A first row may be a record: the comment of the endpoint says what to do then.
        #expect(table.columns.compactMap(ColumnSearch.note).allSatisfy { $0.contains("in its first row") })
        #expect(table.columns.compactMap(ColumnSearch.note).count == 1)
        // Two records show that lists are columns; then one is enough.
        let columns = ColumnSearch.named(try JSONValue(#"{"time":[1,2],"n":[3,4]}"#))
        let last = ColumnSearch.named(
            try JSONValue(#"{"time":[5],"n":[6]}"#), like: ListFinder.lists(in: columns.json))
        #expect(last.columns == columns.columns && last.json.text == #"[{"time":5,"n":6}]"#, "\(last.json.text)")
    }

    @Test("names in the first row of the first page only are written, and the sync has the records of all pages")
    func firstPage() async throws {
        let rows = (1...7).map { #"["\#($0)","a\#($0)"]"# }
        let server = try ScriptedServer { request in
            let page = ItemList.number("page", in: request.target) ?? 1
            guard (1...3).contains(page) else { return .init(body: "[]") }
            let part = rows[(page - 1) * 3..<min(page * 3, 7)].joined(separator: ",")
            return .init(body: page == 1 ? #"[["id","name"],\#(part)]"# : "[\(part)]")
        }
        let proposal = try await propose(urls: [server.base + "/things?page=1"])
        #expect(proposal.text.contains("columns: [id, name]\n"), "\(proposal.text)")
        #expect(!proposal.text.contains("has the names of its columns"), "\(proposal.text)")
        #expect(proposal.text.contains("page_number"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Thing") == 7)
    }

    @Test(
        "a page whose names are in another order, or are more, has them in its first row, too",
        arguments: [
            (#"[["name","id"],["c",3]]"#, []), (#"[["id","name","zone"],[3,"c","x"]]"#, []),
            (#"[["3","c"]]"#, ["id", "name"]), (#"[["name",3]]"#, ["id", "name"]),
        ])
    func movedNames(body: String, written: [String]) throws {
        func page(_ body: String, like first: [FoundList] = []) throws -> Sample.Page {
            ColumnSearch.page(Sample.Page(url: "", body: Array(body.utf8), json: try JSONValue(body)), like: first)
        }
        let first = try page(#"[["id","name"],[1,"a"],[2,"b"]]"#)
        #expect(try page(body, like: first.lists).columns.map(\.written) == [written])
    }

    @Test("a table has the time of its rows as key, if that ascends; rows by names are a remark")
    func times() throws {
        let days = (1...5).map { #""2025-01-0\#($0)T00:00""# }.joined(separator: ",")
        let proposal = try proposal(#"{"latitude":1.5,"hourly":{"time":[\#(days)],"rain":[0,1.5,1.5,0,0]}}"#)
        #expect(proposal.text.contains("key: time   # ascending in all 5 samples"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("`time` differs in 5 samples") }, "\(proposal.uncertain)")
        for times in ["[9,10,11]", #"["2025-01-03","2025-01-02","2025-01-01"]"#] {
            let ordered = try self.proposal(#"{"hourly":{"time":\#(times),"rain":[0,0,0.5]}}"#)
            #expect(ordered.text.contains("key: time "), "\(ordered.text)")
        }
        let equal = try self.proposal(#"{"hourly":{"time":["b","a","c"],"rain":[0,0,0.5]}}"#)
        #expect(equal.text.contains("key: position"), "\(equal.text)")
        let rows = try self.proposal(#"{"base":"EUR","rates":{"2025-01-01":[1.1,2],"2025-01-02":[1.2,3]}}"#)
        #expect(rows.uncertain.contains { $0.contains("write `records: 'rates.*'`") }, "\(rows.text)")
    }

    @Test("the rows of several series in one list have the series and the date as key, and not their value")
    func severalSeries() throws {
        let rows = (0..<6).map {
            #"{"country":{"name":"x"},"iso3":"\#($0 < 3 ? "DEU" : "FRA")","date":"\#(2020 + $0 % 3)","value":\#(80 + $0),"unit":""}"#
        }
        let proposal = try proposal("[\(rows.joined(separator: ","))]")
        #expect(proposal.text.contains("key: [iso3, date]"), "\(proposal.text)")
        #expect(
            proposal.uncertain.contains { $0.contains("`iso3` and `date` together differ") }, "\(proposal.uncertain)")
        #expect(proposal.records == ["Thing": 6], "\(proposal.records)")
    }

    @Test("a quantity that differs by chance is no key beside fields that are one together")
    func quantity() throws {
        let counts = [5, 3, 9, 1, 7, 2, 8, 4]
        let rows = (0..<8).map {
            #"{"station_id":"s\#($0 / 2)","date":"2025-01-0\#(1 + $0 % 2)","riders":"\#(counts[$0])"}"#
        }
        let proposal = try proposal("[\(rows.joined(separator: ","))]")
        #expect(proposal.text.contains("key: [stationId, date]"), "\(proposal.text)")
        // In an order, the numbers may be those of the records.
        let ordered = (0..<8).map {
            #"{"station_id":"s\#($0 / 2)","date":"2025-01-0\#(1 + $0 % 2)","ticket":\#(100 + $0)}"#
        }
        #expect(
            try self.proposal("[\(ordered.joined(separator: ","))]").text.contains("key: ticket "), "\(proposal.text)")
    }

    @Test("the numbers of a series are no keys, whatever their order is")
    func countedSeries() throws {
        for name in ["downloads", "n"] {
            let rows = (1...8).map { #"{"\#(name)":\#($0 * 5),"day":"2025-01-0\#($0)"}"# }
            let proposal = try proposal("[\(rows.joined(separator: ","))]")
            #expect(proposal.text.contains("key: day "), "\(proposal.text)")
        }
    }

    @Test("a series of measurements has its time as key, also with many values about the answer around it")
    func series() throws {
        let rows = (1...8).map { day in
            let value = day % 3 == 0 ? "." : "1.\(day)"
            return #"{"start":"2025-01-01","date":"2025-02-0\#(day)","value":"\#(value)"}"#
        }
        let about =
            #""start":"a","end":"b","from":"c","units":"lin","type":1,"sort_order":"asc","count":8,"offset":0,"limit":100"#
        let proposal = try proposal(#"{\#(about),"observations":[\#(rows.joined(separator: ","))]}"#)
        #expect(proposal.text.contains("records: observations\n"), "\(proposal.text)")
        #expect(proposal.text.contains("key: date "), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("`date` differs in 8 samples") }, "\(proposal.uncertain)")
    }

    @Test("rows of texts and numbers without names are records, whatever the name of their list is")
    func mixed() throws {
        let rows = (1...6).map { #"["a\#($0)","x",\#($0).5,null,false]"# }
        let proposal = try proposal(#"{"time":1700000000,"states":[\#(rows.joined(separator: ","))]}"#)
        #expect(proposal.text.contains("records: states\n"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("rows without names") }, "\(proposal.uncertain)")
        #expect(proposal.records == ["State": 6], "\(proposal.records)")
    }

    @Test(
        "lists of numbers inside of a record are no rows",
        arguments: [
            #"{"type":"LineString","coordinates":[[1,2],[3,4],[5,6]]}"#, #"{"id":7,"rows":[[1,2],[3,4]]}"#,
            #"{"prices":[[1,2],[3,4]],"caps":[[1,2],[3,4]]}"#,
        ])
    func others(body: String) throws {
        #expect(!(try proposal(body).text.contains("[0]")))
    }
}
