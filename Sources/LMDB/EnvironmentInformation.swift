import CLMDB

/// The sizes, page counts and reader slots of an environment.
public struct EnvironmentInformation: Sendable, Hashable {
    /// The size of a page, in bytes.
    public var pageSize: Int
    /// The reserved address space in bytes, not the size on disk.
    public var mapSize: Int
    /// The last page that was ever used.
    ///
    /// The file grows to this page and never shrinks below it.
    public var lastPage: Int
    /// The id of the last committed transaction.
    public var lastTransaction: Int
    /// The number of pages that are free for new data once no reader needs them.
    public var freePages: Int
    /// The number of pages that are neither free nor part of a table.
    ///
    /// They are the two meta pages and the pages of the free list and of the table of tables.
    public var ownPages: Int
    /// The number of slots of the reader table.
    public var maximumReaders: Int
    /// The highest number of reader slots that were occupied at once.
    public var readerSlotsUsed: Int
}
