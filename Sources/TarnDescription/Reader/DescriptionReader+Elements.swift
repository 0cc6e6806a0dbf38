// Lists whose elements are messages about records: `record`, `where` and `deleted` under `records`.

import TarnImport

extension DescriptionReader {
    /// Reads the rule by which an element of a list is a message about a record.
    mutating func elementRule(_ section: Section) -> ElementRule {
        var rule = ElementRule()
        rule.records = texts(section, "record").compactMap { text, mark in
            guard let path = plainKeyPath(text, section.path("record"), mark) else { return nil }
            guard !path.hasWildcard else {
                report(
                    section.path("record"), mark,
                    "\(path) is not a single value of the element: use a key of it, without *")
                return nil
            }
            return path
        }
        rule.conditions = conditions(section, "where")
        if let value = section["deleted"] {
            if case .mapping = value.content {
                let conditions = conditions(section, "deleted")
                if !conditions.isEmpty { rule.deletion = .when(conditions) }
            } else if flag(section, "deleted") {
                rule.deletion = .all
            }
        }
        return rule
    }

    private mutating func conditions(_ section: Section, _ key: String) -> [RecordCondition] {
        guard let value = section[key] else { return [] }
        let field = section.path(key)
        let entry = YAMLValue.Entry(key: key, keyMark: value.mark, value: value)
        let found = conditions(entry, String(field.dropLast(key.count + 1)))
        if found.isEmpty, !isReported(in: field) {
            report(section, key, "missing condition: write one, such as { type: deleted }")
        }
        return found
    }
}
