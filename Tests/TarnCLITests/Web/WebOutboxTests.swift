// The outbox in the inspector's page, without a browser.

import Foundation
import TarnInspect
import TarnInspectWeb
import TarnStore
import TestSupport
import Testing

@Suite("Inspector: page, outbox")
struct WebOutboxTests {
    private func ids(_ answer: [String: Any]) -> [String] {
        (answer["operations"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }

    @Test("the operations of each state, and their numbers, are those of the outbox")
    func states() throws {
        let unsent = try UnsentStore(), page = InspectPage(store: unsent.path)
        func wanted(_ filter: String?) throws -> [String] {
            var ids: [String] = []
            try unsent.store.read { reader in
                try reader.outbox.forEach { operation in
                    let states =
                        [operation.state.rawValue]
                        + (operation.failure != nil && operation.state == .pending
                            ? ["failed"] : [])
                    if filter.map(states.contains) ?? true { ids.append(String(operation.id)) }
                    return true
                }
            }
            return ids
        }
        let all = try page.object("outbox")
        #expect(try ids(all) == wanted(nil) && ids(all).count == 9 && all["next"] == nil)
        for state in ["pending", "sending", "failed", "dead"] {
            #expect(
                try ids(page.object("outbox?state=\(state)")) == wanted(state) && !wanted(state).isEmpty, "\(state)")
        }
        let counts = ["pending": 7, "sending": 1, "failed": 1, "dead": 1, "total": 9]
        #expect(all["counts"] as? [String: Int] == counts)
        let overview = try page.object("overview")
        #expect(overview["outbox"] as? [String: Int] == counts && overview["hasOutbox"] as? Bool == true)
        #expect(page.ask("outbox?state=sent").status == 400)
        #expect(page.ask("outbox?after=zz").text.contains("is not a position"))
    }

    @Test("an operation has its values, its attempts, its failure, its idempotency key and what it waits for")
    func parts() throws {
        let unsent = try UnsentStore(), page = InspectPage(store: unsent.path)
        let entries = try unsent.store.read { reader in
            let outbox = reader.outbox
            return try (1...9).compactMap { try outbox.entry($0) }
        }
        #expect(entries.map(\.operation.id) == Array(1...9))
        for entry in entries {
            let operation = entry.operation, id = operation.id
            let found = try #require(try page.object("operation?id=\(id)")["operation"] as? [String: Any])
            #expect(found["kind"] as? String == operation.kind.rawValue)
            #expect(found["entity"] as? String == operation.entity)
            #expect(found["record"] as? String == UnsentStore.place(operation.key))
            #expect(found["attempts"] as? Int == operation.attempts)
            #expect(found["idempotencyKey"] as? String == operation.idempotencyKey.uuidString.lowercased())
            let waits = found["waits"] as? [[String: Any]] ?? []
            #expect(
                waits.map { "\($0["id"] ?? "") \($0["reason"] ?? "")" }
                    == entry.waitsFor.map { "\($0.operation) \($0.reason.rawValue)" })
            #expect(found["areWaitsWhole"] as? Bool == true)
            let changes = found["changes"] as? [[String: Any]] ?? []
            #expect(changes.map { $0["name"] as? String } == operation.changes.map(\.name))
            #expect(changes.map { $0["before"] != nil } == operation.changes.map { $0.before != nil })
        }
        let failed = try #require(try page.object("operation?id=1")["operation"] as? [String: Any])
        let failure = try #require(failed["failure"] as? [String: Any])
        #expect(failure["status"] as? Int == 503 && failure["message"] as? String == UnsentStore.hostile)
        #expect(failure["excerpt"] as? String == "{\"error\":\"later\"}")
        #expect(3500...3600 ~= failed["pause"] as? Int ?? 0 && failed["notBefore"] is String)
        let created = try #require(try page.object("operation?id=4")["operation"] as? [String: Any])
        let after = (created["changes"] as? [[String: Any]] ?? []).compactMap { $0["after"] as? [String: Any] }
        #expect(after.contains { $0["kind"] as? String == "text" && $0["text"] as? String == "null" })
        let targets = after.flatMap { $0["targets"] as? [[String: String]] ?? [] }
        #expect(targets.contains { $0["key"] == "9" && $0["state"] == "missing" })
        let refused = try #require(try page.object("operation?id=3")["operation"] as? [String: Any])
        let title = (refused["changes"] as? [[String: Any]])?.first?["after"] as? [String: Any]
        #expect(title?["kind"] as? String == "null")
        let added = try #require(try page.object("operation?id=8")["operation"] as? [String: Any])
        #expect((added["members"] as? [[String: String]])?.map { $0["state"] } == ["missing"])
        let deleted = try #require(try page.object("operation?id=7")["operation"] as? [String: Any])
        #expect((deleted["deleted"] as? [[String: Any]])?.contains { $0["text"] as? String == "title 6" } == true)
        let none = try page.object("operation?id=99")
        #expect(none["operation"] == nil && none["isUnreadable"] as? Bool == false)
        #expect(page.ask("operation").status == 400 && page.ask("operation?id=x").status == 400)
    }

    @Test("a record has its unsent changes, its local fields, and the server's values that are known")
    func record() throws {
        let unsent = try UnsentStore(), page = InspectPage(store: unsent.path)
        func record(_ key: RecordKey) throws -> [String: Any] {
            try page.object("record?entity=Issue&key=\(UnsentStore.place(key))")
        }
        let first = try record(RecordKey(1)), local = try #require(first["local"] as? [String: Any])
        #expect(ids(first) == ["1", "9"] && first["mayHaveMoreOperations"] as? Bool == false)
        #expect(local["operation"] as? String == "update" && local["fields"] as? [String] == ["title", "state"])
        #expect(ids(try record(RecordKey(8))).isEmpty)
        let deleted = try record(RecordKey(6))
        #expect(deleted["isStored"] as? Bool == false && ids(deleted) == ["7"])
        #expect((deleted["local"] as? [String: Any])?["operation"] as? String == "delete")
        let limited = try page.object("record?entity=Issue&key=\(UnsentStore.place(RecordKey(1)))&limit=1")
        #expect(ids(limited) == ["1"] && limited["mayHaveMoreOperations"] as? Bool == true)
    }

    @Test("a page of the outbox reads a bounded part of it; a filter continues until it has found its operations")
    func bounds() throws {
        let folder = try TemporaryFolder(), path = folder("many.tarn"), count: Int64 = 6000
        let schema = Schema([
            EntityDefinition("Thing", key: ["id"], attributes: [.init("id", .int), .init("name", .string)])
        ])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        let name = String(repeating: "a name of some length ", count: 10)
        try store.write { writer in
            for number in 1...count {
                try writer.enqueueCreate(
                    "Thing", .client(RecordKey(number)), [.init("name", .string("\(name)\(number)"))])
            }
            try writer.buryOperation(UInt64(count), OutboxFailure(kind: "refused", message: "no"))
        }
        let page = InspectPage(store: path), size = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")).count
        var found: [String] = [], after = "", isFirst = true
        repeat {
            let before = try WebPageTests.bytesRead()
            let answer = try page.object("outbox?limit=200\(after)")
            #expect(try WebPageTests.bytesRead() - before < size / 4)
            #expect(!isFirst || ids(answer).count == 200)
            (found, isFirst) = (found + ids(answer), false)
            guard let next = answer["next"] as? String else { break }
            after = "&after=\(next)"
        } while true
        #expect(found == (1...count).map { String($0) })
        var dead: [String] = [], answers = 0
        after = ""
        repeat {
            let answer = try page.object("outbox?state=dead\(after)")
            #expect(answer["examined"] as? Int ?? 0 <= 5000)
            dead += ids(answer)
            answers += 1
            guard let next = answer["next"] as? String else { break }
            after = "&after=\(next)"
        } while true
        #expect(dead == ["\(count)"] && answers > 1)
        withExtendedLifetime(store) {}
    }

    @Test("a damaged operation is named, and the others are listed; a damaged page of the outbox is named, too")
    func damaged() throws {
        var unsent: UnsentStore? = try UnsentStore()
        let (folder, path) = try #require(unsent.map { ($0.folder, $0.path) })
        unsent = nil
        try change(path) { data in
            var start = data.startIndex
            while let range = data.range(of: Data(UnsentStore.refusal.utf8), in: start..<data.endIndex) {
                data[range.lowerBound] ^= 1
                start = range.upperBound
            }
        }
        let page = InspectPage(store: path), all = try page.object("outbox")
        #expect(ids(all) == ["1", "2", "4", "5", "6", "7", "8", "9"] && all["counts"] is [String: Int])
        let damages = try #require(all["damages"] as? [String])
        #expect(damages.contains { $0.contains("outbox operation 3") && $0.contains("checksum") }, "\(damages)")
        let third = try page.object("operation?id=3")
        #expect(third["isUnreadable"] as? Bool == true && third["operation"] == nil)
        let record = try page.object("record?entity=Issue&key=\(UnsentStore.place(RecordKey(3)))")
        #expect(record["mayHaveMoreOperations"] as? Bool == true && record["isChangedLocally"] as? Bool == true)
        #expect((record["damage"] as? String)?.contains("outbox operation 3") == true)
        try change(path) { data in
            // The leaf pages with the message, changed as it is.
            let text = Data([UnsentStore.refusal.utf8.first.map { $0 ^ 1 } ?? 0] + UnsentStore.refusal.utf8.dropFirst())
            for start in stride(from: 2 * 4096, to: data.count, by: 4096)
            where data[start + 10] == 2 && data[start..<start + 4096].range(of: text) != nil {
                data.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
            }
        }
        let rest = try page.object("outbox"), named = rest["damages"] as? [String] ?? []
        #expect(named.contains { $0.contains("page") && $0.contains("outbox") }, "\(named)")
        #expect(!ids(rest).contains("3") && rest["next"] == nil)
        #expect(try page.object("operation?id=3")["isUnreadable"] as? Bool == true)
        withExtendedLifetime(folder) {}
    }

    @Test("a file that is no store is named by every view, and a store without operations has an empty outbox")
    func otherFiles() throws {
        let folder = try TemporaryFolder(), file = try folder.write("foreign.mdb", "no store")
        let foreign = InspectPage(store: file)
        for view in ["outbox", "operation?id=1", "progress", "lists?endpoint=02"] {
            let (status, text) = foreign.ask(view)
            #expect(status == 500 && text.contains("foreign.mdb"), "\(view): \(status) \(text)")
        }
        let path = folder("empty.tarn")
        let schema = Schema([EntityDefinition("Thing", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        let empty = InspectPage(store: path), all = try empty.object("outbox")
        #expect(ids(all).isEmpty && (all["counts"] as? [String: Int])?["total"] == 0 && all["next"] == nil)
        #expect(try (empty.object("progress")["endpoints"] as? [Any])?.isEmpty == true)
        withExtendedLifetime(store) {}
    }

    /// Changes the data file.
    private func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        let url = URL(fileURLWithPath: path + "/data.mdb")
        var data = try Data(contentsOf: url)
        try body(&data)
        try data.write(to: url)
    }
}
