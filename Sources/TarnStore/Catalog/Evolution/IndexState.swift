internal import LMDB

/// An index, and whether it is complete.
public struct IndexState: Sendable, Hashable {
    /// What an index can do, and what is still done for it.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It has every record, and answers.
        case complete
        /// It does not have every record yet, and does not answer. Writers keep it up already.
        case building
        /// It has every record, and answers; it is looked for values that stand in several, since it is to be unique.
        case checking
    }

    /// The entity that declares it.
    public var entity: String
    /// Of the attribute or relationship, or of the declared index.
    public var name: String
    /// What it can do now.
    public var state: State
    /// Rows that are in it while it is built, otherwise entries that were looked at.
    public var done: Int
    /// Of how many.
    public var total: Int
}
