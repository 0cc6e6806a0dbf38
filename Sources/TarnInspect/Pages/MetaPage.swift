// The two meta pages: where everything begins. Layout: data format 1 of liblmdb 0.9, `struct MDB_meta` and `struct MDB_db` in mdb.c.

/// What a meta page says.
struct MetaPage: Hashable {
    /// 0 or 1.
    var number: Int
    var pageSize: Int
    var mapSize: UInt64
    /// The highest number that a page ever had.
    var lastPage: UInt64
    /// Counts commits. Of two valid meta pages the one with the larger number is the newer one.
    var transaction: UInt64
    /// Transaction → numbers of pages that it has freed.
    var freeList: TableRecord
    /// Name → `TableRecord` of each table.
    var main: TableRecord

    static let size = 152
    private static let isMeta: UInt16 = 0x08, magic: UInt32 = 0xBEEF_C0DE

    /// Nil, with the reason, if the bytes are no meta page of a format that is known here.
    static func read(_ number: Int, _ page: PageBytes) -> Result<MetaPage, MetaProblem> {
        guard page.bytes.count >= size else { return .failure(MetaProblem(number: number, detail: "it is too short")) }
        func problem(_ detail: String) -> Result<MetaPage, MetaProblem> { .failure(MetaProblem(number: number, detail: detail)) }
        guard page.u32(16) == magic else { return problem("it does not begin as one of LMDB does") }
        guard page.u32(20) & 0xFFFF == 1 else { return problem("it is of data format \(page.u32(20) & 0xFFFF), and 1 can be read") }
        guard page.u16(10) & isMeta != 0 else { return problem("it is not marked as one") }
        let pageSize = Int(page.u32(40))
        guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else {
            return problem("pages of \(pageSize) bytes are not possible")
        }
        return .success(
            MetaPage(
                number: number, pageSize: pageSize, mapSize: page.u64(32), lastPage: page.u64(136), transaction: page.u64(144),
                freeList: TableRecord(page, at: 40), main: TableRecord(page, at: 88)))
    }
}

/// Why a page is no meta page.
struct MetaProblem: Error, Hashable {
    var number: Int
    var detail: String
}

extension MetaProblem {
    /// It says that pages have a size that they have not.
    init(number: Int, saying wrong: Int, with size: Int) {
        self.init(number: number, detail: "it says that pages have \(wrong) bytes, and they have \(size)")
    }
}

/// What LMDB keeps of a table (`struct MDB_db`, 48 bytes).
struct TableRecord: Hashable {
    /// 0 for a table of keys and values without any options, as all tables of Tarn are.
    var flags: UInt16
    var depth: Int
    var branchPages: UInt64
    var leafPages: UInt64
    var overflowPages: UInt64
    var entries: UInt64
    /// Nil for a table without entries.
    var root: UInt64?

    static let size = 48
    private static let persistent: UInt16 = 0x7FFF

    /// Whether keys may have several values (`MDB_DUPSORT`).
    var hasDuplicates: Bool { flags & 0x04 != 0 }

    /// The options with the names that `mdb_dump` gives them, in its order.
    var optionNames: [String] {
        let names: [(bit: UInt16, name: String)] = [
            (0x02, "reversekey"), (0x04, "dupsort"), (0x08, "integerkey"), (0x10, "dupfixed"), (0x20, "integerdup"), (0x40, "reversedup"),
        ]
        return names.filter { flags & $0.bit != 0 }.map(\.name)
    }

    init(_ bytes: PageBytes, at offset: Int) {
        // The other bits live in memory only (mdb.c, `PERSISTENT_FLAGS`).
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
