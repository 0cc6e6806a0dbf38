// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The examples of the page "Observing changes", verbatim and run.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("The page Observing changes", .timeLimit(.minutes(1)))
struct ObservingChangesTests {
    private static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("state", .string, optional: true)]),
        EntityDefinition("User", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
    ])

    private let folder: URL
    private let store: Store

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tarn-observing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try Self.open(folder, "s")
    }

    private static func open(_ folder: URL, _ name: String) throws -> Store {
        try Store.open(at: folder.appending(path: name).path, schema: schema, options: Store.Options(durability: .volatile))
    }

    private func put(_ id: Int64, _ state: String) throws {
        try store.write { try $0.put("Issue", RecordKey(id), [.init("state", .string(state))]) }
    }

    @Test("every example of the page stands here")
    func examples() throws {
        let page = try DocumentationPage("ObservingChanges")
        let missing = try page.examples(missingIn: #filePath, "Tests/TarnMacrosTests/ObservingChangesPageTests.swift")
        #expect(page.examples.count == 14 && missing == [])
    }

    @Test("the examples about the change log do what they say")
    func changeLog() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var touched: [RecordKey] = [], gone: [RecordKey] = []
        let bookmark = folder.appending(path: "bookmark")
        try put(1, "open")
        let (count, token) = try store.read { reader in
            (try reader.count("Issue"), try reader.changeToken)
        }
        #expect(count == 1)
        try put(1, "closed")
        try put(2, "open")
        try store.write { _ = try $0.delete("Issue", RecordKey(1)) }

        let page = try store.read { try $0.changes(since: token, of: ["Issue"]) }
        for change in page.changes {
            switch change.operation {
            case .created, .updated: touched.append(change.key)
            case .deleted: gone.append(change.key)
            }
        }
        try Data(page.token.description.utf8).write(to: bookmark)
        #expect(touched == [RecordKey(1), RecordKey(2)] && gone == [RecordKey(1)])
        #expect(try ChangeToken(String(contentsOf: bookmark, encoding: .utf8)) == page.token)

        let old = try #require(ChangeToken("other:0"))
        do {
            _ = try store.read { try $0.changes(since: old) }
        } catch ChangeLogError.changesTrimmed(let oldest) {
            print("what was before \(oldest) is gone")
        } catch ChangeLogError.otherIncarnation {
            print("another store, or one that was restored from a backup")
        } catch ChangeLogError.changesAhead {
            print("the store has lost its last commits")
        }

        try store.setChangeRetention(ChangeRetention(age: .seconds(30 * 86400), share: 0.25))
        #expect(try store.changeRetention.share == 0.25)
    }

    @Test("the examples about copies do what they say")
    func copies() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = try Self.open(folder, "copy")
        let beginning = try store.read { try $0.changeToken }
        try store.setChangeValues(.all)
        for round in 0..<2 {
            try put(1, "state \(round)")
            try put(2, "open")

            let start = try copy.read { try $0.changePosition("forge") } ?? beginning
            let changes = try store.read { try $0.changes(since: start) }
            try copy.write { writer in
                try writer.apply(changes.changes)
                try writer.setChangePosition("forge", changes.token)
            }
            #expect(changes.changes.count == 2 - round)
            for id in [1, 2] as [Int64] {
                #expect(try copy.read { try $0.record("Issue", RecordKey(id))?.fields } == store.read { try $0.record("Issue", RecordKey(id))?.fields })
            }
        }
    }

    @Test("the examples about observing do what they say")
    func observing() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await store.write { try $0.put("Issue", RecordKey(1), [.init("state", .string("open"))]) }
        let store = store
        Task {
            try await store.write { try $0.put("Issue", RecordKey(1), [.init("state", .string("closed"))]) }
        }

        for try await open in store.observe(Query("Issue", where: .compare("state", .equal, .string("open")))) {
            print("\(open.value.count) are open as of commit \(open.sequence)")
            if open.value.isEmpty { break }
        }
        #expect(try store.read { try $0.record("Issue", RecordKey(1))?["state"] } == .string("closed"))

        let totals = store.observe(entities: ["Issue", "User"]) { reader in
            [try reader.count("Issue"), try reader.count("User")]
        }
        for try await total in totals {
            #expect(total.value == [1, 0])
            break
        }
    }
}
