// What may be declared for one field, for all fields of an entity, or for all of an API; the nearest that says something counts.

/// What null does.
public enum NullPolicy: String, Sendable, Hashable, CaseIterable {
    /// It clears the field.
    case clear
    /// The field keeps what it has, as if nothing were said.
    case ignore
}

/// What it does if a field is not there at all.
public enum AbsentPolicy: String, Sendable, Hashable, CaseIterable {
    /// The field keeps what it has.
    case keep
    /// In a record that a response lists, an optional field is cleared: for APIs that leave out what is null. Nested objects,
    /// which may be excerpts, clear nothing.
    case clear
}

/// What the list of a to-many relationship does to the one that is stored.
public enum ToManyPolicy: String, Sendable, Hashable, CaseIterable {
    /// It takes its place.
    case replace
    /// What is stored stays where it is; what is new comes at the end.
    case append
    /// What is stored stays where it is; what is new comes at the beginning.
    case prepend
    /// Nothing leaves. What both have takes the order of the response among the places that it has; what is new comes at the end.
    case patch
}

/// Which values count if a record is met several times in a unit: fields that only one of them has are taken from each.
public enum DuplicatePolicy: String, Sendable, Hashable, CaseIterable {
    case lastWins = "last_wins"
    case firstWins = "first_wins"
}

/// What becomes of records without a usable key.
public enum KeylessPolicy: String, Sendable, Hashable, CaseIterable {
    /// Each is reported as `key.missing`, and skipped with everything nested in it.
    case skip
    /// The unit fails.
    case fail
}

/// How a response says that a record is no more.
public struct TombstoneRule: Sendable, Hashable {
    /// From the record.
    public var path: KeyPath
    /// The text, or the text of the number or boolean, that stands there. Nil: anything but null and false.
    public var equals: String?

    public init(path: KeyPath, equals: String? = nil) {
        self.path = path
        self.equals = equals
    }
}

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
