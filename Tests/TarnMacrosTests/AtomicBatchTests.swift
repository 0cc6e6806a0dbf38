// Atomic batches: they fail before their commit, or return the records that they have stored.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Record private struct Measure: Equatable {
    @Key var id: Int64
    var value: Int
    var note: String?
}

extension RecordRequest where Value == Measure {
    fileprivate static var measures: Self { .get("/measures") }
    fileprivate static func noted(_ language: String) -> Self { measures.header("Accept-Language", language) }
}

@Suite("Atomic batches", .timeLimit(.minutes(2)))
struct AtomicBatchTests {
    /// A server whose notes are in the language of the request.
    private struct API {
        let folder: TemporaryFolder
        let server: ScriptedServer
        let client: RecordClient

        init(body: String? = nil) throws {
            folder = try TemporaryFolder()
            server = try ScriptedServer { request in
                let language = request.field("Accept-Language") ?? "none"
                let items = (1...2).map { #"{"id":\#($0),"value":\#($0),"note":"\#(language)"}"# }
                return .tagged(language, request, body ?? "[\(items.joined(separator: ","))]", "Vary: Accept-Language")
            }
            client = try RecordClient(base: server.base, records: Measure.self, store: folder("a.tarn")) {
                $0.api.retry.attempts = 1
            }
        }
    }

    @Test("requests to one URL that differ in a header field are stored and returned, with the values of the change")
    func variantsOfOneURL() async throws {
        let api = try API(), pair: [RecordRequest<Measure>] = [.noted("en"), .noted("de")]
        for _ in 0..<3 {
            let lists = try await api.client.batch(pair, atomic: true)
            let stored = try api.client.store.read { try $0.fetch(Measure.all) }
            #expect(lists == [stored, stored] && stored.count == 2)
            #expect(stored.map(\.note) == ["de", "de"])
        }
        // No response confirms the values of the other one.
        for language in ["en", "de", "en"] {
            #expect(try await api.client.all(.noted(language)).map(\.note) == [language, language])
        }
        let (english, german) = try await api.client.batch(.noted("en"), .noted("de"), atomic: true)
        #expect(english == german && english.count == 2)
    }

    @Test("requests that differ in hooks keep one another's responses")
    func hooks() async throws {
        let api = try API()
        let even = RecordRequest<Measure>.measures.filtering { _, json in json["id"] == .number("2") }
        let odd = RecordRequest<Measure>.measures.filtering { _, json in json["id"] == .number("1") }
        for _ in 0..<2 {
            #expect(try await api.client.batch([even, odd], atomic: true).map { $0.map(\.id) } == [[2], [1]])
        }
        #expect(try api.client.cache.entries(listing: "Measure", RecordKey(1)).count == 1)
        #expect(api.server.requests.suffix(2).allSatisfy { $0.hasTag("none") })
    }

    @Test("a batch returns its records although the responses are purged all the time")
    func purged() async throws {
        let api = try API(), cache = api.client.cache, base = api.server.base
        let purging = Task {
            while !Task.isCancelled {
                try await cache.purge(.prefix(base))
                // A purge of nothing does not suspend: other tests need the thread.
                try await Task.sleep(for: .microseconds(100))
            }
        }
        for _ in 0..<40 {
            let lists = try await api.client.batch([.measures, .noted("en")], atomic: true)
            #expect(lists.map { $0.map(\.id) } == [[1, 2], [1, 2]])
        }
        purging.cancel()
        _ = await purging.result
    }

    @Test("a batch with a record that does not fit the struct throws, and nothing of it is stored")
    func unreadable() async throws {
        let api = try API(body: #"[{"id":1,"value":1},{"id":2}]"#)
        await #expect(throws: StoreError.self) { try await api.client.batch([.measures], atomic: true) }
        #expect(try api.client.store.read { try $0.count("Measure") } == 0)
        #expect(try api.client.cache.totals.entries == 0)
    }
}
