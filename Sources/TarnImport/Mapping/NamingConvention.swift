// How names in JSON and names in a schema correspond when nothing else is said, in both directions.

/// How names in JSON and names in a schema correspond: names of a schema are `camelCase`, those in JSON are of a style, and whole
/// words may be replaced (`id` in JSON is `identifier` in the schema).
///
/// A name is divided into words first, and only whole words are replaced: the `id` of `video_id` is not that of `video`.
public struct NamingConvention: Sendable, Hashable {
    /// How words are put together in JSON.
    public var style: NamingStyle
    /// Word in JSON, in lower case → word in the schema. A word with capitals (`URL`) is written so in a name, but for its beginning.
    public var words: [String: String]

    public init(_ style: NamingStyle = .snakeCase, words: [String: String] = [:]) {
        self.style = style
        self.words = words
    }

    /// The same with another style.
    public func with(_ style: NamingStyle?) -> NamingConvention { NamingConvention(style ?? self.style, words: words) }

    /// The JSON keys that a schema name stands for, in the order in which they are tried: the converted name, then the
    /// name as it is written.
    public func jsonKeys(for name: String) -> [String] {
        let converted = jsonKey(for: name)
        return converted == name ? [name] : [converted, name]
    }

    /// The JSON key that a schema name is written under.
    public func jsonKey(for name: String) -> String {
        guard style != .none else { return name }
        // Sorted, so that of two words for the same one always the same is taken.
        let back = Dictionary(
            words.sorted { $0.key < $1.key }.map { ($0.value.lowercased(), $0.key) }, uniquingKeysWith: { first, _ in first })
        let converted = style.join(NamingConvention.words(of: name).map { back[$0] ?? $0 })
        return converted.isEmpty ? name : converted
    }

    /// The schema name for a JSON key: `updated_at` → `updatedAt`; with `id` for `identifier`, `video_id` → `videoIdentifier`.
    ///
    /// The key of that name is the same again. So words that would run into each other, as `url` and `x` in `URLX`, are written with
    /// fewer capitals, or keep a `_`. A key that begins with a digit, or has no letter or digit in it, has no name that a schema
    /// could use: it comes back as it is.
    public func schemaName(forJSONKey key: String) -> String {
        guard style != .none else { return key }
        let divided = NamingConvention.words(of: key).map { words[$0] ?? $0 }
        guard let first = divided.first, first.unicodeScalars.first.map({ $0.properties.isAlphabetic }) == true else { return key }
        // A name begins in lower case: `URL` is `url` there.
        let beginning = first == first.uppercased() ? first.lowercased() : NamingConvention.uncapitalized(first)
        let plain = style.join(NamingConvention.words(of: key))
        let lower = divided.map { $0 == $0.uppercased() ? $0.lowercased() : $0 }
        for name in [
            beginning + divided.dropFirst().map(NamingConvention.capitalized).joined(), NamingStyle.camelCase.join(lower),
            lower.joined(separator: "_"),
        ] where jsonKey(for: name) == plain {
            return name
        }
        return key
    }

    /// The one of several schema names that takes its value from a JSON key by its name; nil if none does.
    public func schemaName(forJSONKey key: String, among names: [String]) -> String? {
        let converted = schemaName(forJSONKey: key)
        if names.contains(converted), jsonKeys(for: converted).contains(key) { return converted }
        return names.first { jsonKey(for: $0) == key } ?? names.first { $0 == key }
    }

    static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    private static func uncapitalized(_ word: String) -> String { word.prefix(1).lowercased() + word.dropFirst() }

    /// `updatedAt` → `updated`, `at`; `htmlURL` → `html`, `url`; `HTTPStatus` → `http`, `status`; `plus1` → `plus1`; `last-seen` →
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
