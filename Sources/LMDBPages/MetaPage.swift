// One of the two meta pages of a file: a page header, then `struct MDB_meta`.

/// The content of a meta page.
package struct MetaPage: Hashable {
    /// The page number, 0 or 1, as the reader knows it.
    package var number: Int
    /// The flags of the page header.
    package var flags: UInt16
    /// `mm_magic`.
    package var magic: UInt32
    /// The data format: `mm_version`.
    package var version: UInt32
    /// The fixed address of the map, 0 without `MDB_FIXEDMAP`: `mm_address`.
    package var address: UInt64
    /// `mm_mapsize`.
    package var mapSize: UInt64
    /// `mm_psize`, which is `md_pad` of the free list.
    package var pageSize: Int
    /// The table of free pages: transaction → numbers of the pages that it has freed (`FREE_DBI`).
    package var freeList: TableRecord
    /// The table of tables: name → ``TableRecord`` (`MAIN_DBI`).
    package var main: TableRecord
    /// The highest page number that was ever used: `mm_last_pg`.
    package var lastPage: UInt64
    /// The commit counter: `mm_txnid`.
    ///
    /// Of two valid meta pages, the newer one has the larger number (`mdb_env_pick_meta`).
    package var transaction: UInt64

    /// The size of the content in bytes, including the page header.
    package static var size: Int { 152 }
    /// `MDB_MAGIC`.
    package static var magic: UInt32 { 0xBEEF_C0DE }
    /// `MDB_DATA_VERSION`.
    private static let format: UInt32 = 1

    /// The reason why a page is not a valid meta page.
    package enum Fault: Error, Hashable {
        case foreign
        case format(UInt32)
        case notMarked
        case pageSize(Int)
    }

    /// Decodes a page without a check of its content; nil if it is too short.
    package init?(_ bytes: UnsafeRawBufferPointer, number: Int) {
        guard bytes.count >= MetaPage.size, let start = bytes.baseAddress else { return nil }
        self.number = number
        flags = start.u16(at: PageLayout.flags)
        magic = start.u32(at: 16)
        version = start.u32(at: 20)
        address = start.u64(at: 24)
        mapSize = start.u64(at: 32)
        pageSize = Int(start.u32(at: 40))
        freeList = TableRecord(start + 40)
        main = TableRecord(start + 88)
        lastPage = start.u64(at: 136)
        transaction = start.u64(at: 144)
    }

    /// Creates the content of a page that refers to trees which were found without it.
    package init(pageSize: Int, freeList: TableRecord, main: TableRecord, lastPage: UInt64, transaction: UInt64) {
        (number, flags, magic, version) = (0, PageLayout.meta, MetaPage.magic, MetaPage.format)
        (address, mapSize) = (0, 0)
        (self.pageSize, self.freeList, self.main) = (pageSize, freeList, main)
        (self.lastPage, self.transaction) = (lastPage, transaction)
    }

    /// The first fault of the page; nil if it is a valid meta page of the known format.
    package var fault: Fault? {
        if magic != MetaPage.magic { return .foreign }
        if version & 0xFFFF != MetaPage.format { return .format(version & 0xFFFF) }
        if flags & PageLayout.meta == 0 { return .notMarked }
        if !PageLayout.pageSizes.contains(pageSize) || pageSize.nonzeroBitCount != 1 { return .pageSize(pageSize) }
        return nil
    }

    /// Whether liblmdb can use the free list: its keys are integers, without other options.
    ///
    /// The same bits are the options of the environment (`mm_flags`): `MDB_FIXEDMAP` and
    /// `MDB_NOSUBDIR` may be there. liblmdb checks none of them. With another option it takes the
    /// free list apart in another way, and writes over pages that are in use.
    package var hasSoundFreeList: Bool {
        freeList.flags & ~(MetaPage.fixedMap | MetaPage.noSubfolder) == TableRecord.integerKeys
    }

    /// `MDB_FIXEDMAP` of lmdb.h.
    private static let fixedMap: UInt16 = 0x01
    /// `MDB_NOSUBDIR`.
    private static let noSubfolder: UInt16 = 0x4000

    /// Whether no transaction has been committed: the content that liblmdb gives to a new file.
    package var isUnused: Bool {
        magic == MetaPage.magic && freeList.root == nil && main.root == nil && transaction == 0
    }
}
