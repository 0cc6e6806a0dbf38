// `tarn store` and the inspector's commands about damage, as they are typed.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: operating a store")
struct StoreCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func copyOfForge() async throws -> String {
        let copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        return copy
    }

    @Test("verify of a sound store is one line and exit 0, and as JSON an object")
    func soundStore() async throws {
        let store = try await Forge.store
        let result = try await tarn("inspect", "verify", store)
        #expect(result.status == 0 && result.error == "" && result.lines.count == 1)
        #expect(result.output.contains("965 records") && result.output.hasSuffix(": sound\n"), "\(result.output)")
        let report = try json(try await tarn("inspect", "verify", store, "--json").line(0))
        #expect(
            report["sound"] as? Bool == true && report["held"] as? Bool == true
                && (report["findings"] as? [Any])?.isEmpty == true)
        #expect((report["records"] as? [String: Int])?["Issue"] == 330)
    }

    @Test("verify names a damaged row with its code, and ends with 6, as text and as JSON")
    func damagedRow() async throws {
        let copy = try await copyOfForge()
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let result = try await tarn("inspect", "verify", copy)
        #expect(
            result.status == 6 && result.lines.first == "row.checksum  Issue 2262018391: the checksum is wrong",
            "\(result.output)")
        #expect(result.errorLines == ["tarn: \(copy): 1 finding: 1 row.checksum"])
        let second = try await tarn("inspect", "verify", copy, "--json")
        #expect(second.status == 6 && second.error == "")
        #expect((try json(second.line(0))["counts"] as? [String: Int]) == ["row.checksum": 1])
    }

    @Test("repair makes a copy, takes out what cannot be read if it is told to, and a sync brings it again")
    func repair() async throws {
        let copy = try await copyOfForge()
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let dry = try await tarn("store", "repair", copy, "--dry-run", "--remove-damaged-rows")
        #expect(
            dry.status == 0 && dry.output.contains("row Issue 2262018391: unreadable, removed"),
            "\(dry.output)\(dry.error)")
        #expect(dry.lines.last == "nothing was changed: this was a dry run")
        #expect(try await tarn("inspect", "verify", copy).status == 6)
        let done = try await tarn("store", "repair", copy, "--remove-damaged-rows", "--backup", folder.path + "/before")
        #expect(done.status == 0 && done.lines.last == "sound", "\(done.output)\(done.error)")
        #expect(try await tarn("inspect", "verify", folder.path + "/before").status == 6)
        #expect(try await tarn("inspect", "dump", copy).lines.count == 964)
        let server = try LocalServer(directory: Repository.forge)
        try await expectSuccess(Forge.sync(copy, server))
        #expect(try await Forge.dump(copy) == Forge.dump(Forge.store))
        try await expectSuccess(tarn("inspect", "verify", copy))
    }

    @Test(
        "repair refuses a file whose pages are damaged, and salvage brings what can be read into a new store that a sync completes"
    )
    func salvage() async throws {
        let copy = try await copyOfForge(), file = URL(fileURLWithPath: copy + "/data.mdb")
        // Its pages in the order of the tables, wherever the sync had them.
        try await expectSuccess(tarn("store", "compact", copy))
        var bytes = try Data(contentsOf: file)
        bytes.removeLast(bytes.count / 2)
        try bytes.write(to: file)
        let repair = try await tarn("store", "repair", copy)
        #expect(repair.status == 6 && repair.error.contains("tarn inspect salvage \(copy) NEW"), "\(repair.error)")
        let new = folder.path + "/new.tarn", result = try await tarn("inspect", "salvage", copy, new)
        #expect(
            result.status == 3 && result.errorLines.count > 1 && result.output.contains(" records ("), "\(result.error)"
        )
        try await expectSuccess(tarn("inspect", "verify", new))
        let server = try LocalServer(directory: Repository.forge)
        try await expectSuccess(Forge.sync(new, server))
        #expect(try await Forge.dump(new) == Forge.dump(Forge.store))
        #expect(try await tarn("inspect", "salvage", copy, new).status == 1)
    }

    @Test("salvage names a setting that is lost, and has the exit code 3, also if every record is in the new store")
    func salvageWithoutSetting() async throws {
        let path = folder.path + "/s.tarn", new = folder.path + "/new.tarn", position = "6E1B0B3C-0B3E-4B8A-9E0B:5"
        let schema = Schema([EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int)])])
        do {
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
            try await store.write { writer in
                try writer.put("Note", RecordKey(1), [])
                try writer.setChangePosition("north", ChangeToken(position))
            }
        }
        try Damage.flip(position, in: path)
        let result = try await tarn("inspect", "salvage", path, new)
        #expect(result.status == 3 && result.output.contains("1 record (1 Note)"), "\(result)")
        #expect(result.error.contains("\(path): meta position north: unreadable"), "\(result.error)")
        #expect(result.errorLines.last == "tarn: \(path): 1 setting could not be copied", "\(result.error)")
    }

    @Test("a cut-off file: stat and dump write what can be read, and say what cannot, exit 6")
    func cutOff() async throws {
        // Without free pages, so that the part which is cut off was in use.
        let copy = try await copyOfForge(), file = URL(fileURLWithPath: copy + "/data.mdb")
        try await expectSuccess(tarn("store", "compact", copy))
        var bytes = try Data(contentsOf: file)
        bytes.removeLast(bytes.count / 2)
        try bytes.write(to: file)
        for command in ["stat", "dump"] {
            let result = try await tarn("inspect", command, copy)
            #expect(
                result.status == 6 && result.errorLines.count > 0
                    && result.errorLines.allSatisfy { $0.hasPrefix("tarn: \(copy)") || $0.contains("damaged") },
                "\(result.error)")
        }
        #expect(try await tarn("inspect", "stat", copy).errorLines.contains { $0.hasSuffix("[file.truncated]") })
        #expect(try await tarn("inspect", "verify", copy, "--json").output.contains("file.truncated"))
    }

    @Test("a copy that is damaged like its store says so")
    func backupOfDamagedStore() async throws {
        let copy = try await copyOfForge(), backup = folder.path + "/backup.tarn"
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let result = try await tarn("store", "backup", copy, backup, "--verify")
        #expect(
            result.status == 6
                && result.errorLines == [
                    "tarn: \(backup): the copy is damaged (1 finding), and so is the store; "
                        + "see `tarn inspect verify \(copy)`"
                ], "\(result.error)")
    }

    @Test("a backup of a store with a wrong transaction number in a meta page is made, and the damage is reported")
    func backupOfAnEarlierCommit() async throws {
        let copy = try await copyOfForge(), file = URL(fileURLWithPath: copy + "/data.mdb")
        let backup = folder.path + "/backup.tarn"
        var bytes = [UInt8](try Data(contentsOf: file))
        let newer = bytes[144] > bytes[4096 + 144] ? 0 : 4096
        bytes[newer + 145] ^= 0x10
        try Data(bytes).write(to: file)
        let result = try await tarn("store", "backup", copy, backup)
        #expect(result.status == 6 && result.error.hasPrefix("tarn: \(copy): pages 0 and 1: "), "\(result)")
        #expect(result.error.contains("do not follow each other") && result.error.contains("`tarn inspect verify"))
        #expect(result.lines.last == "\(backup): not verified; --verify reads all of the copy", "\(result.output)")
        let verified = try await tarn("inspect", "verify", copy)
        #expect(verified.status == 6 && verified.output.contains("file.meta"), "\(verified)")
        #expect(try await tarn("inspect", "verify", backup).status == 0)
    }

    @Test("a rewrite of a file with damaged pages changes nothing, and a compaction of one without its newest commit")
    func refusals() async throws {
        let copy = try await copyOfForge(), file = URL(fileURLWithPath: copy + "/data.mdb")
        let sound = [UInt8](try Data(contentsOf: file))
        var bytes = sound
        // The last node of each leaf is hidden: pages of two or more nodes that say their number.
        for page in stride(from: 2 * 4096, to: bytes.count, by: 4096)
        where bytes[page + 10] == 2 && Int(bytes[page]) | Int(bytes[page + 1]) << 8 == page / 4096
            && bytes[page + 12] > 20
        {
            bytes[page + 12] -= 2
        }
        try Data(bytes).write(to: file)
        let rewrite = try await tarn("store", "rewrite", copy)
        #expect(rewrite.status == 6 && rewrite.output == "", "\(rewrite)")
        #expect(
            rewrite.error.contains("pages of the file are damaged") && rewrite.error.contains("nothing was changed"))
        #expect(try [UInt8](Data(contentsOf: file)) == bytes)
        // The older meta page counts as the newest one: the last commit is missing.
        bytes = sound
        bytes[(bytes[144] > bytes[4096 + 144] ? 4096 : 0) + 145] ^= 0x10
        try Data(bytes).write(to: file)
        for command in ["compact", "rewrite"] {
            let result = try await tarn("store", command, copy)
            #expect(result.status == 6 && result.error.contains("pages 0 and 1"), "\(command) \(result)")
            #expect(try [UInt8](Data(contentsOf: file)) == bytes)
        }
        try Data(sound).write(to: file)
        try await expectSuccess(tarn("store", "rewrite", copy))
        try await expectSuccess(tarn("store", "compact", copy))
    }

    @Test("backup, compact, rewrite, readers and quota say what they have done")
    func operation() async throws {
        let copy = try await copyOfForge(), backup = folder.path + "/backup.tarn"
        let made = try await tarn("store", "backup", copy, backup, "--verify")
        #expect(made.status == 0 && made.lines.last == "\(backup): sound", "\(made.error)")
        #expect(try await Forge.dump(backup) == Forge.dump(copy))
        #expect(
            try await tarn("store", "backup", copy, backup).error
                == "tarn: \(backup): already exists; name another path\n")
        let rewritten = try await tarn("store", "rewrite", copy)
        #expect(rewritten.status == 0 && rewritten.output.hasPrefix("965 rows, "), "\(rewritten.output)")
        #expect(try await tarn("store", "compact", copy).output.contains(" before, "))
        #expect(try await tarn("store", "readers", copy, "--format", "table").error == "0 readers, 0 stale\n")
        #expect(
            try await tarn("store", "quota", copy, "--set", "1.5 GiB").output.contains("1.5 GiB (1610612736 bytes)"))
        #expect(try await tarn("store", "quota", copy).output.contains("1610612736"))
        #expect(try await tarn("store", "quota", copy, "--none").output.hasSuffix("no quota\n"))
        #expect(try await tarn("store", "quota", copy, "--set", "much").status == 2)
        try await expectSuccess(tarn("inspect", "verify", copy))
    }
}
