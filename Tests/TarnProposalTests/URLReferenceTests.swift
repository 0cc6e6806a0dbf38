// Records that an API names by URL.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for references by URL")
struct URLReferenceTests {
    private let base = "https://api.test.example/api"

    @Test("records without an id have it in their URL; references by URL lead to them")
    func films() async throws {
        let folder = try TemporaryFolder()
        func person(_ id: Int) -> String {
            let films = id == 1 ? #""\#(base)/films/1/","\#(base)/films/2/""# : #""\#(base)/films/2/""#
            return
                #"{"name":"P\#(id)","homeworld":"\#(base)/planets/\#(id)/","films":[\#(films)],"url":"\#(base)/people/\#(id)/"}"#
        }
        func film(_ id: Int) -> String {
            #"{"title":"F\#(id)","director":{"name":"P1","url":"\#(base)/people/1/"},"url":"\#(base)/films/\#(id)/"}"#
        }
        func planet(_ id: Int) -> String { #"{"name":"W\#(id)","url":"\#(base)/planets/\#(id)/"}"# }
        func envelope(_ records: [String]) -> String {
            #"{"count":\#(records.count),"next":null,"results":[\#(records.joined(separator: ","))]}"#
        }
        try recordings(
            folder,
            [
                ("/api/people/", [], envelope([person(1), person(2)])),
                ("/api/films/", [], envelope([film(1), film(2)])),
                ("/api/planets/", [], envelope([planet(1), planet(2), planet(3)])),
            ])
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path), ["\(base)/people/", "\(base)/films/", "\(base)/planets/"])
        mirror.expectClean()
        #expect(mirror.proposal.text.contains("url: /people/{id}/"), "\(mirror.proposal.text)")
        #expect(mirror.proposal.entities == ["Person", "Film", "Planet"])
        #expect(try mirror.count("Person") == 2)
        #expect(try mirror.related("Person", "homeworld") == (2, 0))
        #expect(try mirror.related("Person", "films") == (3, 0))
        #expect(try mirror.related("Film", "director") == (2, 0))
    }

    @Test("an API of 20 kinds that name each other by URL: a proposal of its lists syncs every detail")
    func madeAPI() async throws {
        let made = MadeAPI(size: 25)
        let server = try ScriptedServer(made.answer)
        let base = server.base + "/api/v2"
        let urls = MadeAPI.kinds.map { "\(base)/\(MadeAPI.segment($0))/" }
        let mirror = try await ProposedMirror(CurlTransport(), urls, pages: 2)
        mirror.expectClean()
        #expect(mirror.description.api.aliases == ["https://made.example/api/v2"])
        for kind in MadeAPI.kinds { #expect(try mirror.count(kind) == made.size, "\(kind)") }
        // Each detail has a successor, three others and two friends.
        for kind in MadeAPI.kinds.prefix(3) {
            #expect(try mirror.related(kind, "next") == (made.size, 0), "\(kind)")
            #expect(try mirror.related(kind, "others") == (3 * made.size, 0), "\(kind)")
            #expect(try mirror.related(kind, "friends") == (2 * made.size, 0), "\(kind)")
        }
        #expect(server.requests.count { $0.target.hasPrefix("/api/v2/berry/") } > made.size)
    }

    @Test("a list of names and URLs: the details are what is wanted, each once")
    func details() async throws {
        let folder = try TemporaryFolder()
        let list = (1...3).map { #"{"name":"n\#($0)","url":"\#(base)/machines/\#($0)/"}"# }
        var responses: [(String, [String], String)] = [
            ("/api/machines", [], #"{"count":3,"next":null,"results":[\#(list.joined(separator: ","))]}"#)
        ]
        for id in 1...3 {
            responses.append(
                (
                    "/api/machines/\(id)/", [],
                    #"{"id":\#(id),"name":"n\#(id)","weight":\#(id)0,"speed":1.5,"made":"2025-01-0\#(id)"}"#
                ))
        }
        try recordings(folder, responses)
        let mirror = try await ProposedMirror(try FixtureTransport(directory: folder.path), ["\(base)/machines"])
        #expect(mirror.proposal.findings == [])
        #expect(mirror.report.failures.map { "\($0)" } == [], "\(mirror.proposal.text)")
        #expect(mirror.report.report.diagnosticCount == 0, "\(mirror.report.report.diagnostics)")
        #expect(mirror.proposal.text.contains("url: '{machine.url}'"), "\(mirror.proposal.text)")
        let weights = try mirror.store.read { reader in
            try reader.fetch(Query("Machine")).map { record in
                var text = ""
                record.appendFieldsJSON(to: &text)
                return text
            }
        }
        #expect(weights.count == 3 && weights.allSatisfy { $0.contains("\"weight\":") }, "\(weights)")
    }
}
