// Names of entities and fields: singular and plural forms of English, and valid identifiers.

import Tarn

/// Converts the names of APIs to names of a description.
package enum EnglishName {
    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "indices": "index",
        "vertices": "vertex", "matrices": "matrix", "movies": "movie", "cookies": "cookie", "analyses": "analysis",
        "statuses": "status", "aliases": "alias", "buses": "bus", "bonuses": "bonus", "criteria": "criterion",
        "addresses": "address", "viruses": "virus", "campuses": "campus", "geniuses": "genius", "lives": "life",
        "caches": "cache", "quizzes": "quiz",
    ]
    private static let invariant: Set = ["series", "species", "news", "media", "data", "metadata", "status", "bus"]

    /// Returns the singular of an English word in lower case.
    static func singular(_ word: String) -> String {
        if let known = irregular[word] { return known }
        guard !invariant.contains(word), word.count > 3 || word == "ids" else { return word }
        if word.hasSuffix("ies") { return word.dropLast(3) + "y" }
        if ["sses", "shes", "ches", "xes", "zzes"].contains(where: word.hasSuffix) { return String(word.dropLast(2)) }
        if ["ss", "us", "is"].contains(where: word.hasSuffix) { return word }
        return word.hasSuffix("s") ? String(word.dropLast()) : word
    }

    /// Returns the plural of an English word or name.
    static func plural(_ name: String) -> String {
        let lower = name.lowercased()
        if let known = irregular.first(where: { $0.value == lower })?.key {
            return String(name.prefix(1) + known.dropFirst())
        }
        if invariant.contains(lower), lower != "status", lower != "bus" { return name + "Records" }
        if lower.hasSuffix("y"), !["ay", "ey", "oy", "uy"].contains(where: lower.hasSuffix) {
            return name.dropLast() + "ies"
        }
        return name + (["s", "x", "ch", "sh", "z"].contains(where: lower.hasSuffix) ? "es" : "s")
    }

    /// Returns the words of a name in lower case: letters and digits of ASCII only.
    static func words(of name: String) -> [String] {
        var words: [String] = [], word = "", previousIsLower = false
        let characters = Array(name.unicodeScalars.prefix(200))
        for (index, scalar) in characters.enumerated() {
            let isUpper = ("A"..."Z").contains(scalar)
            let isWord = isUpper || ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
            let nextIsLower = index + 1 < characters.count && ("a"..."z").contains(characters[index + 1])
            if !isWord || (isUpper && (previousIsLower || nextIsLower)) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if isWord { word += String(scalar).lowercased() }
            previousIsLower = isWord && !isUpper
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// Returns the words of a name, the last one in the singular.
    static func singularWords(of name: String) -> [String] {
        var words = words(of: name)
        if let last = words.popLast() { words.append(singular(last)) }
        return words
    }

    /// Returns the name of an entity for a name of the API: `open_issues` → `OpenIssue`.
    static func entity(_ name: String) -> String {
        let joined = singularWords(of: name).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return valid(String(joined.prefix(60)), prefix: "Record", fallback: "Record")
    }

    /// Returns the name of an attribute or relationship for a key of the API.
    ///
    /// It is in camel case. If the key leads back from it, no `from` is necessary.
    static func field(_ key: String) -> String {
        let converted = NamingConvention().schemaName(forJSONKey: key)
        if isValid(converted), converted.lowercased() != "null" { return converted }
        let signs = key.replacing("+", with: " plus ").replacing("-", with: key.hasPrefix("-") ? " minus " : " ")
        let words = words(of: signs)
        let joined =
            (words.first ?? "") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return valid(String(joined.prefix(60)), prefix: "field", fallback: "field")
    }

    /// Returns the name of an endpoint: letters, digits and `_`.
    static func endpoint(_ name: String) -> String {
        let words = words(of: name)
        let joined =
            (words.first ?? "") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return joined.isEmpty ? "records" : String(joined.prefix(60))
    }

    /// Returns a name with its first letter in lower case.
    static func uncapitalized(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// Returns a name with its first letter in upper case.
    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// Returns a name that is not taken: the name itself, or with a number.
    static func unique(_ name: String, isTaken: (String) -> Bool) -> String {
        guard isTaken(name) else { return name }
        var number = 2
        while isTaken("\(name)\(number)") { number += 1 }
        return "\(name)\(number)"
    }

    private static func valid(_ name: String, prefix: String, fallback: String) -> String {
        guard let first = name.unicodeScalars.first else { return fallback }
        // `null` means no value in YAML.
        if name.lowercased() == "null" { return prefix + capitalized(name) }
        return first.properties.isAlphabetic ? name : prefix + name
    }

    /// Whether a name may be that of an attribute: letters and digits of ASCII and `_`.
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 120, (0x61...0x7A).contains(first | 0x20) else {
            return false
        }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
