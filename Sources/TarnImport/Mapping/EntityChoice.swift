// Which of the entities that descend from one a record is: what an API says by a discriminator.

internal import TarnStore

/// How the JSON of a record says which special kind of its entity it is.
public struct EntityChoice: Sendable, Hashable {
    /// In their order; the first that holds counts. The entity that it names may have a choice of its own.
    public var rules: [Rule]
    /// What a record is for which no rule holds.
    public var otherwise: Otherwise

    /// A way in which a record says what it is.
    public enum Rule: Sendable, Hashable {
        /// An entity that descends from the one that has the rules, or that one itself, if all conditions hold.
        case entity(String, when: [RecordCondition])
        /// What code says.
        case code(EntityChooser)
    }

    /// What a record is that no rule knows.
    public enum Otherwise: String, Sendable, Hashable, CaseIterable {
        /// The entity that has the rules. What is stored as one of a special kind stays that.
        case parent
        /// Nothing: it is reported as `entity.unknown`, and skipped.
        case skip
    }

    public init(_ rules: [Rule], otherwise: Otherwise = .parent) {
        self.rules = rules
        self.otherwise = otherwise
    }

    /// The entities that rules name.
    var entities: [String] {
        rules.compactMap { if case .entity(let name, _) = $0 { name } else { nil } }
    }
}
