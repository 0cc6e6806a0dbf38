// The choice of a record's concrete entity by its JSON, such as a discriminator.

/// The rules that choose the concrete entity of a record by its JSON.
public struct EntityChoice: Sendable, Hashable {
    /// The rules in order; the first that holds wins. The chosen entity may have its own choice.
    package var rules: [Rule]
    /// The entity of a record for which no rule holds.
    package var otherwise: Otherwise

    /// A rule that chooses an entity.
    public enum Rule: Sendable, Hashable {
        /// An entity, if all conditions hold: the one that declares the rules, or a descendant.
        case entity(String, when: [RecordCondition])
        /// A choice in code.
        case code(EntityChooser)
    }

    /// The treatment of a record for which no rule holds.
    public enum Otherwise: String, Sendable, Hashable, CaseIterable {
        /// The record is of the entity that declares the rules.
        ///
        /// A stored record of a descendant keeps its entity.
        case parent
        /// The record is reported as `entity.unknown` and skipped.
        case skip
    }

    /// Creates a choice.
    public init(_ rules: [Rule], otherwise: Otherwise = .parent) {
        self.rules = rules
        self.otherwise = otherwise
    }

    /// The entities that the rules name.
    var entities: [String] {
        rules.compactMap { if case .entity(let name, _) = $0 { name } else { nil } }
    }
}
