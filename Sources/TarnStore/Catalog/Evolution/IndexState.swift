/// An index and its state.
public struct IndexState: Sendable, Hashable {
    /// The use of an index, and the work that remains.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The index has every record, and answers queries.
        case complete
        /// The index lacks records, and does not answer queries. Writers maintain it already.
        case building
        /// The index has every record and answers queries; it is checked for duplicates.
        ///
        /// It becomes unique if there are none.
        case checking
    }

    /// The entity that declares the index.
    public var entity: String
    /// The name of the attribute or relationship, or of the declared index.
    public var name: String
    /// The current state.
    public var state: State
    /// The number of rows added while the index is built, else of entries checked.
    public var done: Int
    /// The total that `done` approaches.
    public var total: Int
}
