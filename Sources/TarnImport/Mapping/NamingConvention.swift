// The default correspondence of JSON keys and schema names, in both directions.

/// The correspondence of JSON keys and schema names.
///
/// Schema names are `camelCase`; JSON keys have a style. Whole words may be replaced: `id` in JSON
/// is `identifier` in the schema. A name is split into words first, so that only whole words are
/// replaced: the `id` of `video_id`, but not that of `video`.
public struct NamingConvention: Sendable, Hashable {
    /// The way in which words are joined in JSON.
    package var style: NamingStyle
    /// The replaced words: the word in JSON, in lower case → the word in the schema.
    ///
    /// A word with capitals (`URL`) keeps them in a name, except at the name's beginning.
    package var words: [String: String]

    /// The suffixes of JSON keys that hold the bare key of a relationship's target, such as `_id`.
    ///
    /// If there are any, a relationship `author` without a value of its own takes that of
    /// `author_id`, and a to-many relationship `labels` that of `label_ids`. The words are joined
    /// in the style, as in `authorId`; the suffix as it is written is tried after that. Default:
    /// none, so that no key is taken by its name alone.
    public var referenceSuffixes: [String]

    /// Creates a convention.
    public init(
        _ style: NamingStyle = .snakeCase, words: [String: String] = [:], referenceSuffixes: [String] = []
    ) {
        self.style = style
        self.words = words
        self.referenceSuffixes = referenceSuffixes
    }

    /// Returns this convention with another style. Nil keeps the style.
    package func with(_ style: NamingStyle?) -> NamingConvention {
        NamingConvention(style ?? self.style, words: words, referenceSuffixes: referenceSuffixes)
    }

    /// Returns the JSON keys of a schema name in the order in which they are tried.
    ///
    /// The converted name comes first, then the name as it is written, and the name without the
    /// underscores at its beginning.
    package func jsonKeys(for name: String) -> [String] {
        let converted = jsonKey(for: name)
        var keys = converted == name ? [name] : [converted, name]
        if style != .none, name.hasPrefix("_") {
            let plain = style.join(jsonWords(of: name))
            if !plain.isEmpty { keys.append(plain) }
        }
        return keys
    }

    /// Returns the JSON key of a schema name.
    ///
    /// Underscores at the beginning are no part of a style: `_id` and `_rev` are names of JSON.
    package func jsonKey(for name: String) -> String {
        guard style != .none else { return name }
        let converted = style.join(jsonWords(of: name))
        return converted.isEmpty ? name : String(name.prefix { $0 == "_" }) + converted
    }

    /// Returns the words of a schema name as they are in JSON.
    func jsonWords(of name: String) -> [String] {
        // Sorted: if two words have the same replacement, the choice is deterministic.
        let back = Dictionary(
            words.sorted { $0.key < $1.key }.map { ($0.value.lowercased(), $0.key) },
            uniquingKeysWith: { first, _ in first })
        return NamingConvention.words(of: name).map { back[$0] ?? $0 }
    }

    /// Returns the schema name for a JSON key: `updated_at` → `updatedAt`.
    ///
    /// With `id` for `identifier`, `video_id` becomes `videoIdentifier`. The result converts back
    /// to the key, written in ``style``. If joined words would run into each other (`url` and `x`
    /// in `URLX`), they are written with fewer capitals, or keep a `_`. A key that begins with a
    /// digit, or contains neither a letter nor a digit, is returned unchanged: no schema name
    /// corresponds to it.
    package func schemaName(forJSONKey key: String) -> String {
        guard style != .none else { return key }
        let divided = NamingConvention.words(of: key).map { words[$0] ?? $0 }
        guard let first = divided.first, first.unicodeScalars.first.map({ $0.properties.isAlphabetic }) == true else {
            return key
        }
        // A name begins in lower case: `URL` becomes `url` there.
        let beginning = first == first.uppercased() ? first.lowercased() : NamingConvention.uncapitalized(first)
        let plain = style.join(NamingConvention.words(of: key))
        let lower = divided.map { $0 == $0.uppercased() ? $0.lowercased() : $0 }
        for name in [
            beginning + divided.dropFirst().map(NamingConvention.capitalized).joined(),
            NamingStyle.camelCase.join(lower),
            lower.joined(separator: "_"),
        ] where jsonKey(for: name) == plain {
            return name
        }
        return key
    }

    static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    private static func uncapitalized(_ word: String) -> String { word.prefix(1).lowercased() + word.dropFirst() }

    /// Splits a name into words in lower case: `updatedAt` → `updated`, `at`.
    ///
    /// `htmlURL` → `html`, `url`; `HTTPStatus` → `http`, `status`; `plus1` → `plus1`; `last-seen` →
    /// `last`, `seen`.
    static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        let scalars = Array(name.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "_" || scalar == "-" {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            if scalar.properties.isUppercase, !word.isEmpty {
                let previousIsUpper = scalars[index - 1].properties.isUppercase
                let nextIsLower = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                if !previousIsUpper || nextIsLower {
                    words.append(word)
                    word = ""
                }
            }
            word += scalar.properties.lowercaseMapping
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
