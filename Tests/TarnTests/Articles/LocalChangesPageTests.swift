// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The examples of the page "Local changes", verbatim and run, and its table of policies.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("The page Local changes")
struct LocalChangesPageTests {
    private static var page: String {
        get throws { try String(contentsOfFile: Repository.root + "/Sources/Tarn/Tarn.docc/LocalChanges.md", encoding: .utf8) }
    }

    @Test("every example of the page stands here, and its table has the policies that there are")
    func examples() throws {
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let page = try Self.page, own = try lines(String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count == 3)
        for block in blocks { #expect(own.contains(lines(block)), "\(block)") }
        let words = page.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.contains("`local`") }.compactMap { $0.split(separator: "`").dropFirst().first }
        #expect(words.map(String.init) == LocalPolicy.allCases.map(\.rawValue))
    }

    @Test("a change is marked with what was written, listed, and cleared; what the server said meanwhile may be taken")
    func walkthrough() throws {
        let folder = try TemporaryFolder()
        let schema = Schema([
            EntityDefinition("Issue", key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition("title", .string)])
        ])
        let store = try Store.open(at: folder.path + "/s", schema: schema, options: Store.Options(durability: .volatile))
        for key in [17, 18] { try store.write { try $0.put("Issue", RecordKey(Int64(key)), [.init("title", .string("Theirs"))]) } }
        try store.write { writer in
            try writer.putLocally("Issue", RecordKey(17), [Record.Field("title", .string("Mine"))])
        }
        try store.write { try $0.putLocally("Issue", RecordKey(18), [.init("title", .string("Mine"))]) }
        let importer = try Importer(Mapping(), store.catalog)
        _ = try importer.add(Array(#"[{"id":17,"title":"New"},{"id":18,"title":"New"}]"#.utf8), entity: "Issue")
        #expect(try store.write { try importer.commit(into: &$0) }.diagnostics.map(\.code) == [.localKept, .localKept])

        var listed: [String] = []
        func print(_ operation: LocalChange.Operation, _ entity: String, _ key: RecordKey, _ fields: [String]) {
            listed.append("\(operation) \(entity) \(key) \(fields)")
        }
        try store.read { reader in
            try reader.forEachLocalChange { change in
                print(change.operation, change.entity, change.key, change.fields)
                return true
            }
        }
        #expect(listed == ["update Issue 17 [\"title\"]", "update Issue 18 [\"title\"]"])

        try store.write { writer in
            try writer.clearLocalChange("Issue", RecordKey(17), fields: ["title"])
            try writer.clearLocalChange("Issue", RecordKey(18), takingServer: true)
        }
        let titles = try store.read { reader in try [17, 18].map { try reader.record("Issue", RecordKey(Int64($0)))?["title"] } }
        #expect(titles == [.string("Mine"), .string("New")])
        #expect(try store.read { try $0.localChange("Issue", RecordKey(17)) == nil && $0.localChange("Issue", RecordKey(18)) == nil })
    }
}
