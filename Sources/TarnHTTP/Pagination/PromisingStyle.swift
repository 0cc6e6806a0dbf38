/// A style whose pages name the next one, and may have a flag that promises it.
protocol PromisingStyle: PaginationStyle {
    /// The flag that tells whether another page follows; nil without one.
    var hasMore: MoreFlag? { get }

    /// Returns the declared flag that promises another page, if the page does not name it.
    func promise(_ facts: PageFacts, _ rule: PageEvidence.Rule) -> PageEvidence?
}
