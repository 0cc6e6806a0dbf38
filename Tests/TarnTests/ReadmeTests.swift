// The README's examples, run on the forge's recordings: what stands there works.

import Foundation
import Tarn
import Testing

@Suite("README")
struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func block(_ language: String) throws -> String {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let parts = text.components(separatedBy: "```\(language)\n")
        try #require(parts.count == 2)
        return parts[1].components(separatedBy: "```")[0]
    }

    @Test("the README's description file mirrors the forge's issues and their authors")
    func descriptionFile() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "tarn-readme-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let description = try Description.parse(try block("yaml"), file: "tarn.yaml")
        let store = try Store.open(at: directory.path, schema: description.schema)
        let recordings = Self.root.appending(path: "fixtures/forge/responses").path
        let mirror = try Mirror(description, store: store, transport: try FixtureTransport(directory: recordings))
        let report = await mirror.sync()
        #expect(report.failures.isEmpty)
        #expect(report.report.unmapped.isEmpty)
        try store.read { reader in
            #expect(try reader.count("Issue") == 330)
            // The same code as in the README.
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
