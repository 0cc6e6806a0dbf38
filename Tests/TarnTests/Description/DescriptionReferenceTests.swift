// The reference page of the description file: its examples are parsed, so that they cannot be
// wrong.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Description file: reference page")
struct DescriptionReferenceTests {
    /// A fenced block of the page.
    struct Block: Sendable, CustomTestStringConvertible {
        var language: String
        /// The number of its first line in the page.
        var line: Int
        var text: String

        var testDescription: String { "line \(line)" }
        var firstLine: String { String(text.prefix { $0 != "\n" }) }
    }

    static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("../../Sources/Tarn/Tarn.docc/DescriptionFile.md").standardized

    /// The pages about values show parts of descriptions too.
    static let values = page.deletingLastPathComponent().appendingPathComponent("ImportValues.md")
    static let requests = page.deletingLastPathComponent().appendingPathComponent("Requests.md")
    static let caching = page.deletingLastPathComponent().appendingPathComponent("Caching.md")
    static let sources = page.deletingLastPathComponent().appendingPathComponent("ValueSources.md")

    static func blocks(of page: URL = page) throws -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        for (index, line) in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n").enumerated() {
            if let block = open {
                if line == "```" {
                    blocks.append(block)
                    open = nil
                } else {
                    open?.text += line + "\n"
                }
            } else if line.hasPrefix("```") {
                open = Block(language: String(line.dropFirst(3)), line: index + 2, text: "")
            }
        }
        return blocks
    }

    /// The other entities that the page's fragments speak of.
    private static let stubs = [
        "User": "{ key: id, attributes: { id: int } }", "Label": "{ key: id, attributes: { id: int } }",
        "Category": "{ key: id, attributes: { id: int } }",
        "Issue": "{ key: id, attributes: { id: int, number: int, pinned: bool } }",
        "Note": "{ key: id, attributes: { id: int }, relationships: { issue: Issue } }",
        "Milestone": "{ key: id, attributes: { id: int, number: int } }",
        "Film": "{ key: id, attributes: { id: int, self: url } }",
        "Member": "{ key: login, attributes: { login: string } }",
        "ChecklistItem": "{ key: id, attributes: { id: int }, relationships: { milestone: Milestone } }",
    ]

    /// A whole file around a fragment.
    private static func wrap(_ block: Block) -> String? {
        func indented(_ columns: Int) -> String {
            block.text.split(separator: "\n").map { String(repeating: " ", count: columns) + $0 + "\n" }.joined()
        }
        let api = "api: { base: 'https://a.example' }\n"
        let declared = block.text.split(separator: "\n").compactMap {
            $0.hasPrefix(" ") ? nil : $0.split(separator: ":").first.map(String.init)
        }
        let entities =
            "entities:\n"
            + stubs.filter { !declared.contains($0.key) }.sorted { $0.key < $1.key }.map {
                "  \($0.key): \($0.value)\n"
            }.joined()
        let id = declared.contains("id") ? "" : "      id: int\n"
        switch block.firstLine {
        case "# in api:": return "api:\n" + indented(2) + entities
        case "# in entities:": return api + entities + indented(2)
        case "# in an entity:":
            return api + entities + "  Sample:\n    key: id\n    attributes: { id: int }\n" + indented(4)
        case "# in attributes:": return api + entities + "  Sample:\n    key: id\n    attributes:\n" + id + indented(6)
        case "# in relationships:":
            return api + entities + "  Sample:\n    key: id\n    attributes: { id: int }\n    relationships:\n"
                + indented(6)
        case "# in a description:": return block.text
        case "# in endpoints:": return api + entities + "endpoints:\n" + indented(2)
        case let first: return first.hasPrefix("#") ? nil : block.text
        }
    }

    @Test("every YAML block that the page shows as right is right")
    func everyBlockIsRight() throws {
        let blocks = try [Self.page, Self.values, Self.sources, Self.requests, Self.caching].flatMap {
            try Self.blocks(of: $0)
        }
        .filter { $0.language == "yaml" && !["# not valid", "# an overlay"].contains($0.firstLine) }
        #expect(blocks.count >= 12)
        for block in blocks {
            let text = try #require(Self.wrap(block), "line \(block.line): no such place: \(block.firstLine)")
            #expect(problems(text) == [], "the block at line \(block.line)")
        }
    }

    @Test("every YAML block that the page shows as wrong gives exactly the errors that it shows")
    func everyErrorIsShownAsItIs() throws {
        let blocks = try Self.blocks()
        let wrong = blocks.indices.filter { blocks[$0].language == "yaml" && blocks[$0].firstLine == "# not valid" }
        #expect(wrong.count >= 2)
        for index in wrong {
            let shown = try #require(
                index + 1 < blocks.count && blocks[index + 1].language == "text" ? blocks[index + 1] : nil)
            #expect(
                problems(blocks[index].text).joined(separator: "\n") + "\n" == shown.text,
                "the block at line \(shown.line)")
        }
    }

    @Test("the first block is a whole description whose endpoint asks what the page says")
    func firstBlockIsWhole() throws {
        let first = try #require(try Self.blocks().first)
        let description = try Description.parse(first.text, file: "tarn.yaml")
        #expect(description.schema.entities.map(\.name) == ["User", "Label", "Issue"])
        #expect(description.endpoints.map(\.path) == ["/repos/{owner}/{repo}/issues"])
    }

    @Test("the overlay that is shown fits a description with what it names")
    func overlayIsRight() throws {
        let overlay = try #require(try Self.blocks(of: Self.sources).first { $0.firstLine == "# an overlay" })
        let description = try Description.parse(try #require(try Self.blocks().first).text, file: "tarn.yaml")
        let laid = try description.applying(overlay: overlay.text, file: "moved.yaml")
        #expect(laid.mapping.entities["Issue"]?.paths["title"] == ["headline", "title"])
    }

    @Test("every key of the format and every type is on the page")
    func everyKeyIsOnThePage() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let words = [
            "store", "api", "entities", "endpoints", "base", "aliases", "headers", "auth", "naming", "key",
            "attributes",
            "relationships", "ignore", "compression", "type", "from", "index", "values", "epoch", "format", "coercion",
            "dates", "nulls", "absent", "to_many", "duplicates", "version", "deleted", "fallback", "transform", "rest",
            "value", "kinds", "otherwise", "keyless", "optional", "was", "open", "to", "inverse", "ordered", "path",
            "with",
            "records", "entity", "paginate", "for_each", "parent", "param", "start", "per_page", "single_page",
            "header_link", "json_link", "header_cursor", "cursor", "offset", "page_number", "auto", "body", "form",
            "method", "field", "total",
            "total_pages", "has_more", "last", "end", "id", "includes_named", "restart", "limit", "more", "follow",
            "retry", "pace", "responses",
            "parent", "indexes", "unique", "default", "on", "where", "ignore_case", "on_delete", "join", "cascade",
            "nullify", "deny", "none",
            "templates", "include", "like", "each", "template", "children", "excerpts", "bool", "int", "uint", "double",
            "string", "date", "uuid", "url", "json", "enum",
        ]
        #expect(words.filter { !text.contains("`\($0)`") } == [])
    }

    @Test("every key about requests is on their page")
    func everyRequestKeyIsOnItsPage() throws {
        let text = try String(contentsOf: Self.requests, encoding: .utf8)
        let words = [
            "auth", "env", "file", "command", "bearer", "basic", "api_key", "header", "query", "cookie", "prefix",
            "oauth2", "token_url", "client_id",
            "client_secret", "client_auth", "refresh_token", "scopes", "params", "account", "retry", "attempts",
            "first_delay", "longest_delay",
            "longest_wait", "longest_limit", "methods", "pace", "per_second", "burst", "concurrent", "headers", "obey",
            "ignore", "responses", "status", "contains", "then",
            "message", "empty", "stop", "fail", "transport", "connect_timeout", "idle_timeout", "total_timeout",
            "largest_body", "redirects", "proxy",
            "authorities", "certificate", "key", "user_agent",
        ]
        #expect(words.filter { !text.contains("`\($0)`") && !text.contains("\($0):") } == [])
    }
}
