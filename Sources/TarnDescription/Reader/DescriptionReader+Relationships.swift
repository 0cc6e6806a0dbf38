// The keys `on_delete` and `join` of a relationship.

import TarnStore

extension DescriptionReader {
    /// Reads `on_delete`; `none` if it is absent or invalid.
    mutating func deleteRule(_ section: Section) -> RelationshipDefinition.DeleteRule {
        guard let text = text(section, "on_delete") else { return .none }
        if let rule = RelationshipDefinition.DeleteRule(rawValue: text) { return rule }
        let known = RelationshipDefinition.DeleteRule.allCases.map(\.rawValue)
        report(section, "on_delete", Spelling.unknown("delete rule", text, among: known))
        return .none
    }

    /// Reads `join: { own: theirs }`; nil if it is absent or not one pair of attributes.
    mutating func join(_ section: Section) -> RelationshipDefinition.Join? {
        guard let value = section["join"] else { return nil }
        guard case .mapping(let pairs) = value.content, pairs.count == 1, let pair = pairs.first else {
            report(section, "join", "expected one attribute and its counterpart, such as join: { userLogin: login }")
            return nil
        }
        guard let theirs = text(pair.value, section.path("join")) else { return nil }
        if section["from"] != nil {
            report(section, "from", "a joined relationship has no value in JSON, only its attribute has: remove from")
        }
        return RelationshipDefinition.Join(pair.key, equals: theirs)
    }
}
