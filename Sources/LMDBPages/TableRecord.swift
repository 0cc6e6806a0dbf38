/// The record of a tree: of a table, of the free list, or of the values of a key (`struct MDB_db`).
package struct TableRecord: Hashable {
    /// The options of the table; 0 for every table of Tarn: `md_flags`.
    package var flags: UInt16
    /// The depth of the tree; 0 if it is empty: `md_depth`.
    package var depth: Int
    /// `md_branch_pages`.
    package var branchPages: UInt64
    /// `md_leaf_pages`.
    package var leafPages: UInt64
    /// `md_overflow_pages`.
    package var overflowPages: UInt64
    /// `md_entries`.
    package var entries: UInt64
    /// The root page; nil for an empty tree: `md_root`.
    package var root: UInt64?

    /// `sizeof(MDB_db)`.
    package static var size: Int { 48 }
    /// The flags of a file; the other bit exists only in memory: `PERSISTENT_FLAGS`.
    private static let persistent: UInt16 = 0x7FFF
    /// Keys may have several values: `MDB_DUPSORT` of lmdb.h.
    package static let duplicates: UInt16 = 0x04
    /// Keys are integers of the machine: `MDB_INTEGERKEY`.
    package static let integerKeys: UInt16 = 0x08
    /// The values of a key are integers of the machine: `MDB_INTEGERDUP`.
    private static let integerValues: UInt16 = 0x20

    /// Keys are compared from their last byte on: `MDB_REVERSEKEY`.
    private static let reversedKeys: UInt16 = 0x02
    /// The values of a key are compared from their last byte on: `MDB_REVERSEDUP`.
    private static let reversedValues: UInt16 = 0x40
    /// The values of a key have one size: `MDB_DUPFIXED`.
    private static let fixedValues: UInt16 = 0x10

    /// The options that concern keys only.
    package static let flagsOfKeys: UInt16 = reversedKeys | integerKeys
    /// The options that a table is created with.
    package static let options: UInt16 =
        flagsOfKeys | duplicates | fixedValues | integerValues | reversedValues

    /// Creates the record of a tree without overflow pages; without a root, of an empty one.
    package init(flags: UInt16 = 0, depth: Int = 0, branches: UInt64 = 0, leaves: UInt64 = 0, root: UInt64? = nil) {
        (self.flags, self.depth, self.root) = (flags, depth, root)
        (branchPages, leafPages, overflowPages, entries) = (branches, leaves, 0, 0)
    }

    /// Decodes a record; nil if it has another size.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == TableRecord.size, let start = bytes.baseAddress else { return nil }
        self.init(start)
    }

    /// Decodes the record at an address, from which on the size of a record is readable.
    init(_ start: UnsafeRawPointer) {
        flags = start.u16(at: 4) & TableRecord.persistent
        depth = Int(start.u16(at: 6))
        branchPages = start.u64(at: 8)
        leafPages = start.u64(at: 16)
        overflowPages = start.u64(at: 24)
        entries = start.u64(at: 32)
        let root = start.u64(at: 40)
        self.root = root == PageLayout.invalidPage ? nil : root
    }

    /// Whether keys may have several values.
    package var hasDuplicates: Bool { flags & TableRecord.duplicates != 0 }
    /// Whether keys are unsigned integers of 4 or 8 bytes.
    package var hasIntegerKeys: Bool { flags & TableRecord.integerKeys != 0 }
    /// Whether values are unsigned integers of 4 or 8 bytes.
    package var hasIntegerValues: Bool { flags & TableRecord.integerValues != 0 }
    /// Whether keys are compared from their last byte on.
    package var hasReversedKeys: Bool { flags & TableRecord.reversedKeys != 0 }
    /// Whether the values of a key are compared from their last byte on.
    package var hasReversedValues: Bool { flags & TableRecord.reversedValues != 0 }
    /// Whether the values of a key have one size.
    package var hasFixedValues: Bool { flags & TableRecord.fixedValues != 0 }
}
