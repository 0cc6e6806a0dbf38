// What a relationship of the `entities` section says beside where it leads: its delete rule, and the attributes that join it.

import TarnStore

extension DescriptionReader {
    /// `on_delete`; `none` if it is not there or not one.
    mutating func deleteRule(_ section: Section) -> RelationshipDefinition.DeleteRule {
        guard let text = text(section, "on_delete") else { return .none }
        if let rule = RelationshipDefinition.DeleteRule(rawValue: text) { return rule }
        let known = RelationshipDefinition.DeleteRule.allCases.map(\.rawValue)
        report(section, "on_delete", Spelling.unknown("delete rule", text, among: known))
        return .none
    }

    /// `join: { own: theirs }`; nil if it is not there or not one pair of attributes.
    mutating func join(_ section: Section) -> RelationshipDefinition.Join? {
        guard let value = section["join"] else { return nil }
        guard case .mapping(let pairs) = value.content, pairs.count == 1, let pair = pairs.first else {
            report(section, "join", "expected one attribute here and the one there, such as join: { userLogin: login }")
            return nil
        }
        guard let theirs = text(pair.value, section.path("join")) else { return nil }
        if section["from"] != nil {
            report(section, "from", "a joined relationship takes nothing from JSON, its attribute does: remove from")
        }
        return RelationshipDefinition.Join(pair.key, equals: theirs)
    }
}
