/// The result of an export.
public struct StoreExport: Sendable, Hashable {
    /// The number of records by concrete entity, in the order of the catalog.
    public internal(set) var records: [Count] = []
    /// The number of rows by table, those of relationships included.
    public internal(set) var rows: [Count] = []
    /// The number of unreadable records and pages, which the export lacks.
    public internal(set) var damaged = 0
    /// The number of values of fields that the catalog does not know, which the export lacks.
    public internal(set) var unknownValues = 0
    /// The names of the full-text indexes; empty if none were asked for.
    package internal(set) var fullTextTables: [String] = []
    /// The reason why no read transaction held the state; nil if one did.
    public internal(set) var aloneBecause: String?

    /// The number of records or rows under a name.
    public struct Count: Sendable, Hashable {
        /// The name of the entity or of the table.
        public var name: String
        /// The number.
        public var count: Int
    }
}
