// The names of an entity's attributes and relationships.

import Tarn

/// Names leaves: unique, valid, and without the keys around them where that is clear.
struct FieldNames {
    private var taken: Set<String> = []
    private let frequencies: [String: Int]

    private static let generic: Set = [
        "id", "name", "title", "url", "type", "kind", "count", "value", "text", "href", "code", "key", "date", "size",
        "number", "status", "state", "description", "self", "email", "body", "data", "items", "total", "uuid", "label",
        "start", "end", "from", "to", "first", "last", "min", "max", "unit", "amount", "version", "urls", "indices",
    ]

    /// Creates the names of the leaves of one entity.
    init(_ leaves: [Leaf]) {
        var frequencies: [String: Int] = [:]
        for leaf in leaves { frequencies[EnglishName.field(leaf.name).lowercased(), default: 0] += 1 }
        self.frequencies = frequencies
    }

    /// Returns the name of a leaf.
    mutating func name(_ leaf: Leaf) -> String {
        let own = EnglishName.field(leaf.name)
        guard leaf.keys.count > 1 else { return unique(own) }
        let isClear = !FieldNames.generic.contains(own.lowercased()) && frequencies[own.lowercased()] == 1
        if isClear { return unique(own) }
        let parts = leaf.keys.suffix(2).map { EnglishName.field($0) }
        return unique(parts[0] + EnglishName.capitalized(parts[1]))
    }

    /// Returns the name, or one with a number if it is taken.
    mutating func unique(_ name: String) -> String {
        let name = EnglishName.unique(name) { taken.contains($0) }
        taken.insert(name)
        return name
    }

    /// Returns whether an attribute of this name takes the value of a key without `from`.
    ///
    /// The first of its JSON keys that objects have must be this key.
    static func isFound(_ name: String, at keys: [String], in shape: ObjectShape) -> Bool {
        guard keys.count == 1, let key = keys.first else { return false }
        return NamingConvention().jsonKeys(for: name).first { shape.fields[$0] != nil } == key
    }

    /// Whether a key can be written between the braces of a composed text.
    static func canBeComposed(_ key: String) -> Bool {
        !key.isEmpty
            && key.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            }
    }

    /// Whether keys can be written as a key path that leads back to them.
    static func canBeWritten(_ keys: [String]) -> Bool {
        // The YAML parser drops a byte order mark at the beginning of a scalar.
        guard !keys.contains(""), keys.allSatisfy({ $0.utf8.count <= 500 }),
            keys.first?.unicodeScalars.first != "\u{FEFF}"
        else { return false }
        let path = JSONPath(keys: keys)
        return ValueSource(path.description) == .path(path)
    }
}
