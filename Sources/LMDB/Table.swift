import CLMDB

/// A table (named database) of an environment. A plain handle, valid as long as its environment is open.
public struct Table: Sendable, Hashable {
    package let handle: MDB_dbi
}
