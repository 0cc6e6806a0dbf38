// Continuation of scans on servers that refuse deep pages.

/// The rule by which a scan restarts behind its last record when the server refuses deep pages.
///
/// The list must be in the order of the attribute that is sent. Records with the same value as the
/// last one are listed again; their keys identify them.
public struct DeepPages: Sendable, Hashable {
    /// The status codes of a refusal of a deep page.
    package var statuses: [ClosedRange<Int>]
    /// The number of records that the server lists before it refuses; nil if unknown.
    package var records: Int?
    /// The number of pages that the server lists before it refuses; nil if unknown.
    package var pages: Int?
    /// The parameter of the restarted first request, such as `since`.
    package var sends: Pagination.ParameterPlace
    /// The key path of the value in a record.
    package var path: String

    /// Creates a rule.
    public init(
        statuses: [ClosedRange<Int>] = [], records: Int? = nil, pages: Int? = nil, sends: Pagination.ParameterPlace,
        path: String
    ) {
        self.statuses = statuses
        self.records = records
        self.pages = pages
        self.sends = sends
        self.path = path
    }

    /// Returns whether the scan has reached the number of pages or of records.
    func isReached(pages: Int, records: Int) -> Bool {
        self.pages.map { pages >= $0 } ?? false || self.records.map { records >= $0 } ?? false
    }
}
