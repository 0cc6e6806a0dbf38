// Answers that state an error beside their records, to typed requests: a part is never the whole.

import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Typed requests: answers with errors beside their records", .timeLimit(.minutes(2)))
struct PartialAnswerTests {
    private struct API {
        let folder: TemporaryFolder
        let client: RecordClient
        let server: AnsweringTransport
        let isPartial: SharedFlag

        /// Three records, or the first of them and the flag of a search that has ended early.
        init() throws {
            let isPartial = SharedFlag()
            self.isPartial = isPartial
            folder = try TemporaryFolder()
            server = AnsweringTransport { request in
                let tag = isPartial.isSet ? "\"part\"" : "\"whole\""
                let fields = ["Cache-Control": "max-age=600", "ETag": tag]
                if request.headers["If-None-Match"] == tag { return .init(status: 304, fields: fields) }
                return .init(
                    fields: fields,
                    body: isPartial.isSet
                        ? #"{"incomplete_results":true,"items":[{"id":1}]}"#
                        : #"{"incomplete_results":false,"items":[{"id":1},{"id":2},{"id":3}]}"#)
            }
            client = try RecordClient(
                base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server
            ) { $0.api.retry.attempts = 1 }
        }

        func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Entry.all).map(\.id) } }
    }

    private static let list = RecordRequest<Entry>.get("/entries", records: "items", pagination: .singlePage)

    private static func isPartial(_ error: any Error) -> Bool { "\(error)".contains("`incomplete_results` says") }

    @Test("a part of a list is no list: all throws, and pages has the records and the failure")
    func lists() async throws {
        let api = try API()
        api.isPartial.set(true)
        await #expect { try await api.client.all(Self.list) } throws: { Self.isPartial($0) }
        await #expect { try await api.client.one(Self.list) } throws: { Self.isPartial($0) }
        await #expect { try await api.client.batch([Self.list]) } throws: { Self.isPartial($0) }
        await #expect { try await api.client.all(Self.list) { _ in 0 } } throws: { Self.isPartial($0) }
        for try await page in api.client.pages(Self.list) {
            #expect(page.records.map(\.id) == [1] && page.source == .fetched)
            #expect(page.failure.map { Self.isPartial($0) } == true)
        }
        #expect(try api.stored() == [1])
    }

    @Test("a part is no stored answer: the one before stays, and is not confirmed by its validator")
    func cached() async throws {
        let api = try API(), fresh = Self.list.policy(.networkFirst)
        #expect(try await api.client.all(Self.list).map(\.id) == [1, 2, 3])
        api.isPartial.set(true)
        await #expect { try await api.client.all(fresh) } throws: { Self.isPartial($0) }
        #expect(try await api.client.all(Self.list).map(\.id) == [1, 2, 3])
        api.isPartial.set(false)
        #expect(try await api.client.all(fresh).map(\.id) == [1, 2, 3])
        #expect(api.server.requests.last?.headers["If-None-Match"] == nil)
    }

    @Test("no orphan is removed after a part of a list")
    func orphans() async throws {
        let api = try API(), request = Self.list.removingOrphans(Orphans(scans: 1))
        #expect(try await api.client.all(request).count == 3)
        api.isPartial.set(true)
        for _ in 0..<2 {
            for try await page in api.client.pages(request) {
                #expect(page.orphans?.deleted == 0 && page.orphans?.refusals.isEmpty == false)
            }
        }
        #expect(try api.stored() == [1, 2, 3])
    }

    @Test("an atomic batch stores nothing if one of its answers is a part")
    func atomicBatch() async throws {
        let api = try API()
        api.isPartial.set(true)
        await #expect { try await api.client.batch([Self.list], atomic: true) } throws: { Self.isPartial($0) }
        #expect(try api.stored() == [])
    }

    @Test("answers deliver a failure, with the records that are kept")
    func answers() async throws {
        let api = try API()
        api.isPartial.set(true)
        var phases: [String] = []
        for try await answer in api.client.answers(Self.list, local: Entry.all) {
            switch answer {
            case .local(let records): phases.append("local \(records.count)")
            case .failed(let error, kept: let records):
                phases.append("failed \(records.count)")
                #expect(Self.isPartial(error))
            default: phases.append("other")
            }
            if phases.count == 2 { break }
        }
        #expect(phases == ["local 0", "failed 1"])
    }

    @Test("the answer to a POST, and one that another client has fetched, state their failures, too")
    func others() async throws {
        let api = try API()
        api.isPartial.set(true)
        let search = RecordRequest<Entry>.post(
            "/search", body: .json(.object([])), records: "items", pagination: .singlePage)
        await #expect { try await api.client.all(search) } throws: { Self.isPartial($0) }
        let page = try await api.client.accept(
            Self.list, headers: TransportHeaders([.init("Cache-Control", "max-age=600")]),
            body: Array(#"{"incomplete_results":true,"items":[{"id":9}]}"#.utf8))
        #expect(page.records.map(\.id) == [9] && page.failure.map { Self.isPartial($0) } == true)
        api.isPartial.set(false)
        #expect(try await api.client.all(Self.list).map(\.id) == [1, 2, 3])
    }
}

/// A flag that a test and its server share.
private final class SharedFlag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock(\.self) }

    func set(_ new: Bool) { value.withLock { $0 = new } }
}
