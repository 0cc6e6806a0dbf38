// The two meta pages of a file. Layout: data format 1 of liblmdb 0.9, `struct MDB_meta` and `struct
// MDB_db` in mdb.c.

/// The content of a meta page.
struct MetaPage: Hashable {
    /// The page number, 0 or 1.
    var number: Int
    var pageSize: Int
    var mapSize: UInt64
    /// The highest page number that was ever used.
    var lastPage: UInt64
    /// The commit counter. Of two valid meta pages, the newer one has the larger number.
    var transaction: UInt64
    /// The table of free pages: transaction → numbers of the pages that it has freed.
    var freeList: TableRecord
    /// The table of tables: name → `TableRecord`.
    var main: TableRecord

    static let size = 152
    private static let isMeta: UInt16 = 0x08, magic: UInt32 = 0xBEEF_C0DE

    /// Decodes a meta page; a failure with the reason if the format is unknown.
    static func read(_ number: Int, _ page: PageBytes) -> Result<MetaPage, MetaProblem> {
        guard page.bytes.count >= size else { return .failure(MetaProblem(number: number, detail: "it is too short")) }
        func problem(_ detail: String) -> Result<MetaPage, MetaProblem> {
            .failure(MetaProblem(number: number, detail: detail))
        }
        guard page.u32(16) == magic else { return problem("it does not begin as one of LMDB does") }
        guard page.u32(20) & 0xFFFF == 1 else {
            return problem("it is of data format \(page.u32(20) & 0xFFFF), and 1 can be read")
        }
        guard page.u16(10) & isMeta != 0 else { return problem("it is not marked as one") }
        let pageSize = Int(page.u32(40))
        guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else {
            return problem("pages of \(pageSize) bytes are not possible")
        }
        return .success(
            MetaPage(
                number: number, pageSize: pageSize, mapSize: page.u64(32), lastPage: page.u64(136),
                transaction: page.u64(144),
                freeList: TableRecord(page, at: 40), main: TableRecord(page, at: 88)))
    }
}
