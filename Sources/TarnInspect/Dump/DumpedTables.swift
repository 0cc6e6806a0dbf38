/// The tables of an LMDB file that a dump contains.
package enum DumpedTables: Sendable, Hashable {
    /// Every named table, and before them the entries beside the tables, as `mdb_dump -a` writes a
    /// file without named tables.
    case all
    /// The table without a name: its own entries, and the records of the named tables.
    case main
    /// One table.
    case named(String)
}
