/// The LMDB record of a table (`struct MDB_db`, 48 bytes).
struct TableRecord: Hashable {
    /// The options of the table; 0 for every table of Tarn.
    var flags: UInt16
    var depth: Int
    var branchPages: UInt64
    var leafPages: UInt64
    var overflowPages: UInt64
    var entries: UInt64
    /// The root page; nil for an empty table.
    var root: UInt64?

    static let size = 48
    private static let persistent: UInt16 = 0x7FFF

    /// Whether keys may have several values (`MDB_DUPSORT`).
    var hasDuplicates: Bool { flags & 0x04 != 0 }

    /// The options under their names in `mdb_dump`, in its order.
    var optionNames: [String] {
        let names: [(bit: UInt16, name: String)] = [
            (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"), (0x20, "integerdup"),
            (0x40, "reversedup"),
        ]
        return names.filter { flags & $0.bit != 0 }.map(\.name)
    }

    init(_ bytes: PageBytes, at offset: Int) {
        // The other bits exist only in memory (mdb.c, `PERSISTENT_FLAGS`).
        flags = bytes.u16(offset + 4) & TableRecord.persistent
        depth = Int(bytes.u16(offset + 6))
        branchPages = bytes.u64(offset + 8)
        leafPages = bytes.u64(offset + 16)
        overflowPages = bytes.u64(offset + 24)
        entries = bytes.u64(offset + 32)
        let root = bytes.u64(offset + 40)
        self.root = root == .max ? nil : root
    }
}
