// What may be declared for one field, for all fields of an entity, or for all of an API; the nearest that says something counts.

/// How values are taken. What is nil is left to the next wider declaration: field, entity, API, default.
public struct FieldRules: Sendable, Hashable {
    /// Default: lenient.
    public var coercion: CoercionMode?
    /// The formats of dates, in the order in which they are tried. If not strict, RFC 3339 is tried after them. Default: RFC 3339.
    public var dates: [DateFormat]?

    public init(coercion: CoercionMode? = nil, dates: [DateFormat]? = nil) {
        self.coercion = coercion
        self.dates = dates
    }

    /// These, and where they say nothing, those.
    func or(_ wider: FieldRules) -> FieldRules {
        FieldRules(coercion: coercion ?? wider.coercion, dates: dates ?? wider.dates)
    }
}

extension Mapping {
    /// What counts for a field.
    func rules(of entity: EntityMapping, _ field: String) -> FieldRules {
        var own = entity.fields[field] ?? FieldRules()
        if own.dates == nil, let unit = entity.epochs[field] { own.dates = [.epoch(unit)] }
        return own.or(entity.rules).or(rules)
    }
}
