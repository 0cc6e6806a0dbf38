// Versions that writes require although the responses that have named them cannot be confirmed.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: kept versions", .timeLimit(.minutes(2)))
struct KeptVersionTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = RecordKey(1)
    private static let entities = """
        User:
          key: id
          attributes: { id: int }
          relationships: { assigned: { to: [Issue], inverse: assignee, on_delete: nullify } }
          write: { delete: 'DELETE /users/{id}' }
        Label: { key: name, attributes: { name: string } }
        Issue:
          key: id
          attributes: { id: int, title: string }
          relationships: { assignee: { to: User, inverse: assigned }, labels: { to: [Label] } }
          write:
            update: 'PATCH /issues/{id}'
            delete: 'DELETE /issues/{id}'
            relationships: { labels: { add: 'PUT /issues/{id}/labels/{member.name}' } }
        """

    private static func title(_ text: String) -> [Record.Field] { [.init("title", .string(text))] }

    @Test("a record that has lost its reference to a deleted one is changed as the version that was known")
    func nullified() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","assignee":{"id":5}}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        try await place.store.write { _ = try $0.delete("User", RecordKey(5), ifVersion: nil) }
        #expect(try place.field("assignee") == .null)
        record.change(#"{"id":1,"title":"theirs","assignee":{"id":5}}"#)
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
    }

    @Test("each change of a list has an idempotency key of its own")
    func keysOfListChanges() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            request.method == "GET" ? record.read(request) : Answer(status: "204 No Content")
        }
        try await place.sync()
        try await place.store.write { writer in
            for name in ["a", "b"] { try writer.put("Label", RecordKey(name), []) }
        }
        try await place.outbox().add([RecordKey("a"), RecordKey("b")], to: "labels", of: "Issue", Self.key)
        let report = try await place.outbox().drain()
        #expect(report.sent == 2, "\(report)")
        let changes = place.changes.filter { $0.method == "PUT" }
        #expect(changes.map { $0.target.split(separator: "/").last } == ["a", "b"])
        #expect(Set(changes.compactMap { $0.field("Idempotency-Key") }).count == 2)
    }

    @Test("a list that was fetched while the clock was ahead does not hide the version of its record")
    func listOfTheFuture() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","assignee":{"id":5}}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        try await place.store.write { writer in
            _ = try writer.delete("User", RecordKey(5), ifVersion: nil)
            var found: ResponseEntry?
            try writer.access.responses.forEach { view in
                if view.url.hasSuffix("/issues") { found = view.entry }
                return found == nil
            }
            var list = try #require(found)
            list.validation.validatedAt.microseconds += 7200 * 1_000_000
            try writer.putResponse(list)
        }
        record.change(#"{"id":1,"title":"theirs","assignee":{"id":5}}"#)
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
    }

    @Test("a response that was fetched while the clock was ahead does not hide the version of an answer to a change")
    func answerAfterFuture() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            record.change(#"{"id":1,"title":"mine"}"#)
            return Answer(status: "204 No Content", fields: ["ETag: \"v2\""])
        }
        try await place.sync()
        let url = place.server.base + "/issues/1"
        try await place.store.write { writer in
            var found: ResponseEntry?
            try writer.access.responses.forEach { view in
                if view.url == url { found = view.entry }
                return found == nil
            }
            var entry = try #require(found)
            entry.validation.validatedAt.microseconds += 7200 * 1_000_000
            try writer.putResponse(entry)
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, Self.title("mine"))
        #expect(try await outbox.drain().sent == 1)
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await outbox.update("Issue", Self.key, Self.title("later"))
        let report = try await outbox.drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#])
    }

    @Test("a deletion that has removed a reference at the server is no conflict with a later change of that record")
    func nullifiedAtServer() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","assignee":{"id":5}}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            if request.method == "DELETE" { record.change(#"{"id":1,"title":"a","assignee":null}"#) }
            return Answer(status: "204 No Content")
        }
        try await place.sync()
        try await place.outbox(.server).delete("User", RecordKey(5))
        #expect(try await place.outbox(.server).drain().sent == 1)
        try await place.outbox(.server).update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox(.server).drain()
        #expect(report.sent == 1 && report.withdrawn == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [nil, nil])
    }

    @Test(
        "a response that is stored between the answer to a change and its end does not hide the version of the answer")
    func storedMeanwhile() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), isHeld = Mutex(true)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            for _ in 0..<2000 where isHeld.withLock(\.self) { usleep(5000) }
            return Answer(status: "204 No Content", fields: ["ETag: \"v2\""])
        }
        try await place.sync()
        let outbox = place.outbox(), url = place.server.base + "/issues/1"
        try await outbox.update("Issue", Self.key, Self.title("mine"))
        let sending = Task { try await outbox.drain() }
        try await eventually { place.changes.count == 1 }
        // The drain waits for this write to end.
        try await place.store.write { writer in
            isHeld.withLock { $0 = false }
            for _ in 0..<2000 where outbox.validators[url] == nil { usleep(5000) }
            var found: ResponseEntry?
            try writer.access.responses.forEach { view in
                if view.url == url { found = view.entry }
                return found == nil
            }
            var entry = try #require(found)
            (entry.validation.fetchedAt, entry.validation.validatedAt) = (.now, .now)
            try writer.putResponse(entry)
        }
        #expect(try await sending.value.sent == 1)
        try await outbox.update("Issue", Self.key, Self.title("later"))
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#])
    }

    @Test(
        "the version that the answer to a change names is required by the next one, after a restart, too",
        arguments: [true, false])
    func answer(hasTag: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            record.change(#"{"id":1,"title":"mine"}"#)
            return hasTag ? record.read(request) : Answer(status: "204 No Content")
        }
        try await place.sync()
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        #expect(try await place.outbox().drain().sent == 1)
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.outbox().update("Issue", Self.key, Self.title("later"))
        let report = try await place.outbox().drain()
        // Without a version, the server notices nothing.
        #expect(report.dead == (hasTag ? 1 : 0) && report.sent == (hasTag ? 0 : 1), "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, hasTag ? #""v2""# : nil])
        // The stored response is of the version before: no 304 may confirm it.
        let count = place.server.requests.count
        #expect(await APIMirror(place.client).sync().failures.isEmpty)
        #expect(place.server.requests.dropFirst(count).allSatisfy { $0.field("If-None-Match") == nil })
    }

    @Test("the version that another process's change has named is newer than the own one before it")
    func changedByOtherOutbox() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
            record.change(#"{"id":1,"title":"changed"}"#)
            return record.read(request)
        }
        try await place.sync()
        let outbox = place.outbox(), other = place.outbox()
        for (sender, title) in [(outbox, "first"), (other, "second"), (outbox, "third")] {
            try await sender.update("Issue", Self.key, Self.title(title))
            let report = try await sender.drain()
            #expect(report.sent == 1 && report.conflicts == 0, "\(title): \(report)")
        }
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, #""v2""#, #""v3""#])
    }

    @Test("after a queued deletion is discarded, the record is changed as the version that was known")
    func deletionDiscarded() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        let deletion = try #require(try await place.outbox().delete("Issue", Self.key))
        try await place.outbox().discard(deletion)
        #expect(try place.field("title") == .string("a"))
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
    }

    @Test("a queued deletion keeps the version of its record, and one that was sent leaves no response")
    func deletionSent() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            request.method == "GET" ? record.read(request) : Answer(status: "204 No Content")
        }
        func responses() throws -> Int {
            let root = try #require(place.store.catalog.entity("Issue")).root
            let listed = ListedRecord(entity: root, storageKey: Self.key.storageKey)
            return try place.store.read { try $0.access.responses.ids(listing: listed).count }
        }
        try await place.sync()
        #expect(try responses() == 2)
        try await place.outbox().delete("Issue", Self.key)
        // The list has no version.
        #expect(try responses() == 1)
        #expect(try await place.outbox().drain().sent == 1)
        #expect(try responses() == 0)
    }

    @Test("a deletion keeps the version of a response that is newer than an earlier change of the process")
    func newerThanOwn() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            guard request.method == "PATCH" else { return Answer(status: "204 No Content") }
            record.change(#"{"id":1,"title":"mine"}"#)
            return record.read(request)
        }
        try await place.sync()
        try await place.store.write { try $0.put("Label", RecordKey("bug"), []) }
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, Self.title("mine"))
        #expect(try await outbox.drain().sent == 1)
        record.change(#"{"id":1,"title":"theirs"}"#)
        try await place.sync()
        try await outbox.add([RecordKey("bug")], to: "labels", of: "Issue", Self.key)
        try await outbox.delete("Issue", Self.key)
        #expect(try await outbox.drain().sent == 2)
        #expect(place.writes.suffix(2) == ["PUT /issues/1/labels/bug", "DELETE /issues/1"])
        #expect(place.changes.last?.field("If-Match") == #""v3""#)
    }

    @Test("a response under way while another record's change was sent gives the version of its own record")
    func besideOvertaken() async throws {
        let state = Mutex((version: 1, isHeld: false, held: 0))
        let place = try ScriptedOutbox(Self.entities) { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            if request.target == "/issues" { return Answer(body: #"[{"id":1,"title":"a"},{"id":2,"title":"a"}]"#) }
            if request.target == "/issues/1" { return Answer(body: #"{"id":1,"title":"a"}"#) }
            let version = state.withLock { state in
                if state.isHeld { state.held += 1 }
                return state.version
            }
            for _ in 0..<2000 where state.withLock(\.isHeld) { usleep(5000) }
            return Answer(fields: ["ETag: \"v\(version)\""], body: #"{"id":2,"title":"t\#(version)"}"#)
        }
        try await place.sync()
        state.withLock { ($0.version, $0.isHeld) = (2, true) }
        async let synced: Void = place.sync()
        try await eventually { state.withLock(\.held) > 0 }
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, Self.title("mine"))
        #expect(try await outbox.drain().sent == 1)
        state.withLock { $0.isHeld = false }
        try await synced
        #expect(try place.field("title", of: RecordKey(2)) == .string("t2"))
        try await outbox.update("Issue", RecordKey(2), Self.title("mine"))
        #expect(try await outbox.drain().sent == 1)
        #expect(place.changes.last?.field("If-Match") == #""v2""#)
    }

    @Test("a response under way while its own record's change was sent gives no version: it may have the one before")
    func overtaken() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#), state = Mutex((isHeld: false, held: 0))
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method != "GET" {
                if record.isStale(request) { return Answer(status: "412 Precondition Failed") }
                record.change(#"{"id":1,"title":"mine"}"#)
                return Answer(status: "204 No Content")
            }
            let answer = record.read(request)
            guard request.target == "/issues/1" else { return answer }
            state.withLock { if $0.isHeld { $0.held += 1 } }
            for _ in 0..<2000 where state.withLock(\.isHeld) { usleep(5000) }
            return answer
        }
        try await place.sync()
        state.withLock { $0.isHeld = true }
        async let synced: Void = place.sync()
        try await eventually { state.withLock(\.held) > 0 }
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        #expect(try await place.outbox().drain().sent == 1)
        state.withLock { $0.isHeld = false }
        try await synced
        // As after a restart: no answer to this outbox gives a version.
        let outbox = place.outbox()
        try await outbox.update("Issue", Self.key, Self.title("later"))
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.conflicts == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#, nil])
    }

    @Test("a record of which a reference was left out for now is changed as the version that was read")
    func leftOut() async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","desk":null}"#)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { desk: { to: Desk, inverse: issue } }
              write: { update: 'PATCH /issues/{id}' }
            Desk: { key: id, attributes: { id: int }, relationships: { issue: { to: Issue, inverse: desk } } }
            """
        ) { request in
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.sync()
        // Another record has the desk by a local change.
        try place.draft(["desk": .reference(RecordKey(5))], 2)
        record.change(#"{"id":1,"title":"theirs","desk":{"id":5}}"#)
        try await place.sync()
        #expect(try place.field("title") == .string("theirs") && place.field("desk") == .null)
        record.change(#"{"id":1,"title":"later","desk":{"id":5}}"#)
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v2""#])
    }

    @Test(
        "a record that another one's unique value keeps as it was is changed as the version that the store has",
        arguments: [1, 2], [false, true])
    func notUnique(syncs: Int, isListedAgain: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","slug":"x"}"#)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string?, slug: { type: string, unique: true } }
              write: { update: 'PATCH /issues/{id}' }
            """
        ) { request in
            if request.target == "/issues/2" { return Answer(body: #"{"id":2,"slug":"y"}"#) }
            if request.method == "GET" { return record.read(request) }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        try await place.store.write { try $0.put("Issue", RecordKey(2), [.init("slug", .string("y"))]) }
        try await place.sync()
        record.change(#"{"id":1,"title":"theirs","slug":"y"}"#)
        for _ in 0..<syncs { try await place.sync() }
        // The list alone has the record later than the response that has named the version.
        if isListedAgain { try await place.sync(["issues"]) }
        #expect(try place.field("title") == .string("a") && place.field("slug") == .string("x"))
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.sent == 0, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [#""v1""#])
    }

    @Test(
        "a server that demands a precondition gets the version that is read then, which is no conflict",
        arguments: ["server", "client", "per field"], [true, false])
    func demanded(policy: String, isDeletion: Bool) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a"}"#)
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method == "GET" { return record.read(request) }
            if request.field("If-Match") == nil { return Answer(status: "428 Precondition Required") }
            return Answer(status: record.isStale(request) ? "412 Precondition Failed" : "204 No Content")
        }
        // Without a response, no version is known.
        try await place.store.write { try $0.put("Issue", Self.key, Self.title("a")) }
        let outbox = place.outbox(policy == "server" ? .server : policy == "client" ? .client : .perField)
        if isDeletion {
            try await outbox.delete("Issue", Self.key)
        } else {
            try await outbox.update("Issue", Self.key, Self.title("mine"))
        }
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.withdrawn == 0 && report.remaining.isEmpty, "\(report)")
        #expect(place.changes.map { $0.field("If-Match") } == [nil, #""v1""#])
    }

    @Test(
        "a precondition that cannot be made, or that does not help, ends in a dead letter", arguments: [nil, "W/", ""])
    func demandedInVain(weakness: String?) async throws {
        let place = try ScriptedOutbox(Self.entities) { request in
            if request.method != "GET" { return Answer(status: "428 Precondition Required") }
            let body = #"{"id":1,"title":"a"}"#
            return Answer(fields: weakness.map { ["ETag: \($0)\"v1\""] } ?? [], body: body)
        }
        try await place.store.write { try $0.put("Issue", Self.key, Self.title("a")) }
        try await place.outbox().update("Issue", Self.key, Self.title("mine"))
        let report = try await place.outbox().drain()
        #expect(report.dead == 1 && report.remaining.pending == 0, "\(report)")
        #expect(place.changes.count == (weakness == "" ? 2 : 1))
    }
}
