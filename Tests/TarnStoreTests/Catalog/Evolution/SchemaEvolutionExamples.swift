// swift-format-ignore-file
// (The pages of the documentation have parts of this file.)
// The examples of the article "Schema evolution": compiled, run, and compared with the page.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("The examples of the article on schema evolution")
struct SchemaEvolutionExamples {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    fileprivate static let old = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [.init("id", .int), .init("title", .string), .init("votes", .int, optional: true), .init("state", .string, optional: true)],
            indexes: [.init("byState", on: "state")])
    ])

    private func opening(_ path: String, _ schema: Schema) throws {
        let store = try Store.open(at: path, schema: schema)
        try store.put("Issue", 1, ["title": .string("A title")])
    }

    private func renaming(_ path: String) throws {
let schema = Schema([
    EntityDefinition(
        "Ticket", key: ["id"],
        attributes: [
            AttributeDefinition("id", .int),
            AttributeDefinition("headline", .string, renamedFrom: "title"),
        ],
        renamedFrom: "Issue")
])
        let store = try Forge.open(path, schema)
        #expect(try store.record("Ticket", 1)?["headline"] == .string("A title"))
    }

    private func building(_ path: String, _ schema: Schema) throws {
let store = try Store.open(at: path, schema: schema) { progress in
    print("\(progress.entity).\(progress.index): \(progress.done) of \(progress.total)")
}
for index in try store.indexStates where index.state != .complete {
    print("\(index.entity).\(index.name) is \(index.state)")
}
    }

    private func writing(_ store: Store) throws {
do {
    try store.write { writer in try writer.put("Issue", RecordKey(1), []) }
} catch StoreWriteError.schemaChanged(_, let detail) {
    print("update this program: \(detail)")
}
    }

    private func removing(_ store: Store) throws {
try store.remove(index: "byState", of: "Issue")
try store.remove(field: "votes", of: "Issue")
try store.remove(entity: "Issue")
    }
}

extension SchemaEvolutionExamples {
    @Test("they do what the page says")
    func run() throws {
        let path = folder("a"), other = folder("b")
        try opening(path, Self.old)
        try renaming(path)
        try opening(other, Self.old)
        try building(other, Self.old)
        let store = try Forge.open(other, nil)
        try writing(store)
        try removing(store)
        #expect(store.catalog.entities.isEmpty)
    }

    @Test("every example of the page is in this file, as it is there")
    func same() throws {
        let here = URL(fileURLWithPath: #filePath)
        let page = here.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("../../../Sources/Tarn/Tarn.docc/SchemaEvolution.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8), file = try String(contentsOf: here, encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count == 5)
        for block in blocks { #expect(file.contains(block), "\(block)") }
    }
}
