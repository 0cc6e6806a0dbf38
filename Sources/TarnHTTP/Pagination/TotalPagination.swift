/// A pagination style that may declare the location of the number of all records.
protocol TotalPagination: PaginationStyle {
    /// The path of the total number of records in the body; nil if it is not declared.
    var total: String? { get }

    /// Returns whether a page says that there is another one, by a flag or a count of pages.
    func announcesNext(_ facts: PageFacts) -> Bool
}

extension TotalPagination {
    /// The number of all records that a page declares; nil if there is none.
    func total(of facts: PageFacts) -> Int? {
        PageCounts(facts, total: total, totalPages: nil, hasMore: nil).total
    }
}
