import CLMDB

public struct EnvironmentInformation: Sendable, Hashable {
    public var pageSize: Int
    /// Bytes of address space that are reserved, not bytes on disk.
    public var mapSize: Int
    /// The last page that was ever used; the file grows to it and does not shrink below it.
    public var lastPage: Int
    public var lastTransaction: Int
    /// Pages that are free for new data once no reader needs them.
    public var freePages: Int
    /// The two meta pages, and those of the list of free pages and of the table of tables: what is neither free nor a table's.
    public var ownPages: Int
    public var maximumReaders: Int
    public var readerSlotsUsed: Int
}
