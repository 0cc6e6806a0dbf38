// The rules for values that `api`, an entity and an attribute share.

import TarnImport
import TarnStore

extension DescriptionReader {
    /// The keys of rules in `api` and in an entity.
    static let ruleKeys = ["coercion", "dates", "nulls", "absent", "to_many", "duplicates", "keyless", "local"]

    /// The keys of an entity that concern its mapping, not its schema.
    static let mappingKeys = ["ignore", "rest", "version", "deleted", "naming", "kinds", "otherwise", "url"] + ruleKeys

    /// Reads the rules of an API.
    mutating func rules(_ api: Section, into mapping: inout Mapping) {
        mapping.rules = rules(api, dates: "dates")
        mapping.duplicates = word(api, "duplicates", "rule for duplicates")
        mapping.keyless = word(api, "keyless", "rule for records without a key")
        mapping.local = word(api, "local", "rule for local changes")
    }

    /// Reads the rules of an entity.
    mutating func rules(ofEntity section: Section, into mapping: inout EntityMapping) {
        mapping.rules = rules(section, dates: "dates")
        mapping.rules.naming = word(section, "naming", "naming style")
        mapping.duplicates = word(section, "duplicates", "rule for duplicates")
        mapping.keyless = word(section, "keyless", "rule for records without a key")
        mapping.choice = choice(section)
        mapping.local = word(section, "local", "rule for local changes")
        mapping.version = text(section, "version")
        mapping.tombstone = tombstone(section)
        mapping.rest = text(section, "rest")
        mapping.url = recordURL(section)
    }

    /// Reads `deleted: deleted_at`, or `deleted: { state: gone }`.
    private mutating func tombstone(_ section: Section) -> TombstoneRule? {
        guard let value = section["deleted"] else { return nil }
        guard case .mapping(let pairs) = value.content else {
            guard let text = text(section, "deleted"),
                let path = plainKeyPath(text, section.path("deleted"), value.mark)
            else { return nil }
            return tombstone(path, section)
        }
        guard pairs.count == 1, let pair = pairs.first else {
            report(
                section, "deleted",
                "expected one key path and its value, such as deleted: { state: gone }")
            return nil
        }
        guard let path = plainKeyPath(pair.key, section.path("deleted"), pair.keyMark),
            let equals = text(pair.value, section.path("deleted"))
        else { return nil }
        return tombstone(path, section, equals)
    }

    private mutating func tombstone(_ path: JSONPath, _ section: Section, _ equals: String? = nil) -> TombstoneRule? {
        guard !path.steps.isEmpty else {
            report(section, "deleted", "$ is the whole record: use a key of it")
            return nil
        }
        guard !path.hasWildcard else {
            report(section, "deleted", "\(path) is not a single value of the record: use a key of it, without *")
            return nil
        }
        return TombstoneRule(path: path, equals: equals)
    }

    /// Reads the rules for fields.
    ///
    /// - Parameter dates: the key of the date formats.
    mutating func rules(_ section: Section, dates: String) -> FieldRules {
        var rules = FieldRules()
        rules.coercion = word(section, "coercion", "coercion")
        rules.nulls = word(section, "nulls", "rule for nulls")
        if !DescriptionReader.hasAbsentValue(section, dates) {
            rules.absent = word(section, "absent", "rule for absent fields")
        }
        rules.toMany = word(section, "to_many", "rule for lists")
        if section[dates] != nil {
            let texts = texts(section, dates)
            if texts.isEmpty, !isReported(section.path(dates)) {
                report(section, dates, "missing format: write one, such as rfc3339, or remove the line")
            }
            rules.dates = texts.compactMap { text, mark in
                do throws(DatePatternError) {
                    return try DateFormat(text)
                } catch {
                    report(
                        section.path(dates), mark,
                        "\(error); the named formats are \(DateFormat.words.joined(separator: ", "))"
                    )
                    return nil
                }
            }
        }
        return rules
    }

    /// Whether `absent` has a value. Only an attribute, whose date formats are in `format`, may.
    private static func hasAbsentValue(_ section: Section, _ dates: String) -> Bool {
        if dates == "format", case .mapping? = section["absent"]?.content { true } else { false }
    }

    /// Reads a word of a type; nil if it is absent or invalid.
    mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ section: Section, _ key: String, _ what: String)
        -> Word?
    {
        guard let text = text(section, key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        report(section, key, Spelling.unknown(what, text, among: Word.allCases.map(\.rawValue)))
        return nil
    }

    /// Reads the rules of an attribute.
    mutating func rules(ofAttribute section: Section, _ type: AttributeType) -> FieldRules {
        var rules = rules(section, dates: "format")
        rules.fallback = text(section, "fallback")
        rules.naming = word(section, "naming", "naming style")
        rules.absentValue = absentValue(section, type)
        if section["transform"] != nil {
            rules.transformers = texts(section, "transform").map(\.text)
            if rules.transformers == [], !isReported(section.path("transform")) {
                report(section, "transform", "missing transformer: name one, or remove the line")
            }
        }
        if section["format"] != nil, !isReported(section.path("format")), !isReported(section.path("type")) {
            if type != .date, type != .array(.date) {
                report(section, "format", "only a date can have a format: remove it, or make this a date")
            } else if section["epoch"] != nil {
                report(
                    section, "epoch", "format and epoch exclude each other: remove epoch, and write its unit as format")
            }
        }
        return rules
    }
}
