/// A style whose next page is named by header fields: a page without them is the last one.
protocol HeaderPagination: PaginationStyle {
    /// The fields. A 304 need not repeat them (RFC 9110 §15.4.5).
    var decidingFields: [String] { get }
}
