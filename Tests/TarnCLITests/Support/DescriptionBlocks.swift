// The YAML blocks of the documentation, as whole descriptions.

import Foundation

/// The blocks of the pages about description files.
enum DescriptionBlocks {
    struct Block: Sendable {
        var page: String
        var line: Int
        var text: String
        var firstLine: String { String(text.prefix { $0 != "\n" }) }
    }

    static let pages = [
        "DescriptionFile", "ImportValues", "ValueSources", "Requests", "Caching", "WritingBack", "Conflicts",
    ]

    /// The YAML blocks of the pages, except overlays.
    static func all() throws -> [Block] {
        try pages.flatMap { page in
            let path = Repository.root + "/Sources/Tarn/Tarn.docc/\(page).md"
            var blocks: [Block] = [], open: Block?
            for (index, line) in try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
                .enumerated()
            {
                if let block = open {
                    if line == "```" {
                        blocks.append(block)
                        open = nil
                    } else {
                        open?.text += line + "\n"
                    }
                } else if line == "```yaml" {
                    open = Block(page: page, line: index + 2, text: "")
                }
            }
            return blocks
        }.filter { $0.firstLine != "# an overlay" }
    }

    /// A whole description around a block; nil for a block that is none.
    static func whole(_ block: Block) -> String? {
        func indented(_ columns: Int) -> String {
            block.text.split(separator: "\n").map { String(repeating: " ", count: columns) + $0 + "\n" }.joined()
        }
        let api = "api: { base: 'https://a.example' }\n", entities = "entities:\n"
        let sample = "  Sample:\n    key: id\n    attributes: { id: int }\n"
        switch block.firstLine {
        case "# in api:": return "api:\n" + indented(2) + entities + sample
        case "# in entities:": return api + entities + indented(2)
        case "# in an entity:": return api + entities + sample + indented(4)
        case "# in attributes:": return api + entities + "  Sample:\n    key: id\n    attributes:\n" + indented(6)
        case "# in relationships:": return api + entities + sample + "    relationships:\n" + indented(6)
        case "# in endpoints:": return api + entities + sample + "endpoints:\n" + indented(2)
        case "# in a description:": return block.text
        case "# not valid": return nil
        case let first: return first.hasPrefix("# in ") || !block.text.contains("entities:") ? nil : block.text
        }
    }
}
