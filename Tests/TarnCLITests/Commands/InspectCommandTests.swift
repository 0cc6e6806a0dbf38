// `tarn inspect` on sound and damaged stores. It never changes them.

import Foundation
import TestSupport
import Testing

/// Damage to a closed store.
enum Damage {
    /// Flips one bit of a text at every position in the data file: rows of older commits keep their
    /// pages for a while.
    static func flip(_ text: String, in store: String) throws {
        let path = store + "/data.mdb"
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        var start = data.startIndex, found = 0
        while let range = data.range(of: Data(text.utf8), in: start..<data.endIndex) {
            found += 1
            data[range.lowerBound] ^= 1
            start = range.upperBound
        }
        guard found > 0 else { throw LocalServer.Failure(description: "\(text) is not in \(path)") }
        try data.write(to: URL(fileURLWithPath: path))
    }
}

@Suite("Command line: inspect")
struct InspectCommandTests {
    private func copyOfForge(_ folder: TemporaryFolder) async throws -> String {
        let copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        return copy
    }

    @Test("dump writes every record as a JSON object with entity, key, version and fields, without the description")
    func dumpIsComplete() async throws {
        let result = try await tarn("inspect", "dump", try await Forge.store)
        #expect(result.status == 0 && result.error == "")
        var counts: [String: Int] = [:], partial = 0
        for line in result.lines {
            let record = try json(line)
            let entity = try #require(record["entity"] as? String)
            counts[entity, default: 0] += 1
            #expect(record["version"] is Int)
            let fields = try #require(record["fields"] as? [String: Any])
            #expect("\(record["key"] ?? "")" == "\(fields["id"] ?? "-")")
            if record["partial"] as? Bool == true { partial += 1 }
        }
        #expect(
            counts == ["User": 42, "Label": 25, "Milestone": 12, "Issue": 330, "Comment": 500, "ChecklistItem": 56])
        #expect(partial == 4)
        let plain = try await tarn("inspect", "dump", try await Forge.store, "--no-versions")
        #expect(plain.lines.count == result.lines.count && plain.lines.allSatisfy { !$0.contains("\"version\":") })
        for (line, whole) in zip(plain.lines, result.lines) {
            let start = try #require(whole.range(of: ",\"version\":"))
            #expect(line == whole[..<start.lowerBound] + whole[start.upperBound...].drop { $0.isNumber })
        }
        #expect(try await tarn("inspect", "dump", try await Forge.store, "--no-versions", "--tables").status == 2)
        let one = try await tarn("inspect", "dump", try await Forge.store, "--entity", "Label")
        #expect(one.lines.count == 25 && one.lines.allSatisfy { $0.hasPrefix("{\"entity\":\"Label\",") })
        let none = try await tarn("inspect", "dump", try await Forge.store, "--entity", "Nope")
        #expect(
            none.status == 2 && none.error.hasPrefix("tarn: unknown entity Nope; the store has User"),
            "\(none.error)")
    }

    @Test("stat names every entity with its records, every endpoint with its state, every table with its entries")
    func statIsComplete() async throws {
        let store = try await Forge.store
        let result = try await tarn("inspect", "stat", store)
        #expect(result.status == 0 && result.error == "")
        #expect(result.lines.first?.hasPrefix("\(store)  incarnation ") == true)
        #expect(
            result.output.contains(
                "965 records: 42 User, 25 Label, 12 Milestone, 330 Issue, 500 Comment, 56 ChecklistItem; 28 responses"))
        for name in ["labels", "milestones", "users", "issues", "comments"] {
            #expect(result.lines.contains { $0.hasPrefix("endpoint \(name): complete at 20") }, "\(name)")
        }
        #expect(result.lines.contains { $0.hasPrefix("endpoint checklist: 12 of 12 scans complete at ") })
        for (meaning, entries) in [
            ("records of Issue", "330"), ("records of Comment", "500"), ("Issue.author, as User.issues", "330"),
            ("Issue.labels, as Label.issues", "693"), ("index of Issue.number", "330"), ("responses", "28"),
        ] {
            let line = try #require(result.lines.first { $0.contains("  \(meaning)  ") }, "\(meaning)")
            #expect(
                line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.contains(entries), "\(line)"
            )
        }
    }

    @Test("mdb_load makes a file of its own from a dump, as Operating.md and the README have it")
    func loadedDump() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        for page in ["Sources/Tarn/Tarn.docc/Operating.md", "README.md"] {
            let text = try String(contentsOfFile: Checkout.root + "/" + page, encoding: .utf8)
            let lines = text.split(separator: "\n").filter {
                $0.hasPrefix("tarn inspect dump") && $0.contains("mdb_load")
            }
            #expect(lines.count == 1, "\(page)")
            for line in lines {
                let command = line.prefix { $0 != "#" }.replacing("tarn", with: "\"$TARN\"", maxReplacements: 1)
                    .replacing(/dump [^ ]+/, with: "dump '\(store)'")
                let name = try #require(command.split(separator: " ").last)
                let result = try await shell("cd '\(folder.path)' && \(command) && mdb_stat -n -a \(name)")
                #expect(result.status == 0 && result.output.contains("Entries: 330"), "\(command): \(result)")
            }
        }
    }

    @Test("one flipped byte in a row: the row is named on standard error, all others are dumped, exit 6")
    func damagedRowIsNamed() async throws {
        let folder = try TemporaryFolder()
        let copy = try await copyOfForge(folder)
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let result = try await tarn("inspect", "dump", copy)
        #expect(result.status == 6)
        #expect(
            result.errorLines == [
                "tarn: \(copy): Issue 2262018391: the checksum is wrong",
                "tarn: 1 damaged row; all others were written",
            ])
        #expect(result.lines.count == 964)
        #expect(!result.output.contains("\"key\":2262018391,"))
        for line in result.lines { _ = try json(line) }
    }

    @Test("inspecting changes neither a byte of the data file nor the time of its last change")
    func inspectChangesNothing() async throws {
        let folder = try TemporaryFolder()
        let copy = try await copyOfForge(folder)
        let path = copy + "/data.mdb"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let changed = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        for arguments in [["stat"], ["dump"], ["dump", "--entity", "User"]] {
            try await expectSuccess(tarn(["inspect"] + arguments + [copy]))
        }
        try await expectSuccess(tarn("list", "Issue", "--store", copy))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == changed)
    }

    @Test("a store without lock files, as a copy of data.mdb alone is, can be inspected")
    func dataFileAlone() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: try await Forge.store + "/data.mdb", toPath: folder.path + "/data.mdb")
        let result = try await tarn("inspect", "dump", folder.path)
        #expect(result.status == 0 && result.lines.count == 965, "\(result.error)")
    }
}
