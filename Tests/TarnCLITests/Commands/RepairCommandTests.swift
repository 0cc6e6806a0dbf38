// `tarn store repair`: the place of its copy, and what a dry run foretells.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: store repair")
struct RepairCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore() throws -> String {
        let path = folder.path + "/s.tarn"
        let schema = Schema([
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("title", .string)])
        ])
        do {
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
            try store.write { writer in
                for number: Int64 in 1...20 {
                    try writer.put("Note", RecordKey(number), [.init("title", .string("the title \(number)."))])
                }
            }
        }
        try Damage.flip("the title 7.", in: path)
        return path
    }

    @Test("a dry run has the exit code of the repair, and names what stays")
    func dryRun() async throws {
        let store = try makeStore()
        let dry = try await tarn("store", "repair", store, "--dry-run")
        #expect(dry.status == 6 && dry.error.contains("1 finding could not be repaired"), "\(dry)")
        #expect(dry.error.contains("row.checksum") && dry.lines.last == "nothing was changed: this was a dry run")
        #expect(try await tarn("store", "repair", store, "--no-backup").status == 6)
        #expect(try await tarn("store", "repair", store, "--dry-run", "--remove-damaged-rows").status == 0)
        #expect(try await tarn("store", "repair", store, "--no-backup", "--remove-damaged-rows").status == 0)
        #expect(try await tarn("store", "repair", store, "--dry-run").status == 0)
    }

    @Test("a compaction keeps damaged rows and says so")
    func compaction() async throws {
        let store = try makeStore(), compacted = try await tarn("store", "compact", store)
        #expect(compacted.status == 6 && compacted.error.contains("with 1 damaged row as before"), "\(compacted)")
        #expect(compacted.output.contains(" before, "))
        #expect(try await tarn("store", "repair", store, "--no-backup", "--remove-damaged-rows").status == 0)
        #expect(try await tarn("store", "compact", store).status == 0)
    }

    @Test("the copy is beside the store, also with a slash behind its name, and two of one second differ")
    func copies() async throws {
        let store = try makeStore()
        #expect(try await tarn("store", "repair", store + "/", "--remove-damaged-rows").status == 0)
        let inside = try FileManager.default.contentsOfDirectory(atPath: store)
        #expect(!inside.contains { $0.contains("before-repair") }, "\(inside)")
        let beside = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(beside.contains { $0.hasPrefix("s.tarn.before-repair-") }, "\(beside)")
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        let first = RepairCommand.copy(of: store, at: time)
        #expect(first == store + ".before-repair-1800000000" && first == RepairCommand.copy(of: store + "//", at: time))
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: false)
        #expect(RepairCommand.copy(of: store, at: time) == first + "-2")
        let here = FileManager.default.currentDirectoryPath
        #expect(RepairCommand.copy(of: ".", at: time) == here + ".before-repair-1800000000")
    }
}
