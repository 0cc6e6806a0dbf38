// A local change that was not sent, in a row that is unreadable: its loss is said by name.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: lost local changes")
struct LostLocalChangeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with a local change of note 11, whose row is damaged.
    private func makeStore() throws -> String {
        let path = folder.path + "/s.tarn"
        let schema = Schema([
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .int), .init("title", .string)])
        ])
        do {
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
            try store.write { writer in
                for number: Int64 in 1...20 {
                    try writer.put("Note", RecordKey(number), [.init("title", .string("note \(number)"))])
                }
                try writer.putLocally("Note", RecordKey(11), [.init("title", .string("written here only"))])
            }
        }
        try Damage.flip("written here only", in: path)
        return path
    }

    @Test("salvage names the record whose local change is lost, with the field")
    func salvage() async throws {
        let store = try makeStore(), new = folder.path + "/new.tarn"
        let result = try await tarn("inspect", "salvage", store, new)
        #expect(result.status == 3, "\(result)")
        #expect(result.error.contains("Note 11 (title): a local change that was not sent is lost"), "\(result.error)")
        #expect(result.error.contains("local changes that were not sent may be among them"), "\(result.error)")
    }

    @Test("repair names the record whose local change is lost with the damaged row")
    func repair() async throws {
        let store = try makeStore()
        let kept = try await tarn("store", "repair", store, "--dry-run")
        #expect(kept.output.contains("row Note 11 (title): a local change that was not sent cannot be read"), "\(kept)")
        let removed = try await tarn("store", "repair", store, "--no-backup", "--remove-damaged-rows")
        #expect(removed.output.contains("row Note 11 (title): a local change that was not sent is lost"), "\(removed)")
    }
}
