// Requests to one URL that differ in header fields or hooks: they share their records, and not their answers.

import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Requests with other header fields or hooks", .timeLimit(.minutes(2)))
struct RequestVariantTests {
    private static let entries = RecordRequest<Entry>.get("/x")

    /// A client of a server whose titles are in the language of the request.
    private static func client(
        _ folder: TemporaryFolder, _ fields: [String: String], ranks: @escaping @Sendable () -> Int = { 1 }
    ) throws -> (RecordClient, AnsweringTransport) {
        let transport = AnsweringTransport { request in
            let language = request.headers["Accept-Language"] ?? "none", rank = ranks()
            var fields = fields
            fields["ETag"] = "\"\(language)\(rank)\""
            if request.headers["If-None-Match"] == fields["ETag"] { return .init(status: 304, fields: fields) }
            let items = (1...2).map { #"{"id":\#($0),"rank":\#(rank),"title":"\#(language)"}"# }
            return .init(fields: fields, body: "[\(items.joined(separator: ","))]")
        }
        let client = try RecordClient(
            base: "https://x.example", records: Entry.self, store: folder("a.tarn"), transport: transport)
        return (client, transport)
    }

    @Test(
        "a response that another value of a header field has followed is requested anew: neither 304 nor freshness confirms it",
        arguments: [["Cache-Control": "no-cache"], ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]])
    func headerFields(fields: [String: String]) async throws {
        let folder = try TemporaryFolder(), (client, transport) = try Self.client(folder, fields)
        for language in ["en", "de", "en", "en", "de"] {
            let titles = try await client.all(Self.entries.header("Accept-Language", language)).compactMap(\.title)
            #expect(titles == [language, language])
        }
        #expect(transport.requests.compactMap { $0.headers["If-None-Match"] }.count <= 1)
        let list = try await client.list(Self.entries.header("Accept-Language", "en"))
        try await list.loadFirst()
        #expect(try list.state.items.compactMap(\.title) == ["en", "en"])
        for language in ["de", "en"] {
            let request = Self.entries.header("Accept-Language", language)
            #expect(
                try await client.batch([request], atomic: true).flatMap(\.self).compactMap(\.title).first == language)
        }
        #expect(try await client.all(Self.entries.header("Accept-Language", "de")).compactMap(\.title) == ["de", "de"])
    }

    @Test("the answers of a request have the effect of its own hooks, after another one's were imported")
    func hooks() async throws {
        let folder = try TemporaryFolder()
        let (client, _) = try Self.client(folder, ["Cache-Control": "max-age=60"])
        let upper = Self.entries.editing { _, json in json["title"] = .string("UPPER") }
        let lower = Self.entries.editing { _, json in json["title"] = .string("lower") }
        // Two on one line.
        let pair = [
            Self.entries.editing { $1["title"] = .string("1") }, Self.entries.editing { $1["title"] = .string("2") },
        ]
        for (request, title) in zip(pair, ["1", "2"]) {
            #expect(try await client.all(request).compactMap(\.title) == [title, title])
        }
        for _ in 0..<2 {
            #expect(try await client.all(upper).compactMap(\.title) == ["UPPER", "UPPER"])
            #expect(try await client.all(lower).compactMap(\.title) == ["lower", "lower"])
            #expect(try await client.all(Self.entries).compactMap(\.title) == ["none", "none"])
        }
    }

    @Test("requests that differ in metadata only, or whose values are equal, keep one another's answers")
    func equalValues() async throws {
        let folder = try TemporaryFolder(), rank = Mutex(1)
        let (client, transport) = try Self.client(folder, ["Cache-Control": "max-age=60"]) { rank.withLock(\.self) }
        let other = Self.entries.metadata("first", at: "x")
        let edited = Self.entries.editing { _, _ in }
        for request in [Self.entries, other, edited, Self.entries, other, edited] {
            #expect(try await client.all(request).compactMap(\.rank) == [1, 1])
        }
        #expect(transport.requests.count == 3)
        // A newer response brings other values: that of the plain request still answers.
        rank.withLock { $0 = 2 }
        #expect(try await client.all(other.policy(.networkOnly)).compactMap(\.rank) == [2, 2])
        #expect(try await client.all(Self.entries).compactMap(\.rank) == [2, 2])
        #expect(transport.requests.count == 4)
    }

    @Test("a response that is outdated so still lists its records, and answers no request without the network")
    func outdated() async throws {
        let folder = try TemporaryFolder(), (client, _) = try Self.client(folder, ["Cache-Control": "max-age=60"])
        let english = Self.entries.header("Accept-Language", "en"),
            german = Self.entries.header("Accept-Language", "de")
        _ = try await client.all(english)
        _ = try await client.all(german)
        #expect(try client.cache.entries(listing: "Entry", RecordKey(1)).count == 2)
        #expect(try await client.all(german.policy(.cacheOnly)).compactMap(\.title) == ["de", "de"])
        await #expect(throws: CacheError.self) { try await client.all(english.policy(.cacheOnly)) }
    }

    /// A client of a server that has other records, or another title, for each user.
    private static func users(
        _ folder: TemporaryFolder, sharing: Bool = false, vary: Bool = false,
        configure: (inout Description) -> Void = { _ in }
    ) throws -> (RecordClient, AnsweringTransport) {
        let transport = AnsweringTransport { request in
            let user = request.headers["X-Api-Key"] ?? "none", id = sharing ? 1 : user.utf8.reduce(0) { $0 + Int($1) }
            var fields = ["Cache-Control": "max-age=60", "ETag": "\"\(user)\""]
            if vary { fields["Vary"] = "Accept, X-Api-Key" }
            if request.headers["If-None-Match"] == fields["ETag"] { return .init(status: 304, fields: fields) }
            return .init(fields: fields, body: "[{\"id\":\(id),\"title\":\"\(user)\"}]")
        }
        let client = try RecordClient(
            base: "https://x.example", records: Entry.self, store: folder("a.tarn"), transport: transport,
            configure: configure)
        return (client, transport)
    }

    @Test(
        "a response to a request with a credential in a header field answers no request with another one",
        arguments: [false, true])
    func credentials(vary: Bool) async throws {
        let folder = try TemporaryFolder(), (client, transport) = try Self.users(folder, vary: vary)
        func titles(_ user: String) async throws -> [String] {
            try await client.all(Self.entries.header("X-Api-Key", user)).compactMap(\.title)
        }
        // At the same time they share no transfer.
        async let first = titles("ada"), second = titles("bob")
        #expect(try await [first, second] == [["ada"], ["bob"]])
        // Both are fresh.
        for user in ["ada", "bob", "ada"] { #expect(try await titles(user) == [user]) }
        #expect(transport.requests.count == 2)
        await #expect(throws: CacheError.self) {
            try await client.all(Self.entries.header("X-Api-Key", "eve").policy(.cacheOnly))
        }
        let list = try await client.list(Self.entries.header("X-Api-Key", "eve"))
        #expect(try list.state.items.isEmpty)
        // Two processes, or two clients, whose API has the field.
        for user in ["eve", "ada"] {
            let (other, _) = try Self.users(folder) { $0.api.headers = [.init("x-api-key", user)] }
            #expect(try await other.all(Self.entries).compactMap(\.title) == [user])
        }
    }

    @Test(
        "a response that an account's response to the same URL has followed, with other values, is requested anew",
        arguments: [false, true])
    func accounts(isAtomic: Bool) async throws {
        let folder = try TemporaryFolder()
        func client(_ user: String) throws -> RecordClient {
            try Self.users(folder, sharing: true) {
                $0.api.authentication = .apiKey(.value(Secret(user)), .header("X-Api-Key"))
            }.0
        }
        for user in ["ada", "bob", "ada", "ada", "bob"] {
            let client = try client(user)
            let entries =
                isAtomic
                ? try await client.batch([Self.entries], atomic: true)[0] : try await client.all(Self.entries)
            #expect(entries.compactMap(\.title) == [user])
        }
        await #expect(throws: CacheError.self) { try await client("ada").all(Self.entries.policy(.cacheOnly)) }
        #expect(try await client("bob").all(Self.entries.policy(.cacheOnly)).compactMap(\.title) == ["bob"])
    }

    @Test("a response of another user that changes a shared record is requested anew for the first one")
    func sharedRecords() async throws {
        let folder = try TemporaryFolder(), (client, transport) = try Self.users(folder, sharing: true)
        for user in ["ada", "bob", "ada", "ada", "bob"] {
            #expect(try await client.all(Self.entries.header("X-Api-Key", user)).compactMap(\.title) == [user])
        }
        #expect(transport.requests.count == 4)
        #expect(!transport.requests.contains { $0.headers["If-None-Match"] != nil })
        let both = try await client.batch(
            ["ada", "bob"].map { Self.entries.header("X-Api-Key", $0) }, atomic: true)
        #expect(Set(both.flatMap(\.self).compactMap(\.title)).count == 1)
        for user in ["ada", "bob"] {
            #expect(try await client.all(Self.entries.header("X-Api-Key", user)).compactMap(\.title) == [user])
        }
    }

    @Test("the store has no digest of a credential in a header field that a guess could be compared with")
    func digests() async throws {
        func entry(_ user: String) async throws -> (variant: String, others: [String?]) {
            let folder = try TemporaryFolder(), (client, _) = try Self.users(folder, sharing: true)
            _ = try await client.all(Self.entries.header("X-Api-Key", user))
            let entry = try #require(try client.cache.entries(listing: "Entry", RecordKey(1)).first)
            return (
                entry.request.variant,
                [entry.valueVariant, entry.request.endpoint, entry.request.authScope, entry.listing.identity]
            )
        }
        let (ada, bob, again) = try await (entry("ada"), entry("bob"), entry("ada"))
        #expect(ada.others == bob.others)
        // The hash is keyed by the store.
        #expect(ada.variant.utf8.count == 32 && ada.variant != again.variant)
    }
}
