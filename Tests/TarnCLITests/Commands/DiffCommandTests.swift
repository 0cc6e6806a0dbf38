// `tarn inspect diff`: the output and the exit codes, between a store, its backup and a damaged one.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: inspect diff")
struct DiffCommandTests {
    private let folder: TemporaryFolder
    private let old: String
    private let new: String

    init() async throws {
        folder = try TemporaryFolder()
        (old, new) = (folder.path + "/old.tarn", folder.path + "/new.tarn")
        for path in [old, new] { try FileManager.default.copyItem(atPath: try await Forge.store, toPath: path) }
    }

    private func change() throws {
        let store = try Store.open(at: new, options: Store.Options(durability: .volatile))
        try store.write { writer in
            try writer.put("Label", RecordKey(9001), [.init("name", .string("new\u{1B}[31m"))])
            _ = try writer.delete("Comment", RecordKey(3_056_586_210))
        }
    }

    @Test("equal stores: exit code 0, one line, also with a backup")
    func equal() async throws {
        let backup = folder.path + "/backup.tarn"
        #expect(try await tarn("store", "backup", new, backup).status == 0)
        for other in [new, backup, old + "/data.mdb"] {
            let result = try await tarn("inspect", "diff", old, other)
            #expect(result.status == 0 && result.error == "", "\(result.error)")
            #expect(result.lines == ["equal: 965 records"])
        }
    }

    @Test("different stores: exit code 1, the records and the numbers, without control characters")
    func different() async throws {
        try change()
        let result = try await tarn("inspect", "diff", old, new)
        #expect(result.status == 1 && result.error == "")
        #expect(result.lines.contains("+ Label 9001"))
        #expect(!result.output.contains("\u{1B}"))
        #expect(
            result.lines.contains { $0.hasPrefix("Label: 1 added, 0 removed, 0 changed, 25 equal") }, "\(result.lines)")
        let short = try await tarn("inspect", "diff", old, new, "--summary")
        #expect(short.status == 1 && short.lines.count < 3 && short.lines.allSatisfy { !$0.hasPrefix("+") })
        let json = try await tarn("inspect", "diff", old, new, "--json", "--entity", "Label")
        #expect(json.status == 1 && json.lines.count == 2)
        let record = try self.json(json.lines[0])
        #expect(record["change"] as? String == "added" && record["key"] as? Int == 9001)
        let counts = try #require(
            (try self.json(json.lines[1])["summary"] as? [String: Any])?["entities"] as? [String: Any])
        #expect(counts.keys.sorted() == ["Label"])
    }

    @Test("a damaged row has exit code 6 and is named with its store; an unknown entity is a usage error")
    func damaged() async throws {
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: new)
        let result = try await tarn("inspect", "diff", old, new)
        #expect(result.status == 6 && result.error.contains("new.tarn: Issue "), "\(result.error)")
        #expect(try await tarn("inspect", "diff", old, new, "--entity", "Nope").status == 2)
        #expect(try await tarn("inspect", "diff", old, folder.path + "/nothing").status == 6)
    }

    private func json(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}
