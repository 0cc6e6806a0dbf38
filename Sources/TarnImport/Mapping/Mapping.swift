// The mapping of an API's JSON to drafts: the sources of every entity's values.

internal import TarnStore

/// The mapping of an API: its naming convention and, for every entity, the sources of its values.
public struct Mapping: Sendable, Hashable {
    /// The correspondence of JSON keys and schema names.
    public var naming: NamingConvention
    /// Entity mappings by entity name. Without one, every field takes its value from its own name.
    package var entities: [String: EntityMapping]
    /// The declared fields by entity name. Without an entry, those of the catalog.
    ///
    /// The catalog has the fields of all programs that use the store: an import leaves those that
    /// its own description does not declare as they are.
    package var declaredFields: [String: Set<String>] = [:]
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

    /// Returns the fields of an entity that an import may write, inherited ones included; nil for
    /// all.
    func declaredFields(of entity: Catalog.Entity, in catalog: Catalog) -> Set<String>? {
        guard !declaredFields.isEmpty else { return nil }
        let names = [entity.name] + catalog.ancestors(of: entity.id).compactMap { catalog.entity(id: $0)?.name }
        let declared = names.compactMap { declaredFields[$0] }
        guard !declared.isEmpty else { return nil }
        return declared.reduce(into: effective(entity, in: catalog).namedFields) { $0.formUnion($1) }
    }
}

extension EntityMapping {
    /// The fields that the mapping itself names.
    fileprivate var namedFields: Set<String> {
        Set(paths.keys).union(fields.keys).union(epochs.keys).union([version, rest].compactMap(\.self))
    }
}
