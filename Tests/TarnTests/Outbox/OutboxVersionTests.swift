// Refusals because of a record's version: preconditions, repeated refusals, and the way out.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: versions", .timeLimit(.minutes(2)))
struct OutboxVersionTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)
    private static let entities = """
        Issue:
          key: id
          attributes: { id: int, title: string, votes: int? }
          write: { update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}' }
        """

    private static func policy(_ name: String) -> ConflictPolicy {
        switch name {
        case "client": .client
        case "local": .perField(overlap: .local)
        case "hold": .perField
        default: .resolve { _, local, _ in [.init("title", local["title"] ?? .null)] }
        }
    }

    @Test(
        "a server that refuses every version ends in a dead letter with its message, and is not asked without end",
        arguments: ["client", "local", "code"], ["409", "412", "412 of another tag", "new tags", "repeated answer"])
    func refusedForEver(policy: String, mode: String) async throws {
        for isDeletion in [true, false] {
            let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
            let reads = Counter(), answers = Mutex<[String: Answer]>([:])
            let place = try ScriptedOutbox(Self.entities) { request in
                if request.method == "GET" {
                    var answer = record.read(request)
                    if mode == "412 of another tag" { answer.fields = [] }
                    if mode == "new tags" { answer.fields = ["ETag: \"t\(reads.next())\""] }
                    return answer
                }
                let refusal = Answer(
                    status: mode == "409" ? "409 Conflict" : "412 Precondition Failed", body: #"{"message":"locked"}"#)
                guard mode == "repeated answer" else { return refusal }
                let key = request.field("Idempotency-Key") ?? ""
                return answers.withLock { answers in
                    if let known = answers[key] { return known }
                    answers[key] = record.isStale(request) ? refusal : Answer(status: "204 No Content")
                    return answers[key] ?? refusal
                }
            }
            try await place.sync()
            let outbox = place.outbox(Self.policy(policy))
            record.change(#"{"id":1,"title":"theirs"}"#)
            if isDeletion {
                try await outbox.delete("Issue", Self.key)
            } else {
                try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
            }
            let report = try await outbox.drain()
            if mode == "repeated answer" {
                // The second version is sent with another key.
                #expect(report.sent == 1 && report.remaining.isEmpty && place.changes.count == 2, "\(report)")
                continue
            }
            #expect(report.dead == 1 && report.remaining.pending == 0, "\(report)")
            #expect(place.changes.count <= (mode == "new tags" ? 8 : 3), "\(place.writes)")
            #expect(try outbox.operations().first?.failure?.message.contains("locked") == true)
        }
    }

    @Test(
        "a pass remembers nothing of operations that have ended: it may last as long as changes are queued",
        arguments: [true, false])
    func endedOperations(isAccepted: Bool) async throws {
        let reads = Counter(), refused = Mutex<Set<String>>([])
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.target == "/issues" {
                return Answer(body: "[\((1...20).map { #"{"id":\#($0),"title":"a"}"# }.joined(separator: ","))]")
            }
            if request.method == "GET" {
                let id = request.target.dropFirst("/issues/".count)
                return Answer(fields: ["ETag: \"t\(reads.next())\""], body: #"{"id":\#(id),"title":"a"}"#)
            }
            // The first attempt of each is refused, or every one.
            let isFirst = refused.withLock { $0.insert(request.target).inserted }
            return Answer(status: isFirst || !isAccepted ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        let outbox = place.outbox(.client)
        for id in 1...20 { try await outbox.update("Issue", RecordKey(Int64(id)), [.init("title", .string("mine"))]) }
        let drain = try await OutboxDrain(outbox, concurrent: ["": 4])
        let report = try await drain.run(countsAll: true)
        #expect(report.sent == (isAccepted ? 20 : 0) && report.dead == (isAccepted ? 0 : 20), "\(report)")
        let left: [Int] = drain.state.withLock { [$0.claimed.count, $0.refusals.count, $0.read.count] }
        #expect(left == [0, 0, 0])
    }

    @Test("a deletion has the precondition of the version that was seen when it was queued, after a restart, too")
    func deletion() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            record.state.withLock { $0.isGone = true }
            return Answer(status: "204 No Content")
        }
        try await place.sync()
        try await place.outbox().delete("Issue", Self.key)
        record.change(#"{"id":1,"title":"theirs"}"#)
        let held = try await place.outbox().drain()
        #expect(held.dead == 1, "\(held)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
        let dead = try #require(try place.outbox().operations().first)
        #expect(dead.failure?.message.contains("title") == true)
        // The retry deletes the version that was held.
        try await place.outbox().retry(dead.id)
        #expect(try await place.outbox().drain().sent == 1)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#])
    }

    @Test(
        "a deletion behind an update has the version that the update has left, after a restart, too",
        arguments: [true, false])
    func deletionBehindUpdate(hasTag: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), count = Counter()
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            let number = count.next()
            if number == 1 { return Answer(status: "425 Too Early") }
            if number == 3 { return Answer(status: "503 Service Unavailable") }
            guard request.method == "PATCH" else {
                record.state.withLock { $0.isGone = true }
                return Answer(status: "204 No Content")
            }
            record.change(#"{"id":1,"title":"mine"}"#)
            return hasTag ? record.read(request) : Answer(status: "204 No Content")
        }
        try await place.sync()
        // The default delays: each operation waits for its retry.
        let first = place.client.outbox(conflicts: .server), tag: String? = hasTag ? #""v2""# : nil
        try await first.update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await first.drain().failed == 1)
        try await first.delete("Issue", Self.key)
        try await first.retry(try #require(try first.operations().first).id)
        let report = try await first.drain()
        #expect(report.sent == 1 && report.failed == 1, "\(report)")
        #expect(place.changes.count == 3 && place.changes.last?.field("If-Match") == tag, "\(place.writes)")
        let second = place.client.outbox(conflicts: .server)
        try await second.retry(try #require(try second.operations().first).id)
        let again = try await second.drain()
        #expect(again.sent == 1 && again.withdrawn == 0, "\(again)")
        #expect(place.changes.count == 4 && place.changes.last?.field("If-Match") == tag)
    }

    @Test("an update that is sent again before a queued deletion has the version that was known, after a restart, too")
    func updateBeforeDeletion() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), count = Counter()
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: count.next() == 1 ? "425 Too Early" : "204 No Content")
        }
        try await place.sync()
        // The default delays: the operation waits for its retry.
        let first = place.client.outbox()
        try await first.update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await first.drain().failed == 1)
        // The deletion removes the response that has the version.
        try await first.delete("Issue", Self.key)
        let second = place.client.outbox()
        try await second.retry(try #require(try second.operations().first).id)
        #expect(try await second.drain().sent == 2)
        #expect(place.writes == ["PATCH /issues/1", "PATCH /issues/1", "DELETE /issues/1"])
        #expect(place.changes.prefix(2).map { $0.field("If-Match") } == [#""v1""#, #""v1""#])
    }

    @Test(
        "an update behind a discarded one has the version that was known, after a restart, too",
        arguments: [true, false])
    func updateBehindDiscarded(isAttempted: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), isBusy = Mutex(isAttempted)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if isBusy.withLock(\.self) { return Answer(status: "425 Too Early") }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("mine"))])
        if isAttempted { #expect(try await place.client.outbox().drain().failed == 1) }
        try await place.outbox().discard(try #require(try place.outbox().operations().first).id)
        record.change(#"{"id":1,"title":"theirs"}"#)
        isBusy.withLock { $0 = false }
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("later"))])
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == Array(repeating: #""v1""#, count: isAttempted ? 2 : 1))
    }

    @Test(
        "a deletion has the version that an update of the same process has left, or that a later response has brought",
        arguments: [false, true])
    func deletionAfterUpdate(isChanged: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            guard request.method == "PATCH" else { return Answer(status: "204 No Content") }
            record.change(#"{"id":1,"title":"mine"}"#)
            return record.read(request)
        }
        try await place.sync()
        let first = place.outbox()
        try await first.update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await first.drain().sent == 1)
        if isChanged {
            record.change(#"{"id":1,"title":"theirs"}"#)
            try await place.sync()
        }
        try await first.delete("Issue", Self.key)
        // After a restart, too.
        #expect(try await place.outbox().drain().sent == 1)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, isChanged ? #""v3""# : #""v2""#])
    }

    @Test("a deletion behind an update whose answer was lost has the version that was read, after a restart, too")
    func deletionBehindRepeated() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), count = Counter()
        let entities = Self.entities.replacingOccurrences(of: "write: {", with: "write: { read: '/issues/{id}',")
        let place = try ScriptedOutbox(entities) { request in
            if request.method == "GET" { return record.read(request) }
            switch count.next() {
            case 1:
                record.change(#"{"id":1,"title":"mine"}"#)
                return Answer(status: "502 Bad Gateway")
            // The server knows the key of the update.
            case 2: return Answer(status: "204 No Content")
            case 3: return Answer(status: "503 Service Unavailable")
            default: return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
            }
        }
        try await place.sync()
        // The default delays: each operation waits for its retry.
        let first = place.client.outbox()
        try await first.update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await first.drain().failed == 1)
        try await first.delete("Issue", Self.key)
        try await first.retry(try #require(try first.operations().first).id)
        let report = try await first.drain()
        #expect(report.sent == 1 && report.failed == 1, "\(report)")
        let second = place.client.outbox()
        try await second.retry(try #require(try second.operations().first).id)
        #expect(try await second.drain().sent == 1)
        #expect(place.writes == ["PATCH /issues/1", "PATCH /issues/1", "DELETE /issues/1", "DELETE /issues/1"])
        #expect(place.changes.suffix(2).map { $0.field("If-Match") } == [#""v2""#, #""v2""#])
    }

    @Test("an update of a record that was created again does not have the version that its refused deletion has noted")
    func updateBehindRecreation() async throws {
        let entities = Self.entities.replacingOccurrences(of: "write: {", with: "write: { create: 'POST /issues',")
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(entities) { request in
            switch request.method {
            case "GET": record.read(request)
            case "DELETE": Answer(status: "422 No")
            case "POST": Answer(status: "201 Created", body: #"{"id":1,"title":"new"}"#)
            default: Answer(status: "204 No Content")
            }
        }
        try await place.sync()
        try await place.outbox().delete("Issue", Self.key)
        #expect(try await place.outbox().drain().dead == 1)
        try await place.outbox().create("Issue", [.init("title", .string("new"))], key: Self.key)
        #expect(try await place.outbox().drain().sent == 1)
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await place.outbox().drain().sent == 1)
        #expect(place.writes == ["DELETE /issues/1", "POST /issues", "PATCH /issues/1"])
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, nil, nil])
    }

    @Test("a 409 to the precondition of an older version is decided as a 412; a retry needs no sync")
    func conflictStatus() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","votes":1}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "409 Conflict", body: #"{"message":"changed"}"#) }
            return Answer(status: "204 No Content")
        }
        try await place.sync()
        record.change(#"{"id":1,"title":"a","votes":2}"#)
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("mine"))])
        #expect(try await place.outbox().drain().sent == 1)
        try await place.sync()
        record.change(#"{"id":1,"title":"theirs","votes":2}"#)
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("mine again"))])
        #expect(try await place.outbox().drain().dead == 1)
        try await place.outbox().retry(try #require(try place.outbox().operations().first).id)
        #expect(try await place.outbox().drain().sent == 1)
    }

    @Test("an outbox that goes on sending uses the entity tag of a response that is newer than its last write")
    func newerResponse() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","votes":1}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            record.change(#"{"id":1,"title":"a","votes":2}"#)
            return Answer(status: "204 No Content")
        }
        try await place.sync()
        let outbox = place.outbox(.server)
        try await outbox.update("Issue", Self.key, [.init("votes", .int(2))])
        #expect(try await outbox.drain().sent == 1)
        try await place.sync()
        record.change(#"{"id":1,"title":"theirs","votes":2}"#)
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.withdrawn == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#])
        #expect(try place.field("title") == .string("theirs"))
    }

    @Test("a record that is read for a refused deletion, and is another one, is not imported")
    func anotherRecord() async throws {
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method != "GET" { return Answer(status: "412 Precondition Failed") }
            if request.target == "/issues" { return Answer(body: #"[{"id":1,"title":"a"}]"#) }
            return Answer(body: #"{"id":9,"title":"another"}"#)
        }
        try await place.store.write { try $0.put("Issue", Self.key, [.init("title", .string("a"))]) }
        let outbox = place.outbox()
        try await outbox.delete("Issue", Self.key)
        #expect(try await outbox.drain().dead == 1)
        #expect(try outbox.operations().first?.failure?.message.contains("it is not Issue 1") == true)
        #expect(try place.field("title", of: RecordKey(9)) == nil)
    }

    @Test("a redirect that is refused is a dead letter that names the way out, and others are sent")
    func redirect() async throws {
        let entities = Self.entities.replacingOccurrences(of: "write: {", with: "write: { create: 'POST /issues',")
        let place = try ScriptedOutbox(entities) { request in
            guard request.method == "PATCH" else {
                return Answer(status: "201 Created", body: #"{"id":99,"title":"new"}"#)
            }
            return Answer(status: "307 Temporary Redirect", fields: ["Location: http://127.0.0.1:1/issues/1"])
        }
        let outbox = place.outbox()
        for id in Int64(1)...12 {
            try await place.store.write { try $0.put("Issue", RecordKey(id), [.init("title", .string("a"))]) }
            try await outbox.update("Issue", RecordKey(id), [.init("title", .string("b"))])
        }
        try await outbox.create("Issue", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        #expect(report.dead == 12 && report.sent == 1 && report.failed == 0, "\(report)")
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("the request has a body") && message.contains("write.base"), "\(message)")
    }

    @Test("a used-up rate limit is no attempt: the operation waits for its end")
    func rateLimit() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in
            Answer(status: "429 Too Many Requests", fields: ["Retry-After: 3600"])
        }
        let outbox = place.outbox()
        for id in Int64(1)...2 {
            try await place.store.write { try $0.put("Issue", RecordKey(id), [.init("title", .string("a"))]) }
            try await outbox.update("Issue", RecordKey(id), [.init("title", .string("b"))])
            let report = try await outbox.drain()
            #expect(report.failed == (id == 1 ? 1 : 0) && report.isLimited, "\(report)")
        }
        let operations = try outbox.operations()
        #expect(operations.map(\.attempts) == [1, 0] && place.changes.count == 1)
        let end = try #require(operations.last?.notBefore)
        #expect(end.date.timeIntervalSinceNow > 3000 && end.date.timeIntervalSinceNow < 3700)
    }

    @Test("a date that is far away delays an attempt by a day")
    func farDate() async throws {
        let place = try ScriptedOutbox(Self.entities) { _ in
            Answer(status: "503 Service Unavailable", fields: ["Retry-After: Wed, 21 Oct 2099 07:28:00 GMT"])
        }
        try await place.store.write { try $0.put("Issue", Self.key, [.init("title", .string("a"))]) }
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("b"))])
        #expect(try await place.outbox().drain().failed == 1)
        let end = try #require(try place.outbox().operations().first?.notBefore)
        #expect(end.date.timeIntervalSinceNow < 86_401)
    }

    @Test("Location of a 202 is no record: it may be a status monitor")
    func accepted() async throws {
        let entities = Self.entities.replacingOccurrences(of: "write: {", with: "write: { create: 'POST /issues',")
        let place = try ScriptedOutbox(entities) { request in
            if request.method == "GET" { return Answer(body: #"{"id":900,"title":"job"}"#) }
            return Answer(status: "202 Accepted", fields: ["Location: /jobs/900"])
        }
        let outbox = place.outbox()
        let key = try await outbox.create("Issue", [.init("title", .string("a"))])
        #expect(try await outbox.drain().dead == 1)
        #expect(place.server.requests.count == 1)
        #expect(try place.field("title", of: key) == .string("a") && place.field("title", of: RecordKey(900)) == nil)
    }

    @Test("the record of another server's answer may be at the API's own base")
    func ownBase() async throws {
        let own = Mutex("")
        let other = try ScriptedServer { _ in
            Answer(status: "201 Created", fields: ["Location: \(own.withLock(\.self))/issues/77"])
        }
        let entities = Self.entities.replacingOccurrences(
            of: "write: {", with: "write: { base: '\(other.base)/w', create: 'POST /issues',")
        let place = try ScriptedOutbox(entities) { _ in Answer(body: #"{"id":77,"title":"b"}"#) }
        own.withLock { $0 = place.server.base }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("a"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(try place.field("title", of: RecordKey(77)) == .string("b"))
    }

    @Test("a response that only an HTTP cache has stored gives no precondition: the record has not seen its version")
    func cachedResponse() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" {
                var answer = record.read(request)
                answer.fields.append("Cache-Control: max-age=60")
                return answer
            }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        record.change(#"{"id":1,"title":"theirs"}"#)
        let cached = CachedTransport(CurlTransport(), store: place.store)
        let answer = try await cached.answer(TransportRequest(url: place.server.base + "/issues/1"))
        #expect(answer.status.isStored)
        #expect(try await outbox.drain().dead == 1)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
    }

    @Test("a refusal that the server repeats for the key, because its first answer was lost, is decided anew")
    func lostRefusal() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","votes":1}"#)
        let answers = Mutex<[String: Answer]>([:])
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            let key = request.field("Idempotency-Key") ?? ""
            return answers.withLock { answers in
                if let known = answers[key] { return known }
                let answer = Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
                answers[key] = answer
                return answers.count == 1 ? Answer(status: "502 Bad Gateway") : answer
            }
        }
        try await place.sync()
        try await place.outbox().update("Issue", Self.key, [.init("title", .string("mine"))])
        record.change(#"{"id":1,"title":"a","votes":2}"#)
        // The default delay: the operation waits for its retry.
        #expect(try await place.client.outbox().drain().failed == 1)
        try await place.sync()
        try await place.outbox().retry(try #require(try place.outbox().operations().first).id)
        let report = try await place.outbox().drain()
        #expect(report.sent == 1 && report.dead == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#, #""v2""#])
        #expect(Set(place.changes.map { $0.field("Idempotency-Key") }).count == 2)
    }

    @Test("a response whose transfer began before a change was sent is not stored")
    func transferBeforeChange() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), isHeld = Mutex(false)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method != "GET" { return Answer(status: "204 No Content") }
            var answer = record.read(request)
            answer.fields.append("Cache-Control: max-age=60")
            for _ in 0..<2000 where isHeld.withLock(\.self) { usleep(10_000) }
            return answer
        }
        try await place.sync()
        let outbox = place.outbox(), url = place.server.base + "/issues/1", count = place.server.requests.count
        try await outbox.update("Issue", Self.key, [.init("title", .string("mine"))])
        isHeld.withLock { $0 = true }
        let cached = CachedTransport(CurlTransport(), store: place.store)
        async let older = cached.answer(TransportRequest(url: url))
        try await eventually { place.server.requests.count == count + 1 }
        let report = try await outbox.drain()
        isHeld.withLock { $0 = false }
        #expect(report.sent == 1, "\(report)")
        #expect(try await !older.status.isStored)
    }
}
