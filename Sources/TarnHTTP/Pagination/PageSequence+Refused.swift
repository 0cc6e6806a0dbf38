// Refused pages that a rule takes for the end of the list (`then: stop`), and totals that may be
// the most that a server counts.

extension PageSequence {
    /// The meaning of a refusal of the current page.
    package enum RefusedEnd: Sendable, Hashable {
        /// The page before is the last one.
        case end
        /// The list may go on: the page before is full, or unknown.
        case inDoubt
        /// A page before shows that the list goes on: by this evidence, or as the style declares.
        case more(PageEvidence?)
    }

    /// The meaning of a refusal of the current page, if a rule takes it for the end of the list.
    ///
    /// Servers refuse deep pages with the same status as those behind the last one.
    package var refusedEnd: RefusedEnd {
        if bounds.more == .ignore { return .end }
        if let evidence = evidenceOfCurrent(bounds.more) { return .more(evidence) }
        // Evidence that the description ignores is none.
        if isAnnounced, !namesAnyPage, evidenceOfCurrent(.fail) == nil { return .more(nil) }
        return isBehindFullPage ? .inDoubt : .end
    }

    /// Whether the page before names the current one as the last page would: a cursor with
    /// `end: empty` comes on every page. A flag tells them apart.
    private var namesAnyPage: Bool {
        let style = (choice?.pagination ?? pagination).style
        guard !style.isCounted, style.endsAtEmptyPage else { return false }
        return before.flatMap { (style as? CursorPagination)?.hasMore?.value($0.facts) } != true
    }

    /// Returns the error text of a refused page that a rule takes for the end of the list, although
    /// the pages before show that it goes on.
    ///
    /// - Parameters:
    ///   - evidence: see ``RefusedEnd/more(_:)``.
    ///   - place: the location of the endpoint in the description.
    package func contradiction(_ evidence: PageEvidence?, place: String) -> String {
        let finding =
            evidence.map { ($0.isBefore ? "" : "on the page before, ") + "\($0)" } ?? "the page before names this one"
        let ignored = evidence.map { "more: { ignore: ['\($0.name)'] } or " } ?? ""
        return
            "`then: stop` takes this for the end of the list, behind \(listed) records, but \(finding). If the server "
            + "refuses deep pages, write restart, or request smaller lists (partitions); if nothing is missing, write "
            + "\(ignored)more: ignore (\(place))"
    }

    /// Returns evidence on the pages before that the list has the current page, or nil.
    private func evidenceOfCurrent(_ rule: PageEvidence.Rule) -> PageEvidence? {
        guard let before else { return nil }
        let style = (choice?.pagination ?? pagination).style
        let page = FetchedPage(
            before.request, before.facts, ordinal: pagesSinceRestart,
            listed: window.after == nil ? listed : window.records)
        var taken = PageEvidence.Taken(by: style, page, first: first)
        taken.counts = counts
        taken.namesAnyPage = namesAnyPage
        taken.isTaken = { link in
            guard let url = try? bounds.permitted(link, relativeTo: before.request.url) else { return false }
            let page = PageRequest(url: url, body: request.body)
            return page != request && hasRequested(page)
        }
        return PageEvidence.find(before.facts, taken, rule) ?? lastLink(before.facts, style, rule)
            ?? PageEvidence.counted(taken, rule)
    }

    /// Returns evidence from a link to the last page, `rel=last`, or nil.
    private func lastLink(
        _ facts: PageFacts, _ style: any PaginationStyle, _ rule: PageEvidence.Rule
    ) -> PageEvidence? {
        guard !rule.ignores("Link"), let link = LinkHeader.target(relation: "last", in: facts.headers),
            let place = (style as? PageNumberPagination)?.sends ?? (style as? OffsetPagination)?.sends,
            let last = PageRequest(url: link).value(at: place).flatMap({ Int($0) }),
            let current = request.value(at: place).flatMap({ Int($0) }), last >= current
        else { return nil }
        return PageEvidence(name: "Link", meaning: "names a last page, \(Redaction.url(link))")
    }

    /// The smallest total that may be the most that a server counts.
    private static let smallestLimit = 1000

    /// Returns the doubt about a list that ends at a full page and at a round total, or at a total
    /// that is declared a lower limit, as by Elasticsearch (`relation: gte`); nil otherwise.
    ///
    /// - Parameter listed: the number of listed records, those of the page included.
    func cappedTotal(_ facts: PageFacts, listed: Int) -> EndDoubt? {
        let style = (choice?.pagination ?? pagination).style
        guard bounds.more != .ignore, let total = declaredTotal(facts), listed >= total,
            !style.isDeclaredLast(facts), facts.recordCount > 0,
            let name = (style as? any TotalPagination)?.total, !bounds.more.ignores(name)
        else { return nil }
        let isRound =
            listed == total && total >= PageSequence.smallestLimit && total % PageSequence.smallestLimit == 0
            && isFull(facts.recordCount)
        let siblings = name.lastIndex(of: ".").map { name[...$0] } ?? ""
        guard isRound || facts.values["\(siblings)relation"] == "gte" else { return nil }
        return .cappedTotal(name: name, count: total)
    }

    /// Returns the doubt about a list that ends behind its declared total, although its pages have
    /// fewer different records; nil otherwise.
    ///
    /// - Parameters:
    ///   - total: the total that the last page declares.
    ///   - different: see ``PageFacts/differentRecords``.
    ///   - counts: the smallest counts of the pages.
    func repeatedRecords(total: Int?, _ different: Int?, counts: [String: Int], listed: Int) -> EndDoubt? {
        let style = (choice?.pagination ?? pagination).style
        guard bounds.more != .ignore, window.after == nil, let total, let different,
            let name = (style as? any TotalPagination)?.total, !bounds.more.ignores(name)
        else { return nil }
        let declared = min(total, counts[name] ?? total)
        guard listed >= declared, different < declared else { return nil }
        return .repeatedRecords(name: name, total: declared, different: different)
    }

    /// Returns the doubt about a list whose declared total has become smaller from page to page:
    /// behind a record that was deleted, another one may have moved to a page that was read
    /// before. Nil otherwise, and for a total of 0, which some servers declare behind the last
    /// page.
    func smallerTotal(_ facts: PageFacts, listed: Int) -> EndDoubt? {
        let style = (choice?.pagination ?? pagination).style
        guard bounds.more != .ignore, window.after == nil, style.isCounted, let total = declaredTotal(facts),
            let largestTotal, largestTotal > total, total > 0, listed >= total,
            let name = (style as? any TotalPagination)?.total, !bounds.more.ignores(name)
        else { return nil }
        return .smallerTotal(name: name, before: largestTotal, total: total)
    }
}

extension PageEvidence {
    /// Returns evidence from the counts of all pages of a scan, also of those before the last one,
    /// or nil.
    static func counted(_ taken: Taken, _ rule: Rule) -> PageEvidence? {
        for (name, count) in taken.counts.sorted(by: { $0.key < $1.key }) where !rule.ignores(name) {
            let isPages = isPageCount(name)
            guard isPages || meaning(of: name) != .count, count > (isPages ? taken.pages : taken.records) else {
                continue
            }
            return PageEvidence(
                name: name, meaning: "said on a page before that there are \(count) \(isPages ? "pages" : "records")",
                isBefore: true)
        }
        return nil
    }
}
