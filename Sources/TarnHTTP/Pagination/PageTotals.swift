/// The size of a list as a page of it reports: for progress, not for pagination.
///
/// The sources are the totals in header fields and in the body (``PageEvidence``), and the link to
/// the last page (`rel=last`, RFC 8288).
package struct PageTotals: Sendable, Hashable {
    /// The number of records of the list; nil if it is unknown.
    package var records: Int?
    /// The number of pages of the list; nil if it is unknown.
    package var pages: Int?

    /// Creates the totals of a list of which nothing is known.
    package init() {}

    /// Adds the facts about a page. A page without totals leaves the known ones.
    ///
    /// - Parameter ordinal: the number of pages up to this one, with it.
    package mutating func add(_ facts: PageFacts, ordinal: Int) {
        let counts = PageEvidence.counts(facts).filter { PageEvidence.meaning(of: $0.name) != .count }
        if let total = counts.last(where: { !$0.isPages })?.count { records = total }
        if let total = counts.last(where: \.isPages)?.count { pages = total }
        addLastLink(facts, ordinal)
    }

    /// The parameters that tell the link to the last page from that to the next one.
    private mutating func addLastLink(_ facts: PageFacts, _ ordinal: Int) {
        guard let last = LinkHeader.target(relation: "last", in: facts.headers),
            let other = LinkHeader.target(relation: "next", in: facts.headers)
        else { return }
        let others = QueryParameters.values(in: other)
        for (name, value) in QueryParameters.values(in: last) {
            guard let number = Int(value), number > 0, number < 1 << 40,
                let next = others.first(where: { $0.name == name }).flatMap({ Int($0.value) }), next >= 0, next < number
            else { continue }
            let word = name.lowercased()
            if word.contains("page") || word == "p" {
                // Some servers count from 0: the pages from the next one on follow those so far.
                pages = ordinal + (number - next + 1)
            } else if ["offset", "start", "skip", "startat", "from"].contains(word) {
                // The last page is taken to be as long as this one.
                records = records ?? number + facts.recordCount
            }
        }
    }
}
