// Rules for the responses to typed requests, and paths that lead elsewhere.

import TarnMacros
import TestSupport
import Testing

@Suite("Rules of typed requests", .timeLimit(.minutes(2)))
struct RequestRuleTests {
    private struct API {
        let folder: TemporaryFolder
        let client: RecordClient
        let server: AnsweringTransport

        /// Two pages; the third is missing.
        init() throws {
            folder = try TemporaryFolder()
            server = AnsweringTransport { request in
                guard let number = request.target.last?.wholeNumberValue, number < 3 else { return .init(status: 404) }
                return .init(body: #"{"items":[{"id":\#(number)1},{"id":\#(number)2}]}"#)
            }
            client = try RecordClient(
                base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server
            ) { $0.api.retry.attempts = 1 }
        }

        func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Entry.all).map(\.id) } }
    }

    private static func list(_ action: ResponseRule.Action) -> RecordRequest<Entry> {
        .get("/entries", records: "items", pagination: .pageNumber(.query("page")))
            .responses(ResponseRule(statuses: [404...404], action: action))
    }

    @Test("a list ends before a response that a rule takes as its end or passes over", arguments: [false, true])
    func endings(isPassedOver: Bool) async throws {
        let request = Self.list(isPassedOver ? .ignore : .stop), ids: [Int64] = [11, 12, 21, 22]
        let api = try API()
        #expect(try await api.client.all(request).map(\.id) == ids)
        #expect(try await api.client.all(request).map(\.id) == ids && api.stored() == ids)
        // Also in a group that is one change.
        let group = try API()
        let missing = RecordRequest<Entry>.get("/missing").responses(
            ResponseRule(statuses: [404...404], action: isPassedOver ? .ignore : .stop))
        #expect(try await group.client.batch([request, missing], atomic: true).map { $0.map(\.id) } == [ids, []])
        #expect(try group.stored() == ids)
    }

    @Test("a list that ends at a response that is passed over is not complete: no orphan is removed")
    func orphans() async throws {
        let rules = Orphans(.entity, scans: 1)
        for (action, isRemoved) in [(ResponseRule.Action.ignore, false), (.stop, true)] {
            for isAtomic in [false, true] {
                let api = try API(), request = Self.list(action).removingOrphans(rules)
                try await api.client.store.write { try $0.put(Entry(id: 99)) }
                if isAtomic {
                    _ = try await api.client.batch([request], atomic: true)
                } else {
                    _ = try await api.client.all(request)
                }
                #expect(try api.stored().contains(99) != isRemoved, "\(action), atomic: \(isAtomic)")
            }
        }
    }

    @Test("a path continues neither the name of the server nor that of a folder")
    func paths() async throws {
        let api = try API()
        for path in ["entries", ".evil.example/x", "@evil.example/x", ":81/x"] {
            await #expect(throws: CacheError.self) { try await api.client.all(RecordRequest<Entry>.get(path)) }
        }
        #expect(api.server.requests.isEmpty)
    }
}
