import CLMDB

/// A table (named database) of an environment: a plain handle, valid while its environment is open.
public struct Table: Sendable, Hashable {
    package let handle: MDB_dbi
}
