/// Where the values of one entity come from. An entity that descends from another one has everything of it that it does not say itself,
/// but for ``choice``.
public struct EntityMapping: Sendable, Hashable {
    /// For an attribute or relationship, by name, the declared alternates in order. After them its own name is tried.
    ///
    /// The first that is present and not null counts; null only if all that are present are null.
    public var paths: [String: [ValueSource]]
    /// Date attributes whose JSON is a number: the unit it counts in since 1970.
    public var epochs: [String: EpochUnit]
    /// Key paths, relative to the record, that are known and not wanted. `*` stands for any run of characters in one key.
    /// A path also covers everything below it.
    public var ignored: [KeyPath]
    /// Relationships whose references are stored at the other side and which may nevertheless stand in this entity's JSON,
    /// under their own name. Those with `paths` need not be listed.
    public var declared: Set<String>
    /// What counts for single attributes and relationships, by name.
    public var fields: [String: FieldRules]
    /// What counts for those that say nothing of their own.
    public var rules: FieldRules
    /// Nil: as the API says.
    public var duplicates: DuplicatePolicy?
    /// An attribute that grows with every change of a record at the server: what comes with a smaller one than the stored is an
    /// older answer, and changes nothing.
    public var version: String?
    /// What says that a record is no more at the server; it is deleted then, by its delete rules.
    public var tombstone: TombstoneRule?
    /// Nil: as the API says.
    public var keyless: KeylessPolicy?
    /// Which of the entities that descend from this one a record is. Nil: it is of this one, whatever it says.
    public var choice: EntityChoice?
    /// A `json` attribute that keeps what nothing else takes: an object of all keys that are neither mapped nor ignored. It is set by
    /// listed records, and by nested ones that have all that is required.
    public var rest: String?
    /// Nil: as the API says.
    public var local: LocalPolicy?

    public init(
        paths: [String: [ValueSource]] = [:], epochs: [String: EpochUnit] = [:], ignored: [KeyPath] = [],
        declared: Set<String> = [], fields: [String: FieldRules] = [:], rules: FieldRules = FieldRules(),
        duplicates: DuplicatePolicy? = nil, version: String? = nil, tombstone: TombstoneRule? = nil, rest: String? = nil,
        keyless: KeylessPolicy? = nil, choice: EntityChoice? = nil, local: LocalPolicy? = nil
    ) {
        self.local = local
        self.keyless = keyless
        self.choice = choice
        self.rest = rest
        self.duplicates = duplicates
        self.version = version
        self.tombstone = tombstone
        self.fields = fields
        self.rules = rules
        self.paths = paths
        self.epochs = epochs
        self.ignored = ignored
        self.declared = declared
    }
}
