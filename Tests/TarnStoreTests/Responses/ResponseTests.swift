// Entries of responses and the records they list; checkpoints.

import Foundation
import Locking
import TestSupport
import Testing

@testable import TarnStore

@Suite("Responses and checkpoints")
struct ResponseTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func request(_ page: Int) -> RequestKey {
        RequestKey(url: "https://api.example.org/issues?page=\(page)", endpoint: "issues:1", authScope: "scope")
    }

    private func entry(_ page: Int, _ issues: [Int64], scan: UInt64 = 1) -> ResponseEntry {
        ResponseEntry(
            request: request(page),
            validation: .init(
                status: 200, headers: ["etag", "\"\(page)\"", "link", ""], fetchedAt: Timestamp(microseconds: 1),
                validatedAt: Timestamp(microseconds: -2)),
            listing: .init(
                issues.map { ListedRecord(entity: 3, storageKey: RecordKey($0).storageKey) }, count: issues.count + 1,
                metadata: "{\"total\":1}", scan: scan))
    }

    private func put(_ entries: ResponseEntry...) throws {
        try store.write { writer in for entry in entries { try writer.putResponse(entry) } }
    }

    private func response(_ page: Int) throws -> ResponseEntry? {
        let request = request(page)
        return try store.read { try $0.response(to: request) }
    }

    /// The numbers of entries in the tables for responses.
    private func counts() throws -> [Int] {
        try store.read { reader in
            let state = reader.access.state
            return try [state.requests.table, state.responses, state.urls, state.members].map {
                try reader.access.raw.statistics($0).entries
            }
        }
    }

    /// The ids of responses in the order of the table of requests.
    private func idsByRequest(_ store: Store) throws -> [UInt64] {
        try store.read { reader in
            let cursor = try reader.access.raw.cursor(reader.access.state.requests)
            defer { cursor.close() }
            var ids: [UInt64] = [], entry = try cursor.first()
            while let (key, value) = entry {
                #expect(key.count == 32)
                ids.append(value.loadBigEndian(0, UInt64.self))
                entry = try cursor.next()
            }
            return ids
        }
    }

    @Test("the responses of record caches are counted by mapping, those of earlier versions once")
    func mappings() throws {
        func cached(_ page: Int, _ mapping: String?) -> ResponseEntry {
            var entry = entry(page, [1])
            entry.caching = ResponseCaching(
                requestedAt: Timestamp(microseconds: 1), selecting: [], usedAt: Timestamp(microseconds: 1))
            entry.mapping = mapping
            return entry
        }
        func others(than mapping: String) throws -> Bool {
            try store.read { try $0.access.responses.hasCaches(butOf: mapping) }
        }
        try put(entry(1, [1]))
        #expect(try !others(than: "a") && store.read { try $0.access.responses.hasMirrors })
        try put(cached(2, "a"), cached(3, "a"))
        #expect(try !others(than: "a") && others(than: "b"))
        try put(cached(3, "b"))
        #expect(try others(than: "a") && others(than: "b"))
        try put(cached(2, "b"))
        #expect(try others(than: "a") && !others(than: "b"))
        try put(cached(4, nil))
        #expect(try others(than: "b"))
        func forget() throws {
            try store.write { writer in
                _ = try writer.access.raw.delete(writer.access.state.meta.table, Bytes(MetaKey.cacheMappings))
            }
        }
        try forget()
        #expect(try others(than: "b"))
        try put(cached(4, "b"))
        #expect(try !others(than: "b"))
        try store.write { writer in
            for page in [2, 3, 4] {
                let id = try #require(try writer.access.responses.view(request(page).digest)?.id)
                try writer.removeResponse(id: id)
            }
        }
        #expect(try !others(than: "a"))
    }

    @Test("a response that a program without the numbers by mapping has stored beside them is counted by an import")
    func mappingsOfEarlierProgram() throws {
        func cached(_ page: Int, _ mapping: String?) -> ResponseEntry {
            var entry = entry(page, [1])
            entry.caching = ResponseCaching(
                requestedAt: Timestamp(microseconds: 1), selecting: [], usedAt: Timestamp(microseconds: 1))
            entry.mapping = mapping
            return entry
        }
        func collects() throws -> Bool {
            try store.write { writer in
                try writer.responses.beginCollecting(butOf: "a", withMirrors: false)
                return writer.responses.updated != nil
            }
        }
        /// Stores an entry as a program does that leaves the numbers as they are.
        func putUncounted(_ entry: ResponseEntry) throws {
            try store.write { writer in
                let responses = writer.access.responses, raw = responses.raw, meta = responses.state.meta
                let before = try #require(try raw.get(meta, key: MetaKey.cacheMappings).map { Array($0) })
                try writer.putResponse(entry)
                var text = ByteWriter()
                text.append(before)
                try raw.put(meta, Bytes(MetaKey.cacheMappings), text.bytes)
            }
        }
        try put(cached(2, "a"))
        // A whole response has no mapping.
        var whole = cached(7, nil)
        whole.caching?.bodySize = 2
        try put(whole)
        #expect(try !collects())
        try putUncounted(cached(3, nil))
        try put(entry(4, [1]), cached(5, "a"))
        #expect(try collects() && collects())
        func remove(_ page: Int) throws {
            try store.write { writer in
                let id = try #require(try writer.access.responses.view(request(page).digest)?.id)
                try writer.removeResponse(id: id)
            }
        }
        // It is removed before it is counted.
        try putUncounted(cached(6, nil))
        try remove(6)
        #expect(try collects())
        try remove(3)
        #expect(try !collects())
        // As in a store from before the last counted response was noted.
        try putUncounted(cached(8, nil))
        try store.write { writer in
            _ = try writer.access.raw.delete(writer.access.state.meta.table, Bytes(MetaKey.countedResponses))
        }
        #expect(try collects())
    }

    @Test("if the values of a field are removed, no response can be confirmed, and no list requests changes only")
    func fieldRemoved() throws {
        try store.put("Issue", 1, ["title": .string("t"), "number": .int(1)])
        try store.put("Issue", 2, ["title": .string("t")])
        // The second response has the first issue inside of the second one, or may have it.
        try put(entry(1, [1, 2]), entry(2, [2]))
        var list = Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: Timestamp(microseconds: 1))
        try store.write { [list] in try $0.setCheckpoint("labels", list) }
        list.since = "2026-01-01T00:00:00Z"
        try store.write { [list] in try $0.setCheckpoint("issues", list) }
        // A first scan whose value may be on its last page, and the checkpoint of its sync.
        var first = Checkpoint(
            state: .underWay, plan: "p", nextURL: "n", scan: 1, startedAt: Timestamp(microseconds: 1))
        try store.write { [first] in try $0.setCheckpoint("users", first) }
        first.nextURL = nil
        try store.write { [first] in try $0.setCheckpoint("*", first) }
        #expect(try store.remove(field: "number", of: "Issue") == 1)
        #expect(
            try response(1)?.validation.headers == ["link", ""] && response(2)?.validation.headers == ["link", ""])
        let (issues, labels) = try store.read { (try $0.checkpoint("issues"), try $0.checkpoint("labels")) }
        #expect(issues?.since == nil && issues?.plan == "" && labels?.plan == "p")
        let (users, sync) = try store.read { (try $0.checkpoint("users"), try $0.checkpoint("*")) }
        #expect(users?.plan == "" && users?.nextURL == nil && sync == first)
    }

    @Test("a response that is stored while the values of a field are removed cannot be confirmed either")
    func storedDuringRemoval() throws {
        for id: Int64 in [1, 2] {
            try store.put("Issue", RecordKey(id), ["title": .string("t"), "number": .int(id)])
        }
        let store = store, entry = entry(3, [9]), hasBegun = Guarded(false)
        // The clock is read in the first step's transaction: a write that is queued then is
        // committed before the second step.
        store.changeClock.withLock {
            $0.now = { [unowned store] in
                let isFirst = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return !hasBegun
                }
                if isFirst {
                    Thread { [unowned store] in try? store.write { try $0.putResponse(entry) } }.start()
                    store.queue.await(1, atMost: .seconds(60))
                }
                return .now
            }
        }
        #expect(try store.remove(field: "number", of: "Issue", step: 1) == 2)
        #expect(hasBegun.withLock { $0 })
        #expect(try response(3)?.validation.headers == ["link", ""])
    }

    @Test("if a removed field had no values, responses stay as they are")
    func emptyFieldRemoved() throws {
        try store.put("Issue", 1, ["title": .string("t")])
        try put(entry(1, [1]))
        #expect(try store.remove(field: "number", of: "Issue") == 0)
        #expect(try response(1)?.validation.headers.count == 4)
    }

    @Test("the validators of a response go once in a transaction, and again if it is stored anew there")
    func validatorsRemoved() throws {
        let record = ListedRecord(entity: 3, storageKey: RecordKey(1).storageKey)
        try put(entry(1, [1, 2]), entry(2, [2]))
        try store.write { writer in
            try writer.responses.removeValidators(ofResponsesListing: record)
            try writer.responses.removeValidators(ofResponsesListing: record)
        }
        #expect(try response(1)?.validation.headers == ["link", ""] && response(2)?.validation.headers.count == 4)
        try store.write { writer in
            try writer.putResponse(entry(1, [1, 2]))
            try writer.responses.removeValidators(ofResponsesListing: record)
            try writer.putResponse(entry(1, [1, 2]))
        }
        #expect(try response(1)?.validation.headers.count == 4)
        try store.write { writer in
            try writer.responses.removeValidators(ofResponsesListing: record)
            try writer.putResponse(entry(1, [1]))
            try writer.responses.removeValidators(ofResponsesListing: record)
        }
        #expect(try response(1)?.validation.headers == ["link", ""])
    }

    @Test("requests that differ in a number lie side by side, in its order")
    func nearRequests() throws {
        try store.write { writer in
            for page in 1...1200 { try writer.putResponse(entry(page, [])) }
        }
        #expect(try idsByRequest(store) == Array(1...1200))
        // A digest follows the position: the sums of the numbers are equal.
        var a = request(0), b = request(0)
        (a.url, b.url) = ("https://api.example.org/a/1/b/2", "https://api.example.org/a/2/b/1")
        try store.write { [a, b] writer in
            for request in [a, b] {
                var entry = entry(1, [])
                entry.request = request
                try writer.putResponse(entry)
            }
        }
        for request in [a, b] {
            let found = try response(to: request, store)
            #expect(found?.request == request)
        }
        // Numbers of any length.
        var long = request(0)
        long.url = "https://api.example.org/" + String(repeating: "9", count: 400)
        #expect(try response(to: long, store) == nil)
    }

    private func response(to request: RequestKey, _ store: Store) throws -> ResponseEntry? {
        try store.read { try $0.response(to: request) }
    }

    @Test("a store of the first format keeps its form of the keys of requests, and finds by it")
    func firstFormat() throws {
        let path = folder("first")
        try EarlierFormat.make(1, at: path)
        do {
            let first = try Forge.open(path)
            try first.write { writer in for page in 1...300 { try writer.putResponse(entry(page, [])) } }
        }
        let first = try Forge.open(path)
        #expect(first.state.format == 1 && store.state.format == Store.format)
        for page in [1, 17, 300] {
            let found = try response(to: request(page), first)
            #expect(found == entry(page, []))
        }
        let ids = try idsByRequest(first)
        #expect(ids != ids.sorted() && ids.sorted() == Array(1...300))
        // By the SHA-256 of the text alone.
        let text = "GET\n\(request(17).url)\nissues:1\nscope"
        let digest = Array(text.utf8).withUnsafeBytes { SHA256.digest($0) }
        let id = try first.read { reader in
            try digest.withUnsafeBytes {
                try reader.access.raw.get(reader.access.state.requests, $0)?.loadBigEndian(0, UInt64.self)
            }
        }
        #expect(id == 17)
        try first.write { try $0.access.responses.remove(id: 17) }
        #expect(try response(to: request(17), first) == nil)
        #expect(try idsByRequest(first).count == 299)
    }

    @Test("an entry comes back as it was, and no other request finds it")
    func entryComesBack() throws {
        try put(entry(1, [5, 3, 4], scan: .max))
        #expect(try response(1) == entry(1, [5, 3, 4], scan: .max))
        #expect(try response(2) == nil)
        for change: (inout RequestKey) -> Void in [
            { $0.method = "HEAD" }, { $0.url += "&x" }, { $0.endpoint = "issues:2" }, { $0.authScope = "" },
        ] {
            var other = request(1)
            change(&other)
            let found = try store.read { [other] in try $0.response(to: other) }
            #expect(found == nil)
        }
        #expect(try store.read { try $0.responseCount } == 1)
    }

    @Test("an entry without scope, metadata, headers and records comes back as well")
    func smallestEntry() throws {
        let small = ResponseEntry(
            request: RequestKey(url: "", endpoint: ""),
            validation: .init(
                status: 304, fetchedAt: Timestamp(microseconds: 0), validatedAt: Timestamp(microseconds: 0)),
            listing: .init(count: 0))
        try put(small)
        #expect(try store.read { try $0.response(to: small.request) } == small)
    }

    @Test("an entry is replaced by the next of the same request; its members follow by difference")
    func entryIsReplaced() throws {
        try put(entry(1, [1, 2, 3]), entry(2, [3]))
        #expect(try counts() == [2, 2, 2, 4])
        try put(entry(1, [4, 2], scan: 2))
        #expect(try response(1) == entry(1, [4, 2], scan: 2))
        #expect(try counts() == [2, 2, 2, 3])
        // A record that is no longer listed does not remove the entry when it is deleted; a listed
        // one does.
        try store.put("Issue", RecordKey(1))
        try store.put("Issue", RecordKey(4))
        _ = try store.write { try $0.delete("Issue", RecordKey(1)) }
        #expect(try response(1) != nil)
        _ = try store.write { try $0.delete("Issue", RecordKey(4)) }
        #expect(try response(1) == nil)
        #expect(try counts() == [1, 1, 1, 1])
    }

    @Test("deleting a record removes the entries that list it, and no others")
    func deletionRemovesEntriesThatListIt() throws {
        try store.write { writer in
            for id: Int64 in 1...3 { try writer.put("Issue", RecordKey(id), []) }
            try writer.put("User", RecordKey(2), [])
        }
        try put(entry(1, [1, 2]), entry(2, [2, 3]), entry(3, [3]))
        _ = try store.write { try $0.delete("User", RecordKey(2)) }
        #expect(try counts() == [3, 3, 3, 5])
        _ = try store.write { try $0.delete("Issue", RecordKey(2)) }
        #expect(try response(1) == nil)
        #expect(try response(2) == nil)
        #expect(try response(3) == entry(3, [3]))
        #expect(try counts() == [1, 1, 1, 1])
    }

    @Test("ids of responses are never reused")
    func idsAreNeverReused() throws {
        func lastID() throws -> [UInt8]? {
            try store.read { reader in try reader.access.keys(of: reader.access.state.responses).last }
        }
        try store.put("Issue", RecordKey(1))
        try put(entry(1, [1]))
        let first = try lastID()
        _ = try store.write { try $0.delete("Issue", RecordKey(1)) }
        try put(entry(1, [1]))
        #expect(try lastID() != first)
    }

    @Test("URLs of any length, and those that begin with each other, are kept apart")
    func longURLs() throws {
        let urls = [399, 400, 401, 5000].map { "https://api.example.org/" + String(repeating: "x", count: $0) }
        for (number, url) in urls.enumerated() {
            var entry = entry(1, [Int64(number)])
            entry.request.url = url
            try put(entry)
        }
        for (number, url) in urls.enumerated() {
            var request = request(1)
            request.url = url
            let found = try store.read { [request] in try $0.response(to: request)?.listing.listed.first?.storageKey }
            #expect(found == RecordKey(Int64(number)).storageKey)
        }
        #expect(try counts() == [4, 4, 4, 4])
    }

    @Test("an entry that lists thousands of records, some twice, comes back in its order")
    func longList() throws {
        let issues = (0..<5000).map { Int64($0 * 7 % 4000) }
        try put(entry(1, issues))
        // Compared outside: to show how long lists differ takes more memory than there is.
        let isInOrder = try response(1)?.listing.listed.map(\.storageKey) == issues.map { RecordKey($0).storageKey }
        #expect(isInOrder)
        #expect(try counts()[3] == Set(issues).count)
    }

    @Test("checkpoints come back by name, are replaced, and are listed; names may be long or empty")
    func checkpoints() throws {
        let long = String(repeating: "name ", count: 200)
        func checkpoint(_ pages: Int) -> Checkpoint {
            Checkpoint(
                state: .underWay, plan: "plan \(pages)", nextURL: "https://x.example/?page=\(pages)", scan: .max,
                startedAt: Timestamp(microseconds: 5)
            ).counting(pages: pages, records: -1)
        }
        let names = ["issues", "", "issues\0", long, long + "2"]
        for (number, name) in names.enumerated() { try store.write { try $0.setCheckpoint(name, checkpoint(number)) } }
        for (number, name) in names.enumerated() {
            #expect(try store.read { try $0.checkpoint(name) } == checkpoint(number))
        }
        #expect(try store.read { try $0.checkpoint("other") } == nil)
        let complete = Checkpoint(
            state: .complete, plan: "", scan: 0, startedAt: Timestamp(microseconds: 0),
            completedAt: Timestamp(microseconds: .max))
        try store.write { try $0.setCheckpoint("issues", complete) }
        #expect(try store.read { try $0.checkpoint("issues") } == complete)
        var listed: [String] = []
        try store.read { reader in try reader.forEachCheckpoint { name, _ in listed.append(name) } }
        #expect(listed == ["", "issues", "issues\0", "(a long name)", "(a long name)"])
    }

    @Test("a checkpoint and a response of a write that throws are not kept")
    func failedWriteKeepsNothing() throws {
        struct Stop: Error {}
        let entry = entry(1, [1])
        #expect(throws: Stop.self) {
            try store.write { writer in
                try writer.putResponse(entry)
                throw Stop()
            }
        }
        #expect(try counts() == [0, 0, 0, 0])
    }
}
