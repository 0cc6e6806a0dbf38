// swift-format-ignore-file
// (The page of the documentation has parts of this file.)
// The examples of the page "Importing in a program", verbatim and run.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("The page Importing in a program")
struct ImportingPageTests {
    @Test("every example of the page stands here")
    func examples() throws {
        let page = try DocumentationPage("Importing")
        #expect(try page.examples.count == 5 && page.examples(missingIn: #filePath) == [])
    }

    @Test("a document, a unit, children of a parent, an envelope and a hook are imported as the page says")
    func walkthrough() async throws {
        let folder = try TemporaryFolder()
        func entity(_ name: String, _ text: String) -> EntityDefinition {
            EntityDefinition(name, key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition(text, .string, optional: true)])
        }
        var comment = entity("Comment", "text")
        comment.relationships = [RelationshipDefinition("issue", to: "Issue")]
        let store = try Store.open(at: folder.path + "/s", schema: Schema([entity("Issue", "title"), entity("User", "login"), comment]))
        let body = Array(#"[{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]"#.utf8)
        let pages = [3, 4].map { Array(#"{"data": [{"id": \#($0), "title": "c"}]}"#.utf8) }
        var lines: [String] = []
        func print(_ words: Any...) { lines.append(words.map { "\($0)" }.joined(separator: " ")) }

        let importer = try Importer(Mapping(), store.catalog)
        let added = try importer.add(body, entity: "Issue")
        let report = try await importer.commit(to: store)
        print("\(added.count) issues:", report.created, "new,", report.updated, "changed,", report.unchanged, "unchanged")
        #expect(lines == ["2 issues: 2 new, 0 changed, 0 unchanged"])

        for page in pages { _ = try importer.add(page, records: "data", entity: "Issue") }
        let total = try await importer.commit(to: store)
        #expect(total.created == 2)

        let comments = Array(#"[{"id": 9, "text": "first"}]"#.utf8)
        _ = try importer.add(comments, entity: "Comment", parent: ParentReference(relationship: "issue", key: RecordKey(1)))
        let both = Array(#"{"users": [{"id": 5}], "issues": [{"id": 6, "title": "x"}]}"#.utf8)
        _ = try importer.add(
            both, envelope: [EnvelopePart("users", "User"), EnvelopePart("issues", "Issue")])
        importer.hooks.beforeDraft = { entity, json in
            guard entity == "Issue" else { return true }
            return json["draft"] != .bool(true)
        }
        _ = try importer.add(Array(#"[{"id": 7, "draft": true}, {"id": 8, "draft": false}]"#.utf8), entity: "Issue")
        _ = try await importer.commit(to: store)
        let (issues, parent) = try store.read { reader in
            (try reader.fetch(Query("Issue")).map(\.key), try reader.record("Comment", RecordKey(9))?["issue"])
        }
        #expect(issues == [1, 2, 3, 4, 6, 8].map { RecordKey(Int64($0)) } && parent == .reference(RecordKey(1)))
    }
}
