// A fault of a store: a stable code, a location and an explanation.

/// A fault of a store.
public struct Finding: Sendable, Hashable {
    /// The kind of a fault. The raw values are stable: programs may rely on them.
    public enum Code: String, Sendable, Hashable, CaseIterable, Comparable {
        // The file.
        /// The file is shorter than its pages.
        case truncated = "file.truncated"
        /// One of the two meta pages is damaged.
        case meta = "file.meta"
        /// No meta page is readable.
        case noMeta = "file.noMeta"
        // Pages.
        /// A page number is outside the range of the file's pages.
        case pageOutOfBounds = "page.outOfBounds"
        /// The file ends before a page, or the page is unreadable.
        case pageMissing = "page.missing"
        /// A page declares the number of another page.
        case pageNumber = "page.wrongNumber"
        /// A page has a kind that its position does not permit.
        case pageKind = "page.wrongKind"
        /// The structure of a page is invalid.
        case pageForm = "page.malformed"
        /// A key is out of order.
        case pageKeyOrder = "page.keyOrder"
        /// The depth of a tree differs from its record.
        case pageDepth = "page.depth"
        /// A page belongs to two trees, or twice to one.
        case pageReachedTwice = "page.reachedTwice"
        /// A page is neither in a tree nor in the free list.
        case pageLost = "page.lost"
        /// An entry of the free list is invalid.
        case freeList = "free.malformed"
        /// A page in the free list belongs to a tree.
        case freeListed = "free.inUse"
        /// A page is in the free list twice.
        case freeListedTwice = "free.twice"
        // Tables.
        /// The record or an entry of a table is invalid.
        case tableRecord = "table.malformed"
        /// The counts of a table differ from its record.
        case tableCounts = "table.counts"
        /// A table of the catalog or of the format is missing.
        case tableMissing = "table.missing"
        /// A table that the catalog does not know has entries.
        case tableUnknown = "table.unknown"
        // The store as a whole.
        /// The file is not a store of Tarn.
        case noStore = "store.none"
        /// The store needs a newer version of Tarn.
        case newerFormat = "store.newerFormat"
        /// The catalog is damaged or contradicts itself.
        case catalog = "store.catalog"
        /// A setting in `meta` is missing or invalid.
        case setting = "store.setting"
        /// A counter in `meta` is missing, or differs from what it counts.
        case counter = "store.counter"
        /// A compression dictionary is unusable.
        case dictionary = "store.dictionary"
        // Rows.
        /// The checksum of a row is wrong.
        case rowChecksum = "row.checksum"
        /// The structure of a row is invalid.
        case rowForm = "row.malformed"
        /// A row belongs to an entity that has no rows in its table.
        case rowEntity = "row.entity"
        /// The key fields of a row do not match its storage key.
        case rowKey = "row.key"
        /// A value does not fit its field.
        case rowValue = "row.value"
        /// The compression dictionary of a row is missing or damaged.
        case rowDictionary = "row.dictionary"
        /// A long list is incomplete, damaged or shared by two records.
        case list = "list.incomplete"
        /// An entry belongs to no long list.
        case listExtra = "list.extra"
        // Indexes.
        /// A row has no entry in an index.
        case indexMissing = "index.missing"
        /// An index entry has no row.
        case indexExtra = "index.extra"
        /// An index entry is malformed.
        case indexForm = "index.malformed"
        /// Two records have the same values in a unique index, or the same target in a one-to-one
        /// relationship.
        case indexNotUnique = "index.notUnique"
        // Responses.
        /// A response is damaged.
        case responseForm = "response.malformed"
        /// A part of a response, or an entry that finds it, is missing or wrong.
        case responseMissing = "response.missing"
        /// An entry or a body belongs to no response.
        case responseExtra = "response.extra"
        /// A response lists a record that does not exist.
        case responseRecord = "response.record"
        // The change log.
        /// An entry of the change log is damaged.
        case changeForm = "change.malformed"
        /// The last change of a record is missing in the change log.
        case changeMissing = "change.missing"
        /// An entry of the change log contradicts the rows or the commit counters.
        case changeExtra = "change.extra"
        // Progress, scans, marks.
        /// A checkpoint is damaged.
        case checkpoint = "checkpoint.malformed"
        /// An entry of a scan is damaged or refers to an unknown entity.
        case scan = "scan.malformed"
        /// A local mark is damaged or refers to an unknown entity.
        case localMark = "local.malformed"
        /// An entry of the outbox is damaged or refers to an unknown entity.
        case outboxForm = "outbox.malformed"
        /// An operation of the outbox lacks an entry that finds it, or a counter is wrong.
        case outboxMissing = "outbox.missing"
        /// An entry of the outbox belongs to no operation.
        case outboxExtra = "outbox.extra"

        public static func < (a: Code, b: Code) -> Bool { a.rawValue < b.rawValue }
    }

    /// The kind of the fault.
    public var code: Code
    /// The location: `page 12`, `r/3`, `Issue 7`, `index Issue.author`.
    public var place: String
    /// The explanation in words.
    public var detail: String

    /// Creates a finding.
    public init(_ code: Code, _ place: String, _ detail: String) {
        self.code = code
        self.place = place
        self.detail = detail
    }
}
