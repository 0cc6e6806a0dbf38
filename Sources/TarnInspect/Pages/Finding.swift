// What is wrong with a store: a code that stays the same, where, and what it means.

/// Something that is not as it has to be.
public struct Finding: Sendable, Hashable {
    /// What kind of fault it is. The texts are stable: programs may rely on them.
    public enum Code: String, Sendable, Hashable, CaseIterable, Comparable {
        // The file.
        case notReadable = "file.notReadable"
        case truncated = "file.truncated"
        case meta = "file.meta"
        case noMeta = "file.noMeta"
        // Pages.
        case pageOutOfBounds = "page.outOfBounds"
        case pageMissing = "page.missing"
        case pageNumber = "page.wrongNumber"
        case pageKind = "page.wrongKind"
        case pageForm = "page.malformed"
        case pageKeyOrder = "page.keyOrder"
        case pageDepth = "page.depth"
        case pageReachedTwice = "page.reachedTwice"
        case pageLost = "page.lost"
        case freeList = "free.malformed"
        case freeListed = "free.inUse"
        case freeListedTwice = "free.twice"
        // Tables.
        case tableRecord = "table.malformed"
        case tableCounts = "table.counts"
        case tableMissing = "table.missing"
        case tableUnknown = "table.unknown"
        // The store as a whole.
        case noStore = "store.none"
        case newerFormat = "store.newerFormat"
        case catalog = "store.catalog"
        case setting = "store.setting"
        case counter = "store.counter"
        case dictionary = "store.dictionary"
        // Rows.
        case rowChecksum = "row.checksum"
        case rowForm = "row.malformed"
        case rowEntity = "row.entity"
        case rowKey = "row.key"
        case rowValue = "row.value"
        case rowDictionary = "row.dictionary"
        case list = "list.incomplete"
        case listExtra = "list.extra"
        // Indexes.
        case indexMissing = "index.missing"
        case indexExtra = "index.extra"
        case indexForm = "index.malformed"
        case indexNotUnique = "index.notUnique"
        // Responses.
        case responseForm = "response.malformed"
        case responseMissing = "response.missing"
        case responseExtra = "response.extra"
        case responseRecord = "response.record"
        // The change log.
        case changeForm = "change.malformed"
        case changeMissing = "change.missing"
        case changeExtra = "change.extra"
        // Progress, scans, marks.
        case checkpoint = "checkpoint.malformed"
        case scan = "scan.malformed"
        case localMark = "local.malformed"

        public static func < (a: Code, b: Code) -> Bool { a.rawValue < b.rawValue }
    }

    /// What kind of damage it is.
    public var code: Code
    /// Where: `page 12`, `r/3`, `Issue 7`, `index Issue.author`.
    public var place: String
    /// What it is, in words.
    public var detail: String

    public init(_ code: Code, _ place: String, _ detail: String) {
        self.code = code
        self.place = place
        self.detail = detail
    }
}
