// What may be declared for one field, for all fields of an entity, or for all of an API; the nearest that says something counts.

/// How values are taken. What is nil is left to the next wider declaration: field, entity, API, default.
public struct FieldRules: Sendable, Hashable {
    /// Default: lenient.
    public var coercion: CoercionMode?
    /// The formats of dates, in the order in which they are tried. If not strict, RFC 3339 is tried after them. Default: RFC 3339.
    public var dates: [DateFormat]?

    /// Default: it clears.
    public var nulls: NullPolicy?
    /// Default: the field keeps what it has.
    public var absent: AbsentPolicy?
    /// Default: the list is replaced.
    public var toMany: ToManyPolicy?
    /// Of an `enum`: what is taken for a text that is none of its values; it is reported. Nil: the old value is kept.
    public var fallback: String?
    /// Names of transformers, in the order in which they are applied to JSON.
    public var transformers: [String]?
    /// How the words of a name are joined in JSON. Default: as the API's naming convention says.
    public var naming: NamingStyle?
    /// Of an attribute: what it is in a listed record that says nothing of it, and not even null; of an attribute of the key, in
    /// every record. Goes before ``absent``.
    public var absentValue: JSONValue?

    public init(
        coercion: CoercionMode? = nil, dates: [DateFormat]? = nil, nulls: NullPolicy? = nil, absent: AbsentPolicy? = nil,
        toMany: ToManyPolicy? = nil, fallback: String? = nil, transformers: [String]? = nil, naming: NamingStyle? = nil,
        absentValue: JSONValue? = nil
    ) {
        self.naming = naming
        self.absentValue = absentValue
        self.fallback = fallback
        self.transformers = transformers
        self.coercion = coercion
        self.dates = dates
        self.nulls = nulls
        self.absent = absent
        self.toMany = toMany
    }

    /// These, and where they say nothing, those. A fallback, transformers and a value for what is absent are of one field.
    func or(_ wider: FieldRules) -> FieldRules {
        FieldRules(
            coercion: coercion ?? wider.coercion, dates: dates ?? wider.dates, nulls: nulls ?? wider.nulls,
            absent: absent ?? wider.absent, toMany: toMany ?? wider.toMany,
            fallback: fallback, transformers: transformers, naming: naming ?? wider.naming, absentValue: absentValue)
    }

    /// These, and where they say nothing, those of the same field of the parent entity.
    func inheriting(_ parent: FieldRules) -> FieldRules {
        var rules = or(parent)
        rules.fallback = fallback ?? parent.fallback
        rules.transformers = transformers ?? parent.transformers
        rules.absentValue = absentValue ?? parent.absentValue
        return rules
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
