// URLs of records in Swift: `@Record(url:)`, `@Relationship(by:)`, and a mapping by hand.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Record(url: "/people/{login}") struct Author: Equatable {
    @Key var login: String
    var name: String?
}

@Record(url: RecordURL("/films/{id}/", "/movies/{id}", from: "self", "links.self"))
struct Film: Equatable {
    @Key var id: Int64
    var title: String
    @Relationship(from: "director_url") var director: Reference<Author>?
    @Relationship(by: "/staff/{login}/card") var editor: Reference<Author>?
    var cast: References<Author>
}

@Suite("Typed records: URLs of records")
struct RecordURLMacroTests {
    @Test("keys and references are taken from URLs, by the template of the target or that of the relationship")
    func urls() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            let base = "http://" + (request.field("Host") ?? "")
            return .init(
                body: """
                    [{"self":"\(base)/api/films/7/","title":"a","director_url":"\(base)/api/people/ada",
                      "editor":"/staff/bob/card","cast":[{"url":"/people/eve","name":"Eve"},"\(base)/api/people/dan"]},
                     {"links":{"self":"/movies/8"},"title":"b","director_url":null,"editor":null,"cast":[]}]
                    """)
        }
        let films = try RecordClient(
            base: server.base + "/api", records: Author.self, Film.self, store: folder.path + "/films.tarn")
        #expect(try await films.all(RecordRequest<Film>.get("/films")).map(\.title) == ["a", "b"])
        let found = try films.store.read { try $0.fetch(Film.all) }
        #expect(found.map(\.id) == [7, 8])
        #expect(found.first?.director == Reference<Author>("ada") && found.first?.editor == Reference<Author>("bob"))
        #expect(found.first?.cast == References<Author>(["eve", "dan"]))
        #expect(found.last?.director == nil)
        #expect(try films.store.read { try $0.fetch(Author.all).map(\.login) } == ["eve"], "the others are missing")
        #expect(server.requests.count == 1)
    }

    @Test("the same by hand, in the mapping of a description")
    func byHand() throws {
        var mapping = EntityMapping()
        mapping.url = "/people/{login}"
        #expect(Author.mapping == mapping)
        mapping.url = RecordURL("/films/{id}/", "/movies/{id}", from: "self", "links.self")
        mapping.paths = Film.mapping.paths
        mapping.referenceURLs["editor"] = "/staff/{login}/card"
        #expect(Film.mapping == mapping)
    }
}
