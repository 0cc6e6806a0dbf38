// How the JSON of an API becomes drafts: for every entity where each of its values comes from.

/// The mapping of an API: its naming convention and, for every entity, where its values come from.
public struct Mapping: Sendable, Hashable {
    public var naming: NamingConvention
    /// By entity name. An entity that is not listed takes every value from its own name.
    public var entities: [String: EntityMapping]
    /// What counts where neither a field nor its entity says otherwise.
    public var rules: FieldRules
    /// Default: the last one wins.
    public var duplicates: DuplicatePolicy?
    /// Those that fields may name beside the built-in ones, by whose names they may go too.
    public var transformers: [ValueTransformer]
    /// Of records that were changed here and not yet at the server. Default: changed fields keep their value.
    public var local: LocalPolicy?

    public init(
        naming: NamingConvention = NamingConvention(), entities: [String: EntityMapping] = [:], rules: FieldRules = FieldRules(),
        duplicates: DuplicatePolicy? = nil, transformers: [ValueTransformer] = [], local: LocalPolicy? = nil
    ) {
        self.local = local
        self.transformers = transformers
        self.duplicates = duplicates
        self.naming = naming
        self.entities = entities
        self.rules = rules
    }
}

/// Where the values of one entity come from.
public struct EntityMapping: Sendable, Hashable {
    /// For an attribute or relationship, by name, the declared alternates in order. After them its own name is tried.
    public var paths: [String: [KeyPath]]
    /// Date attributes whose JSON is a number: the unit it counts in since 1970.
    public var epochs: [String: EpochUnit]
    /// Key paths, relative to the record, that are known and not wanted. `*` stands for any run of characters in one key.
    /// A path also covers everything below it.
    public var ignored: [KeyPath]
    /// Relationships whose references are stored at the other side and which may nevertheless stand in this entity's JSON,
    /// under their own name. Those with `paths` need not be listed.
    public var declared: Set<String>
    /// What counts for single attributes and relationships, by name.
    public var fields: [String: FieldRules]
    /// What counts for those that say nothing of their own.
    public var rules: FieldRules
    /// Nil: as the API says.
    public var duplicates: DuplicatePolicy?
    /// An attribute that grows with every change of a record at the server: what comes with a smaller one than the stored is an
    /// older answer, and changes nothing.
    public var version: String?
    /// What says that a record is no more at the server; it is deleted then, by its delete rules.
    public var tombstone: TombstoneRule?
    /// A `json` attribute that keeps what nothing else takes: an object of all keys that are neither mapped nor ignored. It is set by
    /// listed records, and by nested ones that have all that is required.
    public var rest: String?
    /// Nil: as the API says.
    public var local: LocalPolicy?

    public init(
        paths: [String: [KeyPath]] = [:], epochs: [String: EpochUnit] = [:], ignored: [KeyPath] = [],
        declared: Set<String> = [], fields: [String: FieldRules] = [:], rules: FieldRules = FieldRules(),
        duplicates: DuplicatePolicy? = nil, version: String? = nil, tombstone: TombstoneRule? = nil, rest: String? = nil, local: LocalPolicy? = nil
    ) {
        self.local = local
        self.rest = rest
        self.duplicates = duplicates
        self.version = version
        self.tombstone = tombstone
        self.fields = fields
        self.rules = rules
        self.paths = paths
        self.epochs = epochs
        self.ignored = ignored
        self.declared = declared
    }
}

public enum EpochUnit: String, Sendable, Hashable, CaseIterable {
    case seconds, milliseconds, microseconds
}

/// A path of object keys: `reactions.+1`. A `.` inside a key is written `\.`, a backslash `\\`.
public struct KeyPath: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The unescaped keys, outermost first. Empty means the value itself (written `$`).
    public var keys: [String]

    public init(keys: [String]) {
        self.keys = keys
    }

    /// Nil if the text is empty, has an empty key, or ends in an unfinished escape.
    public init?(_ text: String) {
        if text == "$" {
            keys = []
            return
        }
        var keys: [String] = [], key = "", escaped = false
        for character in text.unicodeScalars {
            if escaped {
                guard character == "." || character == "\\" else { return nil }
                key.unicodeScalars.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character == "." {
                guard !key.isEmpty else { return nil }
                keys.append(key)
                key = ""
            } else {
                key.unicodeScalars.append(character)
            }
        }
        guard !escaped, !key.isEmpty else { return nil }
        keys.append(key)
        self.keys = keys
    }

    /// Misuse (a malformed literal) is a programmer's error and traps.
    public init(stringLiteral text: String) {
        guard let path = KeyPath(text) else { preconditionFailure("not a key path: \(text)") }
        self = path
    }

    public var description: String {
        keys.isEmpty ? "$" : keys.map { $0.replacing("\\", with: "\\\\").replacing(".", with: "\\.") }.joined(separator: ".")
    }
}

/// How names in JSON and names in a schema correspond when nothing else is said: `snake_case` in JSON is `camelCase` in the
/// schema, and whole words may be replaced (`id` in JSON is `identifier` in the schema).
public struct NamingConvention: Sendable, Hashable {
    /// Word in JSON → word in the schema, both in lower case.
    public var words: [String: String]

    public init(words: [String: String] = [:]) {
        self.words = words
    }

    /// The JSON keys that a schema name stands for, in the order in which they are tried: the converted name, then the
    /// name as it is written.
    public func jsonKeys(for name: String) -> [String] {
        // Sorted, so that of two words for the same one always the same is taken.
        let back = Dictionary(
            words.sorted { $0.key < $1.key }.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        let converted = NamingConvention.words(of: name).map { back[$0] ?? $0 }.joined(separator: "_")
        return converted == name ? [name] : [converted, name]
    }

    /// `updatedAt` → `updated`, `at`; `htmlURL` → `html`, `url`; `HTTPStatus` → `http`, `status`; `plus1` → `plus1`.
    static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        let scalars = Array(name.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "_" {
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
