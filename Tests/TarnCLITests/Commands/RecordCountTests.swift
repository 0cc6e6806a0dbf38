// Record counts of commands: each record counts once.

import Foundation
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: counts of records")
struct RecordCountTests {
    /// Five events, three of which are pushes, one of those by force; two users.
    private func mirrored() async throws -> (
        folder: TemporaryFolder, file: String, store: String, sync: TarnProcess.Result
    ) {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api:
              base: https://api.test.example
            entities:
              Event:
                key: id
                attributes: { id: int, type: string }
                kinds: { Push: { type: push }, ForcedPush: { type: forced }, Event: {} }
              Push: { parent: Event, attributes: { branch: string? } }
              ForcedPush: { parent: Push }
              User: { key: id, attributes: { id: int } }
            endpoints:
              events: { path: /events, entity: Event, paginate: single_page }
              users: { path: /users, entity: User, paginate: single_page }
            """)
        let types = ["push", "note", "forced", "push", "note"]
        let events = types.enumerated().map { #"{"id":\#($0.offset),"type":"\#($0.element)"}"# }.joined(separator: ",")
        let server = try LocalServer([
            recording("/events", "[\(events)]"), recording("/users", #"[{"id":1},{"id":2}]"#),
        ])
        let sync = try await tarn("sync", "--file", file, "--base", server.base)
        expectSuccess(sync)
        let json = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        #expect(
            json.output.contains(#""records":{"Event":5,"User":2,"Push":3,"ForcedPush":1},"total":7,"#),
            "\(json.output)")
        return (folder, file, folder.path + "/tarn.tarn", sync)
    }

    @Test("a record of a kind is counted once in the totals of sync, stat, verify and salvage")
    func kindsAreCountedOnce() async throws {
        let (folder, _, store, sync) = try await mirrored()
        #expect(sync.lines.last == "store: 7 records: 5 Event (3 Push (1 ForcedPush)), 2 User", "\(sync.output)")
        let stat = try await tarn("inspect", "stat", store)
        #expect(
            stat.output.contains("\n7 records: 5 Event (3 Push (1 ForcedPush)), 2 User; 2 responses\n"),
            "\(stat.output)")
        #expect(try await tarn("inspect", "verify", store).output.contains(" 7 records,"))
        #expect(try await tarn("inspect", "salvage", store, folder.path + "/new").output.contains(": 7 records ("))
    }

    @Test("numbers of records that no file can have are no trap in their total")
    func impossibleCounts() {
        let counts = RecordCounts(entities: [
            .init(name: "A", count: .max, parent: nil), .init(name: "B", count: 3, parent: nil),
            .init(name: "C", count: .max, parent: "A"),
        ])
        #expect(counts.total == .max)
        #expect(counts.text == "\(Int.max) A (\(Int.max) C), 3 B")
    }

    @Test("the line below a list says how many records meet its condition, not how many the table has")
    func footer() async throws {
        let (folder, file, _, _) = try await mirrored()
        defer { _ = folder }
        for (arguments, footer) in [
            (["Event"], "5 records"), (["Push"], "3 records"), (["Event", "--where", "type = push"], "2 records"),
            (["Event", "--where", "type = push", "--limit", "1"], "1 of 2 records"),
            (["Event", "--limit", "2"], "2 of 5 records"),
            (["Event", "--where", "type = push", "--limit", "2"], "2 records"),
            (["Event", "--where", "type = push", "--offset", "1"], "1 of 2 records"),
            (["Event", "--limit", "0"], "0 of 5 records"), (["Event", "--where", "type = none"], "0 records"),
        ] as [([String], String)] {
            let list = try await tarn(["list"] + arguments + ["--file", file, "--format", "table"])
            #expect(list.status == 0 && list.errorLines.first == footer, "\(arguments): \(list.error)")
        }
    }

    @Test("counts of a catalog that is no tree end")
    func circle() {
        let same = RecordCounts(entities: [
            .init(name: "A", count: 1, parent: nil), .init(name: "A", count: 1, parent: "A"),
            .init(name: "B", count: 1, parent: "C"),
            .init(name: "C", count: 1, parent: "B"),
        ])
        #expect(same.total == 1 && same.text == "1 A (1 A)")
    }
}
