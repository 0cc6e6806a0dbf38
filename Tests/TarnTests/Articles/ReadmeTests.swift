// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The README's examples, run on the forge's recordings: every example works.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("README")
struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func block(_ language: String, _ place: Int = 0) throws -> String {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let parts = text.components(separatedBy: "```\(language)\n")
        try #require(parts.count == 4)
        return parts[1 + place].components(separatedBy: "```")[0]
    }

    @Test("the README's schema is sound, and does what it says")
    func schema() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tarn-readme-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let text = "api: { base: https://api.forge.example }\n" + (try block("yaml", 2))
        let store = try Store.open(at: directory.path, schema: try Description.parse(text, file: "tarn.yaml").schema)
        let ticket = RecordKey(1), note = RecordKey([.int(1), .int(7)])
        try store.write { writer in
            try writer.put("Bug", ticket, [.init("slug", .string("a")), .init("author", .reference(RecordKey(5)))])
            try writer.put("Note", note, [])
        }
        try store.read { reader in
            let bug = try reader.record("Ticket", ticket)
            #expect(bug?.entity == "Bug")
            #expect(bug?["state"] == .string("open"))
            let found = try reader.first("Ticket", index: "openByAuthor", equalTo: [.reference(RecordKey(5))])
            #expect(found?.key == ticket)
            let kept = try reader.record("Note", note)
            #expect(kept?["ticket"] == .reference(ticket))
        }
        #expect(throws: StoreWriteError.self) {
            try store.write { try $0.put("Ticket", RecordKey(2), [.init("slug", .string("a"))]) }
        }
        try store.write { _ = try $0.delete("Ticket", ticket) }
        #expect(try store.read { try $0.count("Note") } == 0)
    }

    @Test("the README's description file mirrors the forge's issues and their authors")
    func descriptionFile() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tarn-readme-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        // With the requests for changes, which the next block adds to the entity.
        let write = try block("yaml", 1).split(separator: "\n").map { "    \($0)\n" }.joined()
        let text = try block("yaml").replacing("  Issue:\n", with: "  Issue:\n" + write)
        let description = try Description.parse(text, file: "tarn.yaml")
        #expect(description.writes.keys.sorted() == ["Issue"])
        let store = try Store.open(at: directory.path, schema: description.schema)
        let recordings = Self.root.appending(path: "fixtures/forge/responses").path
        let mirror = try APIMirror(description, store: store, transport: try FixtureTransport(directory: recordings))
        let report = await mirror.sync()
        #expect(report.failures.isEmpty)
        #expect(report.report.unmapped.isEmpty)
        try store.read { reader in
            #expect(try reader.count("Issue") == 330)
            // The code of the README.
            let issue = try reader.record("Issue", RecordKey(2_262_018_391))
            var author: Record?
            try reader.forEachRelated("Issue", RecordKey(2_262_018_391), "author") { target in
                author = target.record
                return false
            }
            #expect(issue?["number"] == .int(17))
            #expect(author?["login"] == .string("mreyes"))
        }
        try await store.write { writer in
            try writer.put("User", RecordKey(1), [.init("login", .string("ada")), .init("name", .null)])
        }
        let ada = try store.read { try $0.record("User", RecordKey(1)) }
        #expect(ada?.fields == [.init("id", .int(1)), .init("login", .string("ada")), .init("name", .null)])
    }
}
