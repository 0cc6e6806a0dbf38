// What is known of a page that was answered: as much as its successor depends on, and no more. It can be stored.

/// What a page says that its successor may depend on.
public struct PageFacts: Sendable, Hashable {
    /// The header fields of the answer.
    public var headers: HTTPHeaders
    /// How many records it lists.
    public var recordCount: Int
    /// What stands in the body at the paths that ``Pagination/wants`` names: texts as they are, numbers and booleans as they are written. What
    /// is not there, or null, or no scalar, is missing.
    public var values: [String: String]
    /// What the records have at the path that ``Pagination/wants`` names; nil if none has anything there.
    public var records: RecordValues?
    /// Equal for pages that list the same records in the same order; nil if that is not known.
    public var digest: Int?

    /// Of one attribute of all records of a page.
    public struct RecordValues: Sendable, Hashable {
        /// The last record's that has one.
        public var last: String
        /// Numbers are compared as numbers, texts by their bytes.
        public var smallest: String
        /// As `smallest` is found.
        public var largest: String

        public init(last: String, smallest: String, largest: String) {
            self.last = last
            self.smallest = smallest
            self.largest = largest
        }

        /// Nil if there are no values.
        public init?(_ values: [String]) {
            guard let last = values.last, let smallest = values.min(by: RecordValues.precedes), let largest = values.max(by: RecordValues.precedes)
            else { return nil }
            self.init(last: last, smallest: smallest, largest: largest)
        }

        static func precedes(_ a: String, _ b: String) -> Bool {
            if let a = Int(a), let b = Int(b) { return a < b }
            return a.utf8.lexicographicallyPrecedes(b.utf8)
        }
    }

    public init(
        headers: HTTPHeaders = HTTPHeaders(), recordCount: Int, values: [String: String] = [:], records: RecordValues? = nil, digest: Int? = nil
    ) {
        self.headers = headers
        self.recordCount = recordCount
        self.values = values
        self.records = records
        self.digest = digest
    }

    func flag(_ path: String?) -> Bool? {
        switch path.flatMap({ values[$0] }) {
        case "true", "1": true
        case "false", "0", "": false
        default: nil
        }
    }

    func number(_ path: String?) -> Int? { path.flatMap { values[$0] }.flatMap { Int($0) } }
}
