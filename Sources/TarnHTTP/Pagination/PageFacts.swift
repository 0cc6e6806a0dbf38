// The facts about a fetched page that determine its successor, and no more. They can be stored.

/// The facts about a page on which its successor may depend.
public struct PageFacts: Sendable, Hashable {
    /// The header fields of the response.
    public var headers: TransportHeaders
    /// The number of records that the page lists. Of several lists, the first one counts.
    public var recordCount: Int
    /// The number of records of the other lists of the page. They may be side-loaded: pagination
    /// does not count them.
    package var otherRecords = 0
    /// The scalars of the body at the paths of ``PaginationStyle/wants``.
    ///
    /// Strings are unescaped; numbers and booleans are literal. A path is absent if its value is
    /// missing, null or no scalar.
    public var values: [String: String]
    /// The values of the records at the path of ``PaginationStyle/wants``; nil if no record has a
    /// value.
    public var records: RecordValues?
    /// A digest of the listed records and their order; nil if it is unknown.
    package var digest: Int?
    /// A digest of the elements of the list as the server sent them; nil if it is not needed.
    ///
    /// It is needed if keys depend on the position in the list, and on nothing else beside the
    /// element: then equal elements are different records.
    package var contentDigest: UInt64?
    /// The number of different records that the list has so far, this page included; nil if they
    /// are not counted.
    ///
    /// A record that moves to a later page during a scan comes twice, and counts once.
    package var differentRecords: Int?

    /// The values of one attribute of all records of a page.
    public struct RecordValues: Sendable, Hashable {
        /// The value of the last record that has one.
        public var last: String
        /// The smallest value. Integers are compared as numbers, other texts by their bytes.
        public var smallest: String
        /// The largest value, in the order of `smallest`.
        public var largest: String

        /// Creates the values of one attribute.
        package init(last: String, smallest: String, largest: String) {
            self.last = last
            self.smallest = smallest
            self.largest = largest
        }

        /// Creates the values from those of the records in order; nil if there are none.
        public init?(_ values: [String]) {
            guard let last = values.last, let smallest = values.min(by: RecordValues.precedes),
                let largest = values.max(by: RecordValues.precedes)
            else { return nil }
            self.init(last: last, smallest: smallest, largest: largest)
        }

        static func precedes(_ a: String, _ b: String) -> Bool {
            if let a = Int(a), let b = Int(b) { return a < b }
            return a.utf8.lexicographicallyPrecedes(b.utf8)
        }
    }

    /// Creates the facts about a page.
    public init(
        headers: TransportHeaders = TransportHeaders(), recordCount: Int, values: [String: String] = [:],
        records: RecordValues? = nil
    ) {
        self.headers = headers
        self.recordCount = recordCount
        self.values = values
        self.records = records
    }

    package init(
        headers: TransportHeaders, recordCount: Int, values: [String: String], records: RecordValues?, digest: Int?
    ) {
        self.init(headers: headers, recordCount: recordCount, values: values, records: records)
        self.digest = digest
    }

    /// Whether all lists of the page are empty.
    package var isEmpty: Bool { recordCount == 0 && otherRecords == 0 }

    /// The value at a path of ``PageWants/scalars`` that is an object or a list.
    package static let container = "\u{0}container"

    /// The beginning of a value at a path of ``PageWants/composites`` that is an object or a list;
    /// its text as compact JSON follows.
    package static let json = "\u{0}json"

    /// Returns the object or list at a path of ``PageWants/composites``; nil for other values.
    func composite(_ path: String) -> JSONBody? {
        guard let text = values[path]?.utf8, text.starts(with: PageFacts.json.utf8) else { return nil }
        return JSONBody(parsing: Array(text.dropFirst(PageFacts.json.utf8.count))[...])
    }

    /// Returns the flag at a path; nil if the value is no boolean.
    ///
    /// `1` is true, `0` and an empty text are false.
    public func flag(_ path: String?) -> Bool? {
        switch path.flatMap({ values[$0] }) {
        case "true", "1": true
        case "false", "0", "": false
        default: nil
        }
    }

    /// Returns the integer at a path, or nil.
    public func number(_ path: String?) -> Int? { path.flatMap { values[$0] }.flatMap { Int($0) } }
}
