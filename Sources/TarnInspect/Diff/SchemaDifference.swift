import TarnStore

/// A part of the schema that differs between two stores. Ids are not compared.
public struct SchemaDifference: Sendable, Hashable {
    /// The path of the part: `Issue`, `Issue.title`, `Issue index byName`.
    public var path: String
    /// The description of the part in the first store; nil if it has no such part.
    public var from: String?
    /// The description of the part in the second store; nil if it has no such part.
    public var to: String?

    /// The difference as a JSON object, without a line break.
    public var json: String {
        var text = "{\"change\":\"\(from == nil ? "added" : to == nil ? "removed" : "changed")\",\"schema\":"
        text.appendJSONString(path)
        for (name, value) in [("from", from), ("to", to)] {
            guard let value else { continue }
            text += ",\"\(name)\":"
            text.appendJSONString(value)
        }
        return text + "}"
    }

    /// The difference as a line for people.
    public var line: String {
        switch (from, to) {
        case (nil, let to?): "+ schema \(path): \(to)"
        case (let from?, nil): "- schema \(path): \(from)"
        default: "~ schema \(path): \(from ?? "absent") → \(to ?? "absent")"
        }
    }

    /// Returns the differences between two catalogs, in the order of the first one.
    static func all(between a: Catalog, and b: Catalog) -> [SchemaDifference] {
        let first = SchemaOutline(a).parts, second = SchemaOutline(b).parts
        let others = Dictionary(second.map { ($0.path, $0.text) }) { first, _ in first }
        let known = Set(first.map(\.path))
        let changed = first.compactMap { part -> SchemaDifference? in
            let other = others[part.path]
            // By bytes: strings compare as equal if they only look the same.
            let isSame = other.map { $0.utf8.elementsEqual(part.text.utf8) } ?? false
            return isSame ? nil : SchemaDifference(path: part.path, from: part.text, to: other)
        }
        return changed
            + second.filter { !known.contains($0.path) }.map { SchemaDifference(path: $0.path, from: nil, to: $0.text) }
    }
}
