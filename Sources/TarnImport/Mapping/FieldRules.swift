// Rules for one field, all fields of an entity, or all fields of an API. The nearest rule wins.

/// The rules for reading values. Nil defers to the next wider scope: field, entity, API, default.
public struct FieldRules: Sendable, Hashable {
    /// The coercion mode. Default: lenient.
    package var coercion: CoercionMode?
    /// The formats of dates, in the order in which they are tried. Default: RFC 3339.
    ///
    /// Unless the coercion is strict, RFC 3339 is tried after them.
    package var dates: [DateFormat]?

    /// The effect of a null. Default: `clear`.
    package var nulls: NullPolicy?
    /// The effect of an absent field. Default: `keep`.
    public var absent: AbsentPolicy?
    /// The combination of a list with the stored one. Default: `replace`.
    package var toMany: ToManyPolicy?
    /// The value of an `enum` for a text that is none of its values; such a text is reported.
    ///
    /// Nil: the stored value is kept.
    public var fallback: String?
    /// The names of the transformers that are applied to the JSON, in order.
    package var transformers: [String]?
    /// The naming style in JSON. Default: that of the API's naming convention.
    public var naming: NamingStyle?
    /// The value of an attribute in a listed record that does not contain it, not even as null.
    ///
    /// For an attribute of the key it applies to every record. It takes precedence over ``absent``.
    package var absentValue: JSONValue?

    /// Creates rules. Nil defers to the next wider scope.
    public init(
        coercion: CoercionMode? = nil, dates: [DateFormat]? = nil, nulls: NullPolicy? = nil,
        toMany: ToManyPolicy? = nil, transformers: [String]? = nil, absentValue: JSONValue? = nil
    ) {
        self.absentValue = absentValue
        self.transformers = transformers
        self.coercion = coercion
        self.dates = dates
        self.nulls = nulls
        self.toMany = toMany
    }

    /// Returns these rules, completed by wider ones.
    ///
    /// A fallback, transformers and an absent value belong to one field: they are not completed.
    func or(_ wider: FieldRules) -> FieldRules {
        var rules = self
        rules.coercion = coercion ?? wider.coercion
        rules.dates = dates ?? wider.dates
        rules.nulls = nulls ?? wider.nulls
        rules.absent = absent ?? wider.absent
        rules.toMany = toMany ?? wider.toMany
        rules.naming = naming ?? wider.naming
        return rules
    }

    /// Returns these rules, completed by those of the same field in the parent entity.
    func inheriting(_ parent: FieldRules) -> FieldRules {
        var rules = or(parent)
        rules.fallback = fallback ?? parent.fallback
        rules.transformers = transformers ?? parent.transformers
        rules.absentValue = absentValue ?? parent.absentValue
        return rules
    }
}

extension Mapping {
    /// Returns the effective rules of a field.
    func rules(of entity: EntityMapping, _ field: String) -> FieldRules {
        var own = entity.fields[field] ?? FieldRules()
        if own.dates == nil, let unit = entity.epochs[field] { own.dates = [.epoch(unit)] }
        return own.or(entity.rules).or(rules)
    }
}
