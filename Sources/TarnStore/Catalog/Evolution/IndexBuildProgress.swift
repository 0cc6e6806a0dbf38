internal import LMDB

/// How far the building of an index has come.
public struct IndexBuildProgress: Sendable, Hashable {
    /// The entity that declares it.
    public var entity: String
    /// Of the attribute, or of the declared index.
    public var index: String
    /// Rows while it is built; entries of the index while it is checked that none are the same.
    public var done: Int
    /// Of how many, at the moment: others may write meanwhile.
    public var total: Int
}
