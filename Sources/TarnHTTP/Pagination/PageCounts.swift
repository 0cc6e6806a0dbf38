/// The counts of a page at the paths that its style declares.
struct PageCounts {
    /// Header fields in which servers report the number of records or pages.
    static let fields = ["X-Total-Count", "X-Total", "X-Total-Pages"]

    var total: Int?
    var totalPages: Int?
    var hasMore: Bool?
    /// The key under which the flag is declared.
    private var flagKey = "has_more"

    /// Whether the page has none of the declared counts and flags.
    var isUndecided: Bool { total == nil && totalPages == nil && hasMore == nil }

    init(_ facts: PageFacts, total: String?, totalPages: String?, hasMore: MoreFlag?) {
        // A page with records contradicts 0; a negative number stands for an unknown one.
        let isCounted = facts.recordCount == 0
        self.total = facts.number(total).flatMap { $0 > 0 || isCounted && $0 == 0 ? $0 : nil }
        self.totalPages = facts.number(totalPages).flatMap { $0 > 0 || isCounted && $0 == 0 ? $0 : nil }
        self.hasMore = hasMore?.value(facts)
        if let hasMore { flagKey = hasMore.key }
    }

    /// Returns whether a header field with the number of pages says that a page is the last one.
    ///
    /// Many servers refuse a page behind it. A number of records in another field that is not
    /// reached yet contradicts it.
    static func endsByHeader(_ facts: PageFacts, listed: Int, pages: Int) -> Bool {
        let counts = PageEvidence.pageCountFields.compactMap { facts.headers[$0].flatMap { Int($0) } }
        guard let last = counts.max(), last > 0, pages >= last else { return false }
        return PageEvidence.totalFields.allSatisfy { field in
            facts.headers[field].flatMap { Int($0) }.map { listed >= $0 } ?? true
        }
    }

    /// Returns what an empty page contradicts, and what may be wrong.
    ///
    /// - Parameter key: the key of the style that names the contradicting value.
    static func hint(_ contradiction: String, _ key: String) -> String {
        "\(contradiction), and this page has none. The parameter may count pages (page_number) or records (offset), "
            + "or the first page may have another number (start): check paginate; "
            + "if the value means something else, leave out \(key)"
    }

    /// Returns whether there is another page.
    ///
    /// - Throws: `PaginationError.shrunk` if the page is empty although it reports more records.
    func goesOn(
        _ facts: PageFacts, size: Pagination.PageSize?, end: Pagination.End, listed: Int, pages: Int
    ) throws(PaginationError) -> Bool {
        if let hasMore, !hasMore { return false }
        if let totalPages { return pages < totalPages }
        if let total {
            if listed >= total {
                // Each record that came twice stands for another one, which a later page may have.
                return facts.recordCount > 0 && facts.differentRecords ?? listed < total
            }
            guard facts.recordCount > 0 else {
                throw .shrunk(listed: listed, hint: PageCounts.hint("there are \(total) records", "total"))
            }
            return true
        }
        if hasMore == true {
            guard facts.recordCount > 0 else {
                throw .shrunk(listed: listed, hint: PageCounts.hint("there are more", flagKey))
            }
            return true
        }
        if facts.recordCount == 0 { return false }
        guard let size, end == .short else { return true }
        return facts.recordCount >= size.value
    }
}
