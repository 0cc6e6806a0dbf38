// The rules of an API other than the mapping's: a store may hold the records of several APIs.

extension EntityMapping {
    /// Completes the entity by the naming and the rules of another API than the mapping's.
    ///
    /// The rules of the mapping no longer apply to it. Descendants inherit them.
    package mutating func adopt(_ api: Mapping) {
        convention = api.naming
        rules = rules.or(api.rules).or(.standard)
        duplicates = duplicates ?? api.duplicates ?? .lastWins
        keyless = keyless ?? api.keyless ?? .skip
        local = local ?? api.local ?? .fields
    }
}

extension FieldRules {
    /// The rules of fields for which nothing is declared.
    fileprivate static let standard: FieldRules = {
        var rules = FieldRules(coercion: .lenient, dates: [], nulls: .clear, toMany: .replace)
        rules.absent = .keep
        return rules
    }()
}
