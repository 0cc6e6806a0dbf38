import LMDBPages

extension TableRecord {
    /// The options under their names in `mdb_dump`, in its order.
    var optionNames: [String] {
        // The flags of `mdb_dbi_open` in lmdb.h.
        let names: [(bit: UInt16, name: String)] = [
            (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"), (0x20, "integerdup"),
            (0x40, "reversedup"),
        ]
        return names.filter { flags & $0.bit != 0 }.map(\.name)
    }
}
