// The root of an API that names its lists, and single records that the first one does not show.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for an index of lists")
struct ListIndexTests {
    private let base = "https://api.test.example/api"

    private func list(_ records: [String]) -> String {
        #"{"count":\#(records.count),"next":null,"results":[\#(records.joined(separator: ","))]}"#
    }

    private func sampler(_ responses: [(String, [String], String)]) throws -> Sampler {
        let folder = try TemporaryFolder()
        try recordings(folder, responses)
        return Sampler(try FixtureTransport(directory: folder.path))
    }

    @Test("each list of the index is looked at; what has no records is named, and left out")
    func index() async throws {
        let films = (1...2).map { #"{"id":\#($0),"title":"F\#($0)"}"# }
        let people = (1...3).map { #"{"id":\#($0),"name":"P\#($0)","film":{"id":1,"title":"F1"}}"# }
        let sampler = try sampler([
            ("/api/", [], #"{"people":"\#(base)/people/","films":"/api/films/","rates":"\#(base)/rates"}"#),
            ("/api/people/", [], list(people)), ("/api/films/", [], list(films)), ("/api/rates", [], "[1,2]"),
        ])
        var notes: [String] = []
        let samples = try await sampler.samples(target: "\(base)/") { notes.append($0) }
        #expect(samples.map(\.origin) == ["\(base)/people/", "\(base)/films/"])
        #expect(notes.first == "\(base)/ is an index of 3 URLs: looking at each")
        #expect(notes.count == 2 && notes[1].hasPrefix("not looked at: \(base)/rates"), "\(notes)")
        let proposal = try Proposal(samples)
        #expect(Set(proposal.entities) == ["Person", "Film"], "\(proposal.text)")
        #expect(proposal.text.contains("film: { to: Film"), "\(proposal.text)")
    }

    @Test(
        "an object with other values, other servers, templates or URLs beside it is a record",
        arguments: [
            #"{"name":"x","self":"https://api.test.example/api/people/"}"#,
            #"{"people":"https://other.example/api/people/","films":"https://other.example/api/films/"}"#,
            #"{"people":"https://api.test.example/api/people{?page}","films":"https://api.test.example/api/films"}"#,
            #"{"avatar":"https://api.test.example/a.png","page":"https://api.test.example/ann"}"#,
            #"{"people":"https://api.test.example/api/people/","films":["https://api.test.example/api/films/"]}"#,
        ])
    func record(body: String) async throws {
        let samples = try await sampler([("/api/", [], body)]).samples(target: "\(base)/") { Issue.record("\($0)") }
        #expect(samples.map(\.origin) == ["\(base)/"])
    }

    @Test("a rate limit ends it, as for a URL that is named")
    func limited() async throws {
        let folder = try TemporaryFolder()
        try recordings(folder, [("/api/", [], #"{"a":"\#(base)/a","b":"\#(base)/b"}"#)])
        _ = try folder.write("2000.http", "GET /api/a\nHTTP/1.1 429 Too Many Requests\nRetry-After: 7200\n\n{}")
        let sampler = Sampler(try FixtureTransport(directory: folder.path))
        await #expect(throws: SampleError.self) { try await sampler.samples(target: "\(base)/") }
    }

    @Test("lists that all need a token are an error, and not a record of URLs")
    func unauthorized() async throws {
        let folder = try TemporaryFolder()
        try recordings(folder, [("/api/", [], #"{"a":"\#(base)/a","b":"\#(base)/b"}"#)])
        for (file, name) in [("2000", "a"), ("2001", "b")] {
            _ = try folder.write("\(file).http", "GET /api/\(name)\nHTTP/1.1 401 Unauthorized\n\n{}")
        }
        let sampler = Sampler(try FixtureTransport(directory: folder.path))
        let error = await #expect(throws: SampleError.self) { try await sampler.samples(target: "\(base)/") }
        #expect(error?.description.contains("/api/a: the server returned 401") == true, "\(String(describing: error))")
    }

    @Test("two further records are looked at if the first one has null or an empty list")
    func details() async throws {
        func detail(_ id: Int) -> String {
            let parent = id == 1 ? "null" : #"{"name":"m1","url":"\#(base)/machines/1/"}"#
            let parts = id == 1 ? "" : #"{"name":"p1","url":"\#(base)/parts/1/"}"#
            return #"{"id":\#(id),"name":"m\#(id)","weight":\#(id),"parent":\#(parent),"parts":[\#(parts)]}"#
        }
        func listed(_ kind: String) -> [String] {
            (1...5).map { #"{"name":"\#(kind.prefix(1))\#($0)","url":"\#(base)/\#(kind)/\#($0)/"}"# }
        }
        var responses = [
            ("/api/machines/", [String](), list(listed("machines"))), ("/api/parts/", [], list(listed("parts"))),
        ]
        for id in 1...5 {
            responses.append(("/api/machines/\(id)/", [], detail(id)))
            responses.append(("/api/parts/\(id)/", [], #"{"id":\#(id),"name":"p\#(id)","size":1,"cost":2,"red":true}"#))
        }
        let folder = try TemporaryFolder()
        try recordings(folder, responses)
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path), ["\(base)/machines/", "\(base)/parts/"])
        mirror.expectClean()
        #expect(mirror.proposal.text.contains("parent: { to: Machine"), "\(mirror.proposal.text)")
        #expect(try mirror.related("Machine", "parent") == (4, 0))
        #expect(try mirror.related("Machine", "parts") == (4, 0))
    }
}
