import CLMDB

/// The number of pages and entries of a table (`mdb_stat`).
public struct TableStatistics: Sendable, Hashable {
    /// The size of a page, in bytes.
    public var pageSize: Int
    /// The depth of the tree; 0 if the table is empty.
    public var depth: Int
    /// The number of branch pages.
    public var branchPages: Int
    /// The number of leaf pages.
    public var leafPages: Int
    /// The number of overflow pages.
    public var overflowPages: Int
    /// The number of entries.
    public var entries: Int

    /// The number of pages. A damaged record may declare any number.
    var pages: Int { branchPages &+ leafPages &+ overflowPages }
}
