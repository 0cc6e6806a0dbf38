import CLMDB

/// How full a table is. `mdb_stat`.
public struct TableStatistics: Sendable, Hashable {
    public var pageSize: Int
    public var depth: Int
    public var branchPages: Int
    public var leafPages: Int
    public var overflowPages: Int
    public var entries: Int
}
