// The mapping of an API's JSON to drafts: the sources of every entity's values.

/// The mapping of an API: its naming convention and, for every entity, the sources of its values.
public struct Mapping: Sendable, Hashable {
    /// The correspondence of JSON keys and schema names.
    public var naming: NamingConvention
    /// Entity mappings by entity name. Without one, every field takes its value from its own name.
    package var entities: [String: EntityMapping]
    /// The rules of fields for which neither the field nor its entity declares any.
    public var rules: FieldRules
    /// The duplicate policy. Default: `lastWins`.
    package var duplicates: DuplicatePolicy?
    /// The treatment of records without a usable key. Default: `skip`.
    package var keyless: KeylessPolicy?
    /// The transformers that fields may name, besides the built-in ones.
    ///
    /// A transformer replaces the built-in one of the same name.
    public var transformers: [ValueTransformer]
    /// The base URLs of the API, to which the URLs of records are relative.
    ///
    /// A description sets them if an entity declares ``EntityMapping/url``.
    package var bases: [String] = []
    /// The policy for records with local changes that the server does not have. Default: `fields`.
    public var local: LocalPolicy?

    /// Creates a mapping. By default, every field takes its value from its own name.
    public init(
        naming: NamingConvention = NamingConvention(), entities: [String: EntityMapping] = [:],
        rules: FieldRules = FieldRules(),
        duplicates: DuplicatePolicy? = nil, keyless: KeylessPolicy? = nil, transformers: [ValueTransformer] = []
    ) {
        self.keyless = keyless
        self.transformers = transformers
        self.duplicates = duplicates
        self.naming = naming
        self.entities = entities
        self.rules = rules
    }
}
