// The page about where values come from: its examples are read here, and proven on a real store.

import Foundation
import TarnImport
import TarnStore
import Testing

@Suite("Import: the examples of the page about sources")
struct ValueSourcesPageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("../../Sources/Tarn/Tarn.docc/ValueSources.md").standardized

    /// The rows of the table that begins with this header cell; cells without their backticks, nil
    /// for `–`.
    private static func rows(_ firstCell: String) throws -> [[String?]] {
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("| \(firstCell) |") }, "no table of \(firstCell)")
        return lines[first...].prefix { $0.hasPrefix("|") }.filter { !$0.hasPrefix("|---") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { cell in
                cell == "–"
                    ? nil : cell.hasPrefix("`") && cell.hasSuffix("`") ? String(cell.dropFirst().dropLast()) : cell
            }
        }
    }

    @Test("every example of a source gives what the page says")
    func examples() throws {
        let rows = try Self.rows("from").dropFirst()
        try #require(rows.count >= 16)
        let types: [String: AttributeType] = [
            "string": .string, "int": .int, "json": .json, "[int]": .array(.int), "[string]": .array(.string),
        ]
        for row in rows {
            let source = try #require(row[0].flatMap { ValueSource($0) }, "\(row)")
            let type = try #require(row[1].flatMap { types[$0] }, "\(row)")
            let json = try #require(row[2])
            let bed = try thing([AttributeDefinition("v", type, optional: true)], EntityMapping(paths: ["v": [source]]))
            let report = try bed.take(#"{"id":1,"# + json.dropFirst(), "Thing")
            #expect(report.diagnostics == [])
            var text: String?
            if let value = try bed.value("Thing", 1, "v") {
                var written = ""
                value.appendJSON(to: &written)
                text = written
            }
            #expect(text == row[3], "\(row)")
        }
    }

    @Test("every example of a URL gives the key that the page says")
    func urls() throws {
        let rows = try Self.rows("text").dropFirst()
        try #require(rows.count >= 10)
        for row in rows {
            var mapping = Mapping()
            let url = RecordURL([try URLTemplate("/users/{login}")])
            mapping.entities["User"] = EntityMapping { $0.url = url }
            mapping.bases = ["https://api.example/v2"]
            let bed = try TestStore(
                Schema([
                    EntityDefinition("User", key: ["login"], attributes: [AttributeDefinition("login", .string)]),
                    EntityDefinition(
                        "Post", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                        relationships: [RelationshipDefinition("author", to: "User")]),
                ]), mapping)
            let report = try bed.take(#"[{"id":1,"author":"\#(try #require(row[0]))"}]"#, "Post")
            let found = try bed.related("Post", 1, "author").first.map { String($0.dropLast()) }
            #expect(found == row[1] && report.diagnostics.count == (found == nil ? 1 : 0), "\(row)")
        }
    }

    @Test("every style of names writes them as the page says")
    func styles() throws {
        let rows = try Self.rows("style")
        let names = rows[0].dropFirst().compactMap(\.self)
        #expect(rows.count == NamingStyle.allCases.count + 1 && names.count == 3)
        for row in rows.dropFirst() {
            let word = try #require(row[0]).replacing("` (default)", with: "").replacing("`", with: "")
            let style = try #require(NamingStyle(rawValue: word))
            #expect(names.map { NamingConvention(style).jsonKey(for: $0) } == row.dropFirst().map(\.self), "\(word)")
        }
    }

    @Test("every origin of a path is on the page")
    func origins() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        for origin in JSONPath.Origin.allCases { #expect(text.contains("`\(origin.rawValue)")) }
    }
}
