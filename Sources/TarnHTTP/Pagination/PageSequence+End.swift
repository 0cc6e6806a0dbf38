// The end of lists whose server does not end them.

extension PageSequence {
    /// Whether a total is larger than the number of listed records.
    static func hasMore(_ counts: [String: Int], listed: Int) -> Bool {
        counts.contains { name, count in
            count > listed && !PageEvidence.isPageCount(name) && PageEvidence.meaning(of: name) != .count
        }
    }

    /// Whether a page without records, behind others, may be the end of a list whose server names
    /// the next page: no total is larger than the number of listed records, no number of pages
    /// larger than that of the page, and no flag says that there is more.
    static func mayBeBehindLast(
        _ facts: PageFacts, _ style: any PaginationStyle, _ counts: [String: Int], listed: Int, pages: Int
    ) -> Bool {
        guard facts.isEmpty, listed > 0, !style.isCounted, !hasMore(counts, listed: listed) else {
            return false
        }
        guard (style as? any PromisingStyle)?.hasMore?.value(facts) != true,
            !facts.values.keys.contains(where: { PageEvidence.isMore($0) && facts.flag($0) == true })
        else { return false }
        return !PageEvidence.counts(facts).contains { $0.isPages && $0.count > pages }
    }

    /// Whether a page without records has a total that is the number of listed records exactly, and
    /// that was smaller on no page: CKAN names a next page behind the last one, without end.
    ///
    /// - Parameter counts: the smallest counts on the pages: a number of the records so far was
    ///   smaller on the first one.
    static func isReached(
        _ facts: PageFacts, _ counts: [String: Int], listed: Int, _ rule: PageEvidence.Rule
    ) -> Bool {
        PageEvidence.counts(facts).contains { count in
            !count.isPages && count.count == listed && counts[count.name] == listed && !rule.ignores(count.name)
                && PageEvidence.meaning(of: count.name) == .total
        }
    }

    /// Whether a page says that none follow, by a flag, or by a total that is reached.
    ///
    /// Names may have other meanings: no list ends because of it without an error.
    static func seemsLast(_ facts: PageFacts, _ rule: PageEvidence.Rule) -> Bool {
        let isFlag = facts.values.keys.contains {
            PageEvidence.isMore($0) && !rule.ignores($0) && facts.flag($0) == false
        }
        return isFlag
            || PageEvidence.counts(facts).contains { count in
                !count.isPages && count.count > 0 && !rule.ignores(count.name)
                    && PageEvidence.meaning(of: count.name) != .count
            }
    }

    /// Whether a flag states that no page follows, although the page names one: a page that names
    /// itself, or one without records, if the flag was the opposite on a page before.
    func statesEnd(
        _ facts: PageFacts, _ counts: [String: Int], listed: Int, isAtItself: Bool, mayBeBehind: Bool
    ) -> Bool {
        guard isAtItself || mayBeBehind, !PageSequence.hasMore(counts, listed: listed) else { return false }
        let last = PageEvidence.flags(facts, ofMore: false).filter { !bounds.more.ignores($0) }
        guard !last.isEmpty, PageEvidence.flags(facts, ofMore: true).isEmpty else { return false }
        return isAtItself || last.contains { flags.contains($0) }
    }

    /// The number of pages without records in a row behind which a total that several pages have
    /// reached exactly ends the list.
    private static let surelyEmpty = 2

    /// Whether enough pages without records in a row have a total that is reached exactly.
    func isReachedForSure(_ facts: PageFacts, _ counts: [String: Int], listed: Int) -> Bool {
        empty >= PageSequence.surelyEmpty && ordinal > empty + 2
            && PageSequence.isReached(facts, counts, listed: listed, bounds.more)
    }

    // MARK: Ends that a description has to name

    /// Returns what may be wrong if the server refuses the page behind the last one, or the last
    /// page by the number of pages.
    ///
    /// Nil for other pages.
    package func hint(afterStatus status: Int) -> String? {
        guard [400, 404, 410, 416, 422].contains(status), ordinal > 1 else { return nil }
        let pagination = choice?.pagination ?? self.pagination
        return hintOfLastPage() ?? lastCursorHint(pagination, choice) ?? hintOfPrefix(pagination)
            ?? hintOfEnd(pagination, status)
    }

    /// Returns the mend of a list whose links lack the beginning of the base URL's path, as those
    /// of a server behind a proxy; nil for other pages.
    private func hintOfPrefix(_ pagination: Pagination) -> String? {
        guard pagination.style is JSONLinkPagination || pagination.style is HeaderLinkPagination,
            let url = try? HTTPURL(request.url), let home = try? HTTPURL(bounds.base), url.hasSameOrigin(as: home),
            HTTPURL.rebase(link: request.url, from: [bounds.base], onto: bounds.base) == nil
        else { return nil }
        var origin = URLReference(bounds.base)
        (origin.path, origin.query, origin.fragment) = ("", nil, nil)
        return "the page before names this URL, which is not below \(bounds.base): if the server leaves out the "
            + "beginning of the path, add aliases: [\(origin)] beside base"
    }

    private func hintOfLastPage() -> String? {
        guard let style = (choice?.pagination ?? pagination).style as? PageNumberPagination, style.start > 0,
            let number = request.value(at: style.sends).flatMap({ Int($0) }),
            let name = counts.keys.sorted().first(where: { counts[$0] == number && PageEvidence.isPageCount($0) })
        else { return nil }
        let advice = choice?.styleFromZero.map { "paginate: \($0)" } ?? "start: 0 under paginate"
        return "\(name) says that there are \(number) pages: if the first page has the number 0, write \(advice)"
    }

    /// Returns the mend of a list whose server refuses the page behind the last one; nil if a page
    /// has said where the list ends.
    func hintOfEnd(_ pagination: Pagination, _ status: Int) -> String? {
        guard pagination.isCounted, counts.isEmpty, !isAnnounced else { return nil }
        return "the page before may be the last one: if the server refuses what is behind it, write "
            + "responses: [{ status: \(status), then: stop }] at the endpoint"
    }

    /// Returns the mend of a list whose last page has a word for nothing as its cursor, if the
    /// current page was requested with it; nil for other pages.
    func lastCursorHint(_ pagination: Pagination, _ choice: PaginationChoice?) -> String? {
        guard ordinal > 1, let style = pagination.style as? CursorPagination, style.last == nil,
            let cursor = request.value(at: style.sends), cursor != style.start, PageEvidence.maySayEnd(cursor)
        else { return nil }
        let last = "last: '\(cursor)'"
        let advice = choice.flatMap { choice in
            choice.style.hasSuffix(" } }") ? "paginate: \(choice.style.dropLast(4)), \(last) } }" : nil
        }
        return "the page before has the cursor '\(cursor)', which may mark the end of the list: if it does, write "
            + (advice ?? "\(last) under paginate")
    }

    /// Returns the error of a page that was requested with a word for nothing as its cursor, and
    /// leads back to the beginning of the list; nil for other pages.
    func lastCursorError(_ pagination: Pagination, _ choice: PaginationChoice?) -> PaginationError? {
        lastCursorHint(pagination, choice).map {
            .refused(by: pagination.style.name, reason: "page loop: " + $0)
        }
    }
}
