/// The mapping of one entity: the sources of its values and its policies.
///
/// A child entity inherits everything that it does not declare itself, except ``choice``.
public struct EntityMapping: Sendable, Hashable {
    /// The declared alternates of attributes and relationships, in order, by field name.
    ///
    /// The field's own name is tried after them. The first alternate that is present and not null
    /// wins. The value is null only if all alternates that are present are null.
    package var paths: [String: [ValueSource]]
    /// The unit since 1970 of date attributes whose JSON is a number, by attribute name.
    package var epochs: [String: EpochUnit]
    /// Key paths of known but unwanted values, relative to the record.
    ///
    /// `*` matches any run of characters in one key. A path also covers everything below it.
    public var ignored: [JSONPath]
    /// Derived relationships that may appear in this entity's JSON under their own name.
    ///
    /// Their references are stored at the other side. Relationships with `paths` need not be
    /// listed.
    package var declared: Set<String>
    /// The rules of single attributes and relationships, by field name.
    package var fields: [String: FieldRules]
    /// The rules of fields that declare none of their own.
    public var rules: FieldRules
    /// The duplicate policy. Nil: the API's.
    public var duplicates: DuplicatePolicy?
    /// The attribute that grows with every change of a record at the server.
    ///
    /// A record with a smaller version than the stored one comes from an older response: it changes
    /// nothing.
    public var version: String?
    /// The mark of records that are deleted at the server; they are deleted by their delete rules.
    public var tombstone: TombstoneRule?
    /// The treatment of records without a usable key. Nil: the API's.
    public var keyless: KeylessPolicy?
    /// The choice of a record's concrete entity among the descendants. Nil: always this entity.
    public var choice: EntityChoice?
    /// The `json` attribute that keeps all keys that are neither mapped nor ignored, as one object.
    ///
    /// It is set by listed records, and by nested ones that have all required fields.
    public var rest: String?
    /// The policy for records with local changes. Nil: the parent entity's, then the API's.
    public var local: LocalPolicy?

    /// The URLs of the records, from which keys are taken. Nil: the parent entity's.
    public var url: RecordURL?
    /// The URLs that name the targets of relationships, by relationship, where they differ from
    /// ``url`` of the target. Their sources do not matter.
    public var referenceURLs: [String: RecordURL] = [:]
    /// The naming convention of the API that has the records. Nil: the parent entity's, then the
    /// mapping's.
    package var convention: NamingConvention?
    /// The base URLs to which ``url`` is relative. Nil: the parent entity's, then the mapping's.
    package var bases: [String]?

    /// Creates an entity mapping. By default, every field takes its value from its own name.
    public init(
        paths: [String: [ValueSource]] = [:], epochs: [String: EpochUnit] = [:], ignored: [JSONPath] = [],
        declared: Set<String> = [], fields: [String: FieldRules] = [:], rules: FieldRules = FieldRules()
    ) {
        self.fields = fields
        self.rules = rules
        self.paths = paths
        self.epochs = epochs
        self.ignored = ignored
        self.declared = declared
    }
}
