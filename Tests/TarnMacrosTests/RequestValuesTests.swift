// Values of responses besides the records, details by their own path, and envelopes.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

extension ResponseValue<Int> {
    fileprivate static var sum: Self { ResponseValue("sum", at: "meta.total") }
}

extension ResponseValue<Date> {
    fileprivate static var made: Self { ResponseValue("made", at: "meta.made") }
}

extension ResponseValue<[String]> {
    fileprivate static var words: Self { ResponseValue("words", at: "meta.words") }
}

@Record private struct Repo: DetailedRecord, Equatable {
    @Key var id: Int64
    var name: String
    var owner: Reference<User>?
    var stars: Int?

    static let detail = RecordRequest<Repo>.get("/repos/{owner.login}/{name}")
}

@Record private struct Snippet: DetailedRecord, Equatable {
    @Key var id: Int64
    var text: String

    static let detail = RecordRequest<Snippet>.get("/notes/{id}", ["fields": "all"])
}

@Record private struct Shelf: DetailedRecord {
    @Key var id: Int64
    @Relationship(inverse: "shelf", onDelete: .deny) var books = Inverse<Book>()

    static let detail = RecordRequest<Shelf>.get("/shelves/{id}")
}

@Record private struct Book {
    @Key var id: Int64
    @Relationship(inverse: "books") var shelf: Reference<Shelf>?
}

extension RecordRequest where Value == Snippet {
    fileprivate static var notes: Self { .get("/notes", records: "notes") }
}

@Suite("Values of responses, and details", .timeLimit(.minutes(2)))
struct RequestValuesTests {
    private struct Server {
        let server: ScriptedServer
        let folder = Result { try TemporaryFolder() }
        let client: RecordClient
        let isGone = Flag()

        init() throws {
            let isGone = isGone
            let server = try ScriptedServer { Self.answer($0, isGone.isOn) }
            self.server = server
            client = try RecordClient(
                base: server.base, records: Snippet.self, Repo.self, User.self, Shelf.self, Book.self,
                store: folder.get()("notes.tarn")
            ) { $0.api.retry.attempts = 1 }
        }

        private static func answer(_ request: ScriptedServer.Request, _ isGone: Bool) -> ScriptedServer.Answer {
            let base = "http://" + (request.field("Host") ?? "")
            return switch request.target {
            case "/notes":
                .init(
                    fields: ["Cache-Control: max-age=60", "Link: <\(base)/notes?page=2>; rel=\"next\""],
                    body:
                        #"{"notes":[{"id":1,"text":"a"}],"meta":{"total":3,"made":"2026-01-02T03:04:05Z","words":null}}"#
                )
            case "/notes?page=2":
                .init(
                    fields: ["Cache-Control: max-age=60"],
                    body: #"{"notes":[{"id":2,"text":"b"}],"meta":{"total":"many"}}"#)
            case "/notes/7?fields=all":
                isGone ? .init(status: "404 Not Found") : .tagged("n", request, #"{"id":7,"text":"seven"}"#)
            case "/repos/ada/anvil": .init(body: #"{"id":1,"name":"anvil","owner":{"id":5},"stars":9}"#)
            case "/repos/ada/old": .init(status: "410 Gone")
            case "/find": .init(body: #"{"notes":[{"id":8,"text":"x"}],"meta":{"total":1}}"#)
            case "/envelope":
                .init(
                    body:
                        #"{"notes":[{"id":3,"text":"c"}],"people":[{"id":5,"login":"ada"},{"id":6,"login":"eve"}]}"#
                )
            default: .init(status: "404 Not Found")
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isOn: Bool { value.withLock(\.self) }
        func turnOn() { value.withLock { $0 = true } }
    }

    // MARK: Custom values

    @Test("a closure sees the whole JSON of each page, which is fetched anew")
    func customValues() async throws {
        let api = try Server()
        for _ in 0..<2 {
            let (notes, totals) = try await api.client.all(.notes) { json in json["meta"]?["total"] }
            #expect(notes.map(\.id) == [1, 2] && totals == [.number("3"), .string("many")])
        }
        #expect(api.server.targets.count == 4 && api.server.requests.allSatisfy { $0.field("If-None-Match") == nil })
        _ = try await api.client.all(.notes)
        #expect(api.server.targets.count == 4)
        var seen: [(Int, JSONValue?)] = []
        for try await (page, value) in try api.client.pages(.notes, value: { $0["meta"]?["total"] }) {
            seen.append((page.records.count, value))
            break
        }
        #expect(seen.count == 1 && seen[0].1 == .number("3"))
        let (note, text) = try await api.client.one(RecordRequest<Snippet>.get("/notes/7", ["fields": "all"])) {
            $0.text
        }
        #expect(note.text == "seven" && text == #"{"id":7,"text":"seven"}"#)
        let found = try await api.client.all(
            RecordRequest<Snippet>.post("/find", body: .json(.object([])), records: "notes").persisting(false)
        ) { $0["meta"]?["total"] }
        #expect(found.records.map(\.id) == [8] && found.values == [.number("1")])
        await #expect(throws: MirrorError.self) {
            _ = try await api.client.all(.notes.policy(.cacheOnly)) { _ in 1 }
        }
    }

    @Test("an error of the closure ends the call; the records are in the store")
    func failingValue() async throws {
        struct Refused: Error {}
        let api = try Server()
        await #expect(throws: Refused.self) {
            _ = try await api.client.all(.notes) { _ -> Int in throw Refused() }
        }
        #expect(try api.client.store.read { try $0.fetch(Snippet.all).map(\.id) } == [1])
    }

    // MARK: Typed metadata

    @Test("a declared value has its type, of fetched and of stored answers; absent and null are nil")
    func typedMetadata() async throws {
        let api = try Server()
        let request = RecordRequest.notes.metadata(.sum).metadata(.made).metadata(.words)
        for source in [CachedAnswer.Source.fetched, .stored] {
            let page = try await api.client.page(request)
            #expect(page.source == source)
            #expect(try page[.sum] == 3)
            #expect(try page[.made] == Date(timeIntervalSince1970: 1_767_323_045))
            #expect(try page[.words] == nil)
            let next = try await api.client.page(request, at: page.next)
            #expect(try next[.made] == nil)
            #expect {
                _ = try next[.sum]
            } throws: { error in
                "\(error)".contains("meta.total of the response is no Int: \"many\"")
            }
        }
        let undeclared = try await api.client.page(.notes)
        #expect(throws: MirrorError.self) { try undeclared[.sum] }
    }

    // MARK: Details

    @Test("a detail is requested by the record's own values, and by paths through its references")
    func detail() async throws {
        let api = try Server(), client = api.client
        try await client.store.write { try $0.put(User(id: 5, login: "ada")) }
        let repo = Repo(id: 1, name: "anvil", owner: Reference(5))
        #expect(try await client.detail(of: repo).stars == 9)
        #expect(try await client.detail(Repo.self, 1).stars == 9)
        #expect(api.server.targets == ["/repos/ada/anvil", "/repos/ada/anvil"])
        await #expect {
            _ = try await client.detail(Repo.self, 2)
        } throws: {
            "\($0)".contains("Repo 2 has no value for {owner.login}, and is not in the store")
        }
        await #expect(throws: MirrorError.self) { _ = try await client.detail(of: Repo(id: 1, name: "x")) }
        #expect(api.server.targets.count == 2)
    }

    @Test("a detail by key needs no stored record if the key is enough, and takes options")
    func detailByKey() async throws {
        let api = try Server(), client = api.client
        let note = try await client.detail(Snippet.self, 7) { $0.persisting(false) }
        #expect(note.text == "seven")
        #expect(try client.store.read { try $0.get(Snippet.self, 7) } == nil)
        #expect(try await client.detail(of: note).text == "seven")
        #expect(try await client.detail(of: note) { $0.policy(.cacheOnly) }.text == "seven")
        #expect(api.server.targets.count == 2)
    }

    @Test("a record that the server no longer has is an error, and is deleted if that is asked for")
    func goneDetail() async throws {
        let api = try Server(), client = api.client
        let note = try await client.detail(Snippet.self, 7)
        api.isGone.turnOn()
        func isGone(_ error: any Error) -> Bool {
            if case .request(.status(404, _, _, _), _)? = error as? CacheError { true } else { false }
        }
        await #expect { _ = try await client.detail(of: note) } throws: { isGone($0) }
        #expect(try client.store.read { try $0.get(Snippet.self, 7) } == note)
        await #expect { _ = try await client.detail(of: note, deletingGone: true) } throws: { isGone($0) }
        #expect(try client.store.read { try $0.get(Snippet.self, 7) } == nil)
    }

    @Test("a record with local changes stays although the server has none, and one that it never had as well")
    func goneDetailOfChangedRecord() async throws {
        let api = try Server(), client = api.client
        _ = try await client.detail(Snippet.self, 7)
        try await client.store.write { writer in
            for key in [7, 9] as [Int64] {
                try writer.putLocally("Snippet", RecordKey(key), [Record.Field("text", .string("mine"))])
            }
        }
        api.isGone.turnOn()
        for key in [7, 9] as [Int64] {
            await #expect(throws: CacheError.self) {
                _ = try await client.detail(Snippet.self, key, deletingGone: true)
            }
            #expect(try client.store.read { try $0.get(Snippet.self, key)?.text } == "mine")
            let change = try client.store.read { try $0.localChange("Snippet", RecordKey(key)) }
            #expect(change?.operation == (key == 7 ? .update : .create) && change?.isGoneAtServer == (key == 7))
        }
    }

    @Test("a record that a delete rule keeps stays, and the error is that of the server")
    func goneDetailOfReferencedRecord() async throws {
        let api = try Server(), client = api.client
        try await client.store.write { writer in
            try writer.put(Shelf(id: 1))
            try writer.put(Book(id: 2, shelf: Reference(1)))
        }
        await #expect(throws: CacheError.self) { _ = try await client.detail(Shelf.self, 1, deletingGone: true) }
        #expect(try client.store.read { try $0.get(Shelf.self, 1) } != nil)
    }

    @Test("details by a key that the server's key has replaced are those of the record")
    func detailByReplacedKey() async throws {
        let api = try Server(), client = api.client
        try await client.store.write { writer in
            let made = try writer.enqueueCreate(
                "Snippet", .client(RecordKey(6)), [Record.Field("text", .string("mine"))])
            if let id = made.operation { _ = try writer.completeOperation(id, adopting: RecordKey(7)) }
        }
        let old = Snippet(id: 6, text: "mine")
        #expect(try await client.detail(Snippet.self, 6).text == "seven")
        #expect(try await client.detail(of: old).id == 7)
        #expect(try client.cache.entries(listing: "Snippet", RecordKey(6)).count == 1)
        api.isGone.turnOn()
        await #expect(throws: CacheError.self) { _ = try await client.detail(of: old, deletingGone: true) }
        #expect(try client.store.read { try $0.get(Snippet.self, 7) } == nil)
        #expect(api.server.targets.allSatisfy { $0 == "/notes/7?fields=all" }, "\(api.server.targets)")
    }

    @Test(
        "a record that the server no longer has is deleted by a replaced key, too, unless it has local changes",
        arguments: [false, true])
    func goneDetailByReplacedKey(isChanged: Bool) async throws {
        let api = try Server(), client = api.client
        try await client.store.write { writer in
            let made = try writer.enqueueCreate(
                "Snippet", .client(RecordKey(6)), [Record.Field("text", .string("mine"))])
            if let id = made.operation { _ = try writer.completeOperation(id, adopting: RecordKey(7)) }
        }
        _ = try await client.detail(Snippet.self, 6)
        if isChanged {
            try await client.store.write {
                try $0.putLocally("Snippet", RecordKey(7), [Record.Field("text", .string("changed"))])
            }
        }
        api.isGone.turnOn()
        await #expect(throws: CacheError.self) { _ = try await client.detail(Snippet.self, 6, deletingGone: true) }
        #expect(try client.store.read { try $0.get(Snippet.self, 7)?.text } == (isChanged ? "changed" : nil))
        let change = try client.store.read { try $0.localChange("Snippet", RecordKey(7)) }
        #expect(change?.isGoneAtServer == (isChanged ? true : nil))
    }

    // MARK: Kinds and envelopes

    @Test("records of a kind are returned as structs of its parent, also those of a response that is not stored")
    func kinds() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"subject":"a"},{"id":2,"subject":"c"}]"#) }
        let client = try RecordClient(base: server.base, records: Ticket.self, Bug.self, store: folder("t.tarn"))
        try await client.store.write { try $0.put(Bug(id: 2, subject: "b", severity: 3)) }
        let tickets = RecordRequest<Ticket>.get("/tickets")
        #expect(try await client.all(tickets.persisting(false)).map(\.subject) == ["a", "c"])
        #expect(try client.store.read { try $0.fetch(Ticket.all).map(\.subject) } == ["b"])
        #expect(try await client.all(tickets).map(\.subject) == ["a", "c"])
        #expect(try client.store.read { try $0.fetch(Bug.all).map(\.subject) } == ["c"])
    }

    @Test("rows are requested by the names of their columns, also through a bridge and beside other records")
    func columns() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            .init(body: #"{"c":["subject","id"],"r":[["a",1],["b",2]],"bugs":[{"id":3,"subject":"c","severity":1}]}"#)
        }
        func client(_ name: String) throws -> RecordClient {
            try RecordClient(
                base: server.base, records: Ticket.self, Bug.self, User.self, Repo.self, store: folder(name))
        }
        let tickets = RecordRequest<Ticket>.get("/tickets", records: "r").columns(at: "c")
        let first = try client("a.tarn"), second = try client("b.tarn")
        #expect(try await first.all(tickets).map(\.subject) == ["a", "b"])
        let result = try await second.fetch(tickets, through: RESTBridge(second))
        #expect(try second.records(Ticket.self, of: result).map(\.subject) == ["a", "b"])
        let others = tickets.also(Repo.self, at: "repos", optional: true)
        #expect(try await first.all(others).map(\.subject) == ["a", "b"])
    }

    @Test("a request has the names of columns that the response lacks, and those of the rows of other records")
    func writtenColumns() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            .init(body: #"{"r":[["a",1],["b",2]],"s":[["login","id"],["ada",5]]}"#)
        }
        let client = try RecordClient(
            base: server.base, records: Ticket.self, Bug.self, User.self, Repo.self, store: folder("a.tarn"))
        let tickets = RecordRequest<Ticket>.get("/tickets", records: "r").columns(["subject", "id"])
            .also(User.self, at: "s").columns(at: "s[0]", of: "s")
        #expect(try await client.all(tickets).map(\.subject) == ["a", "b"])
        #expect(try client.store.read { try $0.fetch(User.all).map(\.login) } == ["ada"])
    }

    @Test("records of another type in the same response are imported with the others")
    func envelope() async throws {
        let api = try Server(), client = api.client
        let request = RecordRequest<Snippet>.get("/envelope", records: "notes").also(User.self, at: "people")
        #expect(try await client.all(request.persisting(false)).map(\.id) == [3])
        #expect(try client.store.read { try $0.fetch(User.all).count } == 0)
        let page = try await client.page(request)
        #expect(page.records.map(\.id) == [3] && page.report?.created == 3)
        #expect(try client.store.read { try $0.fetch(User.all).map(\.login) } == ["ada", "eve"])
        await #expect(throws: CacheError.self) { _ = try await client.all(request.also(Repo.self, at: "repos")) }
        #expect(try await client.one(request.also(Repo.self, at: "repos", optional: true)).id == 3)
    }
}
