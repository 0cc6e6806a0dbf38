// Limits, purging, collecting, and the tables afterwards.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Cache upkeep", .timeLimit(.minutes(5)))
struct CacheUpkeepTests {
    /// A separate list for every value of a parameter: `/items?n=5` lists the item 5, and the item
    /// 0.
    private func transport() -> ClosureTransport {
        ClosureTransport { request in
            let number = request.url.split(separator: "=").last.flatMap { Int($0) } ?? 0
            return TransportResponse(
                status: 200,
                headers: TransportHeaders([.init("Cache-Control", "max-age=100000"), .init("ETag", "\"a\"")]),
                body: Array(#"[{"id":\#(number),"name":"n"},{"id":0,"name":"zero"}]"#.utf8))
        }
    }

    private func request(_ number: Int) -> CacheRequest { CacheRequest("items", parameters: [.init("n", "\(number)")]) }

    private func isStored(_ number: Int, _ cache: RecordCache) async throws -> Bool {
        do throws(CacheError) {
            _ = try await cache.fetch(request(number), policy: .cacheOnly)
            return true
        } catch {
            if case .unanswerable = error { return false }
            throw error
        }
    }

    @Test("what has not answered for a long time goes first when there are too many entries; what was used stays")
    func leastRecentlyUsed() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(entries: 20) }
        for number in 1...20 {
            _ = try await cache.fetch(request(number))
            fixture.clock.pass(100)
        }
        // The first is the oldest, and used again and again. A sample of eight of twenty-one may
        // miss others, never take it before them.
        for number in 21...60 {
            fixture.clock.pass(100)
            #expect(try await cache.fetch(request(1)).source == .stored)
            _ = try await cache.fetch(request(number))
            #expect(try cache.totals.entries == 20)
        }
        #expect(try await isStored(60, cache))
        var left = 0
        for number in 2...20 where try await isStored(number, cache) { left += 1 }
        #expect(left < 10)
    }

    @Test(
        "an age beyond all time removes nothing, and one below zero removes what there is",
        arguments: [Int.max, 99_999_999_999_999, 1 << 53])
    func agesWithoutMeasure(_ age: Int) async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(entries: 3, age: age) }
        for number in 1...5 { _ = try await cache.fetch(request(number)) }
        #expect(try await cache.trim() == 0)
        #expect(try await cache.purge(.olderThan(seconds: age)) == 0)
        #expect(try cache.totals.entries == 3)
        #expect(try await cache.purge(.olderThan(seconds: -age - 1)) == 3)
    }

    @Test("a limit of bytes is kept too, and trim() brings a cache within limits that are smaller than before")
    func bytes() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let free = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits() }
        for number in 1...30 { _ = try await free.fetch(request(number)) }
        let before = try free.totals
        #expect(before.entries == 30)
        let bound = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(bytes: before.bytes / 3) }
        let removed = try await bound.trim()
        let after = try bound.totals
        #expect(removed == 30 - after.entries && after.bytes <= before.bytes / 3 && after.entries > 5)
        #expect(try fixture.count() == 31)
    }

    @Test("what is too old goes when a cache is trimmed")
    func age() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(age: 1000) }
        _ = try await cache.fetch(request(1))
        fixture.clock.pass(900)
        _ = try await cache.fetch(request(2))
        fixture.clock.pass(200)
        #expect(try await cache.trim() == 1)
        #expect(try await isStored(2, cache))
        #expect(try await isStored(1, cache) == false)
    }

    @Test(
        "what was confirmed while the clock was ahead is beyond any age, unless the clock is behind now",
        arguments: [true, false])
    func ageOfTheFuture(isBehind: Bool) async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(age: 1000) }
        // The clock of the fixture is one of 2001.
        let present = isBehind ? 0.0 : 30 * 365 * 86_400
        fixture.clock.pass(present + 400 * 86_400)
        for number in 1...2 { _ = try await cache.fetch(request(number)) }
        fixture.clock.pass(-400 * 86_400)
        #expect(try await cache.purge(.olderThan(seconds: 1000)) == (isBehind ? 0 : 2))
        fixture.clock.pass(400 * 86_400)
        for number in 1...2 { _ = try await cache.fetch(request(number)) }
        fixture.clock.pass(-400 * 86_400)
        #expect(try await cache.trim() == (isBehind ? 0 : 2))
    }

    @Test("of ever-changing requests, the commits themselves remove what is beyond the age limit")
    func ageWithoutTrim() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(age: 1000) }
        for number in 1...300 {
            _ = try await cache.fetch(request(number))
            fixture.clock.pass(100)
        }
        #expect(try cache.totals.entries < 30)
        for number in 292...300 { #expect(try await isStored(number, cache)) }
    }

    @Test("entries that were used while the clock was ahead go first, unless they are used again")
    func usedAhead() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(nil, transport: transport()) { $0.limits = CacheLimits(entries: 20) }
        fixture.clock.pass(400 * 86_400)
        for number in 1...10 { _ = try await cache.fetch(request(number)) }
        fixture.clock.pass(-400 * 86_400)
        for number in 11...60 {
            fixture.clock.pass(100)
            _ = try await cache.fetch(request(number))
        }
        let now = Timestamp(fixture.clock.source.now())
        let ahead = try fixture.store.read { reader in
            var count = 0
            try reader.access.responses.forEach { view in
                if view.usedAt > now { count += 1 }
                return true
            }
            return count
        }
        #expect(try cache.totals.entries == 20)
        #expect(ahead < 5)
    }

    @Test("entries are purged by URL, prefix, entity and age; records stay")
    func purge() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: transport())
        func fill() async throws {
            for number in [1, 2, 10, 11] { _ = try await cache.fetch(request(number)) }
        }
        let base = "https://api.test.example/v1/items?n="
        try await fill()
        #expect(try await cache.purge(.url(base + "1")) == 1)
        #expect(try cache.totals.entries == 3)
        try await fill()
        #expect(try await cache.purge(.prefix(base + "1")) == 3)
        #expect(try await isStored(2, cache))
        try await fill()
        #expect(try await cache.purge(.entity("Item")) == 4)
        await #expect(throws: StoreError.self) { try await cache.purge(.entity("Nothing")) }
        try await fill()
        fixture.clock.pass(100)
        _ = try await cache.fetch(request(1), policy: .networkFirst)
        #expect(try await cache.purge(.olderThan(seconds: 50)) == 3)
        #expect(try await cache.purge(.all) == 1)
        #expect(try cache.totals == CacheTotals())
        #expect(try fixture.count() == 5)
    }

    @Test("a purge of thousands goes in steps, for all who ask")
    func manySteps() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML(api: "  auth: { bearer: { env: TOKEN } }"))
        for token in ["ada", "bob"] {
            let cache = try fixture.cache(nil, transport: transport(), environment: ["TOKEN": token])
            for number in 1...600 { _ = try await cache.fetch(request(number), copying: .keys) }
        }
        let cache = try fixture.cache(nil, transport: transport(), environment: ["TOKEN": "ada"])
        #expect(try await cache.purge(.prefix("https://api.test.example/")) == 1200)
        #expect(try cache.totals == CacheTotals())
    }

    @Test("a long URL is purged as itself, and not for another one that begins like it")
    func longURLs() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: transport())
        let long = String(repeating: "x", count: 500)
        let requests = ["1", "2"].map { CacheRequest("items", parameters: [.init("q", long + $0)]) }
        for request in requests { _ = try await cache.fetch(request) }
        #expect(try await cache.purge(.url("https://api.test.example/v1/items?q=\(long)1")) == 1)
        #expect(try await cache.fetch(requests[1], policy: .cacheOnly).source == .stored)
    }

    private static let graph = """
        api: { base: 'https://api.test.example' }
        entities:
          User: { key: id, attributes: { id: int } }
          Issue:
            key: id
            attributes: { id: int }
            relationships: { author: { to: User, inverse: issues } }
          Label: { key: id, attributes: { id: int } }
        endpoints:
          issues: { path: /issues, entity: Issue }
        """

    @Test("records that nothing reaches are counted, and removed only when that is asked for")
    func collect() async throws {
        let fixture = try CacheFixture(yaml: Self.graph)
        let cache = try fixture.cache(
            nil,
            transport: ClosureTransport { _ in
                TransportResponse(status: 200, body: Array(#"[{"id":1,"author":{"id":7}}]"#.utf8))
            })
        _ = try await cache.fetch(CacheRequest("issues"))
        try await fixture.store.write { writer in
            try writer.put("Issue", RecordKey(2), [.init("author", .reference(RecordKey(7)))])
            try writer.put("Issue", RecordKey(3), [.init("author", .reference(RecordKey(8)))])
            try writer.put("User", RecordKey(8), [])
            try writer.put("Label", RecordKey(9), [])
        }
        let dry = try await cache.collect(roots: [])
        #expect(dry.unreachable == ["Issue": 2, "User": 1, "Label": 1] && dry.deleted == 0 && dry.reached == 2)
        #expect(try await cache.collect(roots: ["Label"]).unreachable == ["Issue": 2, "User": 1])
        // From the author to its other issue, and not further.
        #expect(
            try await cache.collect(roots: ["Label"], through: ["User.issues"]).unreachable == ["Issue": 1, "User": 1])
        await #expect(throws: StoreError.self) { try await cache.collect(roots: ["Nothing"]) }
        await #expect(throws: StoreError.self) { try await cache.collect(roots: [], through: ["User.nothing"]) }
        let report = try await cache.collect(roots: ["Label"], isDryRun: false)
        #expect(report.deleted == 3 && report.unreachable.isEmpty)
        #expect(try ["Issue", "User", "Label"].map(fixture.count) == [1, 1, 1])
        #expect(try await cache.fetch(CacheRequest("issues"), policy: .cacheOnly).records.count == 1)
    }

    @Test("a record to which a queued deletion refers is not collected: its request or its discard needs it")
    func collectBesideQueue() async throws {
        let fixture = try CacheFixture(yaml: Self.graph), cache = try fixture.cache(nil, transport: transport())
        try await fixture.store.write { writer in
            try writer.put("User", RecordKey(8), [])
            try writer.put("Issue", RecordKey(3), [.init("author", .reference(RecordKey(8)))])
            try writer.enqueueDelete("Issue", RecordKey(3))
        }
        #expect(try await cache.collect(roots: [], isDryRun: false).deleted == 0)
        _ = try await fixture.store.write { try $0.discardOperation(1) }
        #expect(try fixture.store.read { try $0.record("Issue", RecordKey(3))?["author"] } == .reference(RecordKey(8)))
        #expect(try fixture.count("User") == 1)
        #expect(try await cache.collect(roots: [], isDryRun: false).deleted == 2)
    }

    @Test("a record to which an operation begins to refer while others are collected stays")
    func collectBesideQueueing() async throws {
        let fixture = try CacheFixture(yaml: Self.graph), store = fixture.store, author = RecordKey(8)
        try await store.write { writer in
            try writer.put("User", author, [])
            try writer.put("Label", RecordKey(3), [])
            try writer.put("Issue", RecordKey(1), [])
        }
        try await store.write { try $0.putLocally("Issue", RecordKey(1), [.init("author", .reference(author))]) }
        let sequence = try store.read { try $0.sequence }
        let cache = try fixture.cache(nil, transport: transport()) { options in
            options.client.interleave = {
                _ = try? await store.write { writer in
                    let request = OutboxRequest(related: [OutboxRecord("Label", RecordKey(3))])
                    return try writer.enqueueUpdate(
                        "Issue", RecordKey(1), [.init("author", .reference(author))], request)
                }
            }
        }
        #expect(try await cache.collect(roots: [], isDryRun: false).deleted == 0)
        #expect(try ["Issue", "User", "Label"].map(fixture.count) == [1, 1, 1])
        // The operation has changed no record.
        #expect(try store.read { try $0.sequence } == sequence)
    }

    @Test("a collection that other writers always overtake ends when its task is cancelled")
    func cancelledCollection() async throws {
        let fixture = try CacheFixture(yaml: Self.graph), store = fixture.store, rounds = Mutex(0)
        try await store.write { try $0.put("Label", RecordKey(0), []) }
        let cache = try fixture.cache(nil, transport: transport()) { options in
            options.client.interleave = {
                let round = rounds.withLock { rounds in
                    rounds += 1
                    return rounds
                }
                if round == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                // The others would go on; a collection that did not end would fail the test only.
                if round < 50 { _ = try? await store.write { try $0.put("Label", RecordKey(Int64(round)), []) } }
            }
        }
        let collection = Task { try await cache.collect(roots: [], isDryRun: false) }
        await #expect(throws: CancellationError.self) { try await collection.value }
        let labels = try fixture.count("Label")
        #expect(rounds.withLock(\.self) == 3 && labels == 4)
    }

    @Test("a record that a response begins to list while others are collected stays, with all that it leads to")
    func collectBesideFetch() async throws {
        let fixture = try CacheFixture(yaml: Self.graph)
        let transport = ClosureTransport { _ in
            TransportResponse(status: 200, body: Array(#"[{"id":1,"author":{"id":7}}]"#.utf8))
        }
        let other = try fixture.cache(nil, transport: transport)
        _ = try await other.fetch(CacheRequest("issues"))
        #expect(try await other.purge(.all) == 1)
        let sequence = try fixture.store.read { try $0.sequence }
        let cache = try fixture.cache(nil, transport: transport) { options in
            options.client.interleave = { _ = try? await other.fetch(CacheRequest("issues")) }
        }
        let report = try await cache.collect(roots: [], isDryRun: false)
        #expect(report.deleted == 0 && report.unreachable.isEmpty)
        #expect(try ["Issue", "User"].map(fixture.count) == [1, 1])
        // The response has changed no record.
        #expect(try fixture.store.read { try $0.sequence } == sequence)
    }

    @Test("many requests for the same at the same time are one transfer, and all have the answer")
    func collapsed() async throws {
        let gate = Gate(),
            origin = Origin { _ in
                await gate.wait()
                return TransportResponse(
                    status: 200, headers: TransportHeaders([.init("Cache-Control", "max-age=60")]),
                    body: Array(twoItems.utf8))
            }
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: origin.transport)
        let answers = try await withThrowingTaskGroup(of: CachedAnswer.self) { group in
            for _ in 0..<20 { group.addTask { try await cache.fetch(CacheRequest("items")) } }
            while origin.requests.isEmpty { await Task.yield() }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.records.count == 2 } && origin.requests.count == 1)
    }

    @Test("the caches of a store count what they have, whatever happens to it, and the tables agree")
    func totals() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(nil, transport: transport())
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let number = Int.random(in: 1...12, using: &numbers)
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0:
                try await fixture.store.write { _ = try $0.delete("Item", RecordKey(Int64(number)), ifVersion: nil) }
            case 1: _ = try await cache.purge(.prefix("https://api.test.example/v1/items?n=\(number)"))
            case 2: _ = try await cache.fetch(request(number), policy: .networkOnly)
            default: _ = try await cache.fetch(request(number))
            }
        }
        let expected = try fixture.store.read { reader in
            try (1...12).compactMap { number -> ResponseEntry? in
                try cache.entries(listing: "Item", RecordKey(Int64(number))).first {
                    $0.request.url.hasSuffix("=\(number)")
                }
            }.count
        }
        #expect(try cache.totals.entries == expected)
        _ = try await cache.purge(.all)
        #expect(try cache.totals == CacheTotals())
    }
}
