import TarnStore

/// One record, and everything in the store that concerns it.
public struct RecordInspection: Sendable {
    /// The header of a row, and the sizes of its body.
    public struct Header: Sendable, Hashable {
        /// The version of the row format.
        public var format: UInt8
        /// Whether the record is partial.
        public var isPartial: Bool
        /// Whether the row has a wide directory, for values of more than 64 KiB in all.
        public var isWide: Bool
        /// The id of the concrete entity.
        public var entity: UInt16
        /// The commit sequence of the last change of content.
        public var version: UInt64
        /// The stored CRC-32C.
        public var checksum: UInt32
        /// Whether the checksum fits the row.
        public var isChecksumRight: Bool
        /// The form of the compression: `none`, `zstd`, or `zstd, long values`.
        public var compression: String
        /// The id of the dictionary; 0 without compression.
        public var dictionary: UInt16
        /// The size of the row as it is stored, with its header, in bytes.
        public var storedSize: Int
        /// The size of the row without compression, in bytes; nil if it cannot be decompressed.
        public var wholeSize: Int?
    }

    /// An entry that the record must have in an index.
    public struct IndexEntry: Sendable, Hashable {
        /// The full name of the index: `Issue.author`.
        public var index: String
        /// The key of the entry.
        public var bytes: [UInt8]
        /// Whether the index has the entry.
        public var isPresent: Bool
        /// Whether a page on the way to the entry is damaged, so that its presence is unknown.
        public internal(set) var isUnreadable = false
        /// Whether the index is still being built, so that entries may be missing.
        public var isBuilding: Bool
    }

    /// The records that refer to the record through one relationship.
    public struct Referrers: Sendable, Hashable {
        /// The relationship at the referring side: `Comment.issue`.
        public var relationship: String
        /// The name of the derived side at the record; nil if it has none.
        public var inverse: String?
        /// The first keys, in the order of the index.
        public var keys: [String]
        /// The keys as values. A missing record with a long key has its digest.
        package var recordKeys: [RecordKey] = []
        /// The storage keys of the same records.
        package var storageKeys: [[UInt8]] = []
        /// The number of all of them.
        public var count: Int
        /// Whether the count has all of them: a lookup may read a limited number of entries, and an
        /// index that is being built lacks some.
        package var isCountWhole = true
    }

    /// A stored response that lists the record.
    public struct Listing: Sendable, Hashable {
        /// The id of the response.
        public var response: UInt64
        /// The method, the URL and the endpoint of the request; nil if the entry is unreadable.
        public var request: (method: String, url: String, endpoint: String)? {
            url.map { (method ?? "", $0, endpoint ?? "") }
        }
        var method: String?, url: String?, endpoint: String?
        /// The HTTP status.
        public var status: Int?
        /// The time when the response was fetched or last confirmed.
        public var validatedAt: Timestamp?
        /// The index of the record in the response's list, from 0.
        public var index: Int?
    }

    /// Replaces the URLs of the responses, for instance by some without secrets.
    package mutating func replaceURLs(_ replacement: (String) -> String) {
        for index in listings.indices { listings[index].url = listings[index].url.map(replacement) }
    }

    /// A change of the record in the log.
    public struct Change: Sendable, Hashable {
        /// The commit sequence.
        public var sequence: UInt64
        /// The position among the changes of the commit.
        public var ordinal: UInt32
        /// The operation: `created`, `updated` or `deleted`.
        public var operation: String
        /// The changed fields; nil if the log does not keep values.
        public var fields: [Record.Field]?
    }

    /// The name of the entity that was asked for, or of the row's concrete one.
    public internal(set) var entity: String
    /// The key that was asked for.
    public internal(set) var key: RecordKey
    /// The name of the record's table.
    public internal(set) var table: String
    /// The storage key.
    public internal(set) var storageKey: [UInt8]
    /// The stored bytes of the row; nil if there is none.
    public internal(set) var row: [UInt8]?
    /// The header of the row; nil if there is none.
    public internal(set) var header: Header?
    /// The copied record; nil if there is none, or if it is damaged.
    public internal(set) var record: Record?
    /// The reason why the row or a part of the file is unreadable; nil if nothing is.
    public internal(set) var damage: String?
    /// The entries that the record must have in indexes.
    public internal(set) var indexEntries: [IndexEntry] = []
    /// The records that refer to it, by relationship; those without referrers are left out.
    public internal(set) var referrers: [Referrers] = []
    /// The stored responses that list it, in the order of their ids.
    public internal(set) var listings: [Listing] = []
    /// Whether the record has local changes that have not reached the server.
    public internal(set) var isChangedLocally = false
    /// The mark of the local changes; nil if there is none, or if it is unreadable.
    package internal(set) var localChange: LocalChange?
    /// The first operations of the outbox that change it, in the order of their ids.
    package internal(set) var operations: [InspectedOperation] = []
    /// Whether others may change it, too: a lookup reads a limited number of them.
    package internal(set) var mayHaveMoreOperations = false
    /// The states of the records that it refers to.
    package internal(set) var targets = TargetStates()
    /// The destinations of its stored relationships, by name.
    var targetEntities: [String: Catalog.Entity] = [:]
    /// Whether a page on the way to the mark of local changes is damaged.
    package internal(set) var isMarkUnreadable = false
    /// The last changes in the log, the newest first.
    public internal(set) var changes: [Change] = []
    /// Whether the whole log was searched for them, or as much as they needed.
    package internal(set) var isLogWhole = true
    /// The reason why no read transaction held the state; nil if one did.
    public internal(set) var aloneBecause: String?

    /// Whether the store has a row of the record, readable or not; also false if a damaged page is
    /// on the way to it.
    public var isStored: Bool { row != nil }
    /// Whether a page on the way to the row is damaged, so that the record may be stored.
    public internal(set) var isUnreadable = false
}
