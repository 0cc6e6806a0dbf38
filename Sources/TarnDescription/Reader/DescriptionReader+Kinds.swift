// The special kinds of an entity, and envelopes: responses with records of several entities.

import TarnImport
import TarnStore

extension DescriptionReader {
    /// Reads `kinds`, from entities to conditions, in their order, and `otherwise`.
    mutating func choice(_ section: Section) -> EntityChoice? {
        let otherwise: EntityChoice.Otherwise? = word(section, "otherwise", "rule for other records")
        guard section["kinds"] != nil else {
            if section["otherwise"] != nil {
                report(section, "otherwise", "otherwise needs kinds: add kinds, or remove the line")
            }
            return nil
        }
        let entries = entries(section, "kinds", of: "entities to conditions")
        if entries.isEmpty, !isReported(section.path("kinds")) {
            report(section, "kinds", "missing entity: write one with its conditions, such as Push: { type: PushEvent }")
        }
        let rules = entries.map { EntityChoice.Rule.entity($0.key, when: conditions($0, section.path("kinds"))) }
        return EntityChoice(rules, otherwise: otherwise ?? .parent)
    }

    mutating func conditions(_ entry: YAMLValue.Entry, _ field: String) -> [RecordCondition] {
        let field = "\(field).\(entry.key)"
        guard case .mapping(let pairs) = entry.value.content else {
            report(
                field, entry.value.mark,
                "expected a mapping from key paths to values, such as { type: PushEvent }, found \(entry.value.kind)")
            return []
        }
        return pairs.compactMap { pair in
            guard let path = plainKeyPath(pair.key, field, pair.keyMark) else { return nil }
            guard !path.steps.isEmpty, !path.hasWildcard else {
                report(field, pair.keyMark, "\(path) is not a single value of the record: use a key of it, without *")
                return nil
            }
            return test(pair.value, "\(field).\(pair.key)").map { RecordCondition(path, $0) }
        }
    }

    /// Reads a test: nothing, `'*'`, a value or a list of values, or a comparison.
    private mutating func test(_ value: YAMLValue, _ field: String) -> RecordCondition.Test? {
        if value.isNull { return .isAbsent }
        if case .list(let values) = value.content {
            let texts = values.compactMap { text($0, field) }
            if texts.isEmpty, !isReported(field) {
                report(field, value.mark, "missing value: write one, or '*' for any")
            }
            return .matches(texts)
        }
        guard let text = text(value, field) else { return nil }
        if text == "*" { return .isPresent }
        guard let (comparison, other) = DescriptionReader.comparison(text) else { return .matches([text]) }
        return .compares(comparison, other)
    }

    // MARK: Envelopes

    /// Reads `records` with several key paths and their entities; nil if it is one key path.
    mutating func envelope(_ section: Section, _ schema: Schema) -> [EnvelopePart]? {
        guard let value = section["records"], case .mapping = value.content else { return nil }
        if section["entity"] != nil {
            report(section, "entity", "the key paths under records have their own entities: remove the line")
        }
        let entries = entries(section, "records", of: "key paths to entities")
        if entries.isEmpty {
            report(section, "records", "missing key path: write each with its entity, such as users: User")
        }
        return entries.compactMap { entry in
            let field = "\(section.path("records")).\(entry.key)"
            var name = Section(field: field, mark: entry.value.mark, values: ["entity": entry.value]),
                isOptional = false, exceptions: Set<String> = [], elements = ElementRule()
            if case .mapping = entry.value.content {
                guard
                    let inner = self.section(
                        entry.value, field,
                        keys: ["entity", "optional", "except", "record", "where", "deleted"], required: ["entity"],
                        example: ["entity": "entity: User"])
                else { return nil }
                isOptional = flag(inner, "optional")
                exceptions = Set(texts(inner, "except").map(\.text))
                elements = elementRule(inner)
                name = inner
            }
            guard let path = plainKeyPath(entry.key, field, entry.keyMark),
                let entity = entityName(name, "entity", schema)
            else { return nil }
            if !exceptions.isEmpty, path.steps.last != .each {
                report(
                    at: "\(field).except",
                    "only a map has members that are no records: end the key path with *, or remove the line")
            }
            var part = EnvelopePart(path, entity, optional: isOptional)
            part.exceptions = exceptions
            part.elements = elements
            return part
        }
    }
}
