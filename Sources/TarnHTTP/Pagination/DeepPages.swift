// Servers that refuse pages that are too far in, and how a walk goes on all the same; and where a walk is, as text.

/// A walk that is refused its next page begins again, behind the last record that it has seen.
///
/// The list has to be in the order of the attribute that is sent. Records that have the same value as the last one come again, and are
/// recognised by their keys.
public struct DeepPages: Sendable, Hashable {
    /// Refusals that mean that a page is too far in.
    public var statuses: [ClosedRange<Int>]
    /// How many records can be had before the server refuses; nil to try.
    public var records: Int?
    /// How many pages can be had before the server refuses; nil to try.
    public var pages: Int?
    /// What the first request is given: `since`, say.
    public var sends: Pagination.ParameterPlace
    /// Where a record has its value.
    public var path: String

    public init(
        statuses: [ClosedRange<Int>] = [], records: Int? = nil, pages: Int? = nil, sends: Pagination.ParameterPlace, path: String
    ) {
        self.statuses = statuses
        self.records = records
        self.pages = pages
        self.sends = sends
        self.path = path
    }

    func isReached(pages: Int, records: Int) -> Bool {
        self.pages.map { pages >= $0 } ?? false || self.records.map { records >= $0 } ?? false
    }
}
