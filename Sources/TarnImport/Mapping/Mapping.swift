// How the JSON of an API becomes drafts: for every entity where each of its values comes from.

/// The mapping of an API: its naming convention and, for every entity, where its values come from.
public struct Mapping: Sendable, Hashable {
    public var naming: NamingConvention
    /// By entity name. An entity that is not listed takes every value from its own name.
    public var entities: [String: EntityMapping]
    /// What counts where neither a field nor its entity says otherwise.
    public var rules: FieldRules
    /// Default: the last one wins.
    public var duplicates: DuplicatePolicy?
    /// Default: records without a key are skipped.
    public var keyless: KeylessPolicy?
    /// Those that fields may name beside the built-in ones, by whose names they may go too.
    public var transformers: [ValueTransformer]
    /// Of records that were changed here and not yet at the server. Default: changed fields keep their value.
    public var local: LocalPolicy?

    public init(
        naming: NamingConvention = NamingConvention(), entities: [String: EntityMapping] = [:], rules: FieldRules = FieldRules(),
        duplicates: DuplicatePolicy? = nil, keyless: KeylessPolicy? = nil, transformers: [ValueTransformer] = [], local: LocalPolicy? = nil
    ) {
        self.local = local
        self.keyless = keyless
        self.transformers = transformers
        self.duplicates = duplicates
        self.naming = naming
        self.entities = entities
        self.rules = rules
    }
}
