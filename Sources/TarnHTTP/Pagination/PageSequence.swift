// One scan of an endpoint's pages and its guards: no repeated page, no endless scan, no foreign
// server. Pure.

/// The pages of one scan, as a value: read `request`, send it, then call `advance`.
///
///     var pages = try PageSequence(pagination, url: url, base: base, aliases: aliases)
///     repeat {
///         let response = try await transport.send(TransportRequest(url: pages.url))
///         …
///     } while try pages.advance(PageFacts(headers: response.headers, recordCount: count))
package struct PageSequence: Sendable, Hashable {
    /// The pagination style.
    package let pagination: Pagination
    /// The servers to which links may lead, and the limits of the scan.
    package let bounds: Bounds
    /// The rule for a server that refuses deep pages; nil for no restarts.
    package let deep: DeepPages?
    /// The request for the current page.
    package private(set) var request: PageRequest
    /// The ordinal of the current page, counted from 1.
    package private(set) var ordinal = 1
    /// The number of records that the pages before the current one list.
    package private(set) var listed = 0
    /// The detected style, of a pagination that detects one; nil until the first page was read.
    package private(set) var choice: PaginationChoice?
    /// Whether a limit stopped the scan before its last page.
    package private(set) var isCutOff = false
    /// The position behind the page at which ``Bounds/partLimit`` stopped the scan; nil if it did
    /// not.
    package private(set) var positionBehindPart: String?
    /// The reason why the list may go on behind the page at which the scan has ended; nil if the
    /// end is certain.
    package private(set) var doubt: EndDoubt?

    /// The number of records that earlier parts of the scan have listed.
    private var listedBefore = 0

    let first: PageRequest
    private var visited: Set<Visit>
    /// The page before the current one; nil if it is unknown, and at the beginning of a list.
    private(set) var before: (request: PageRequest, facts: PageFacts)? {
        get { beforeRequest.flatMap { request in beforeFacts.map { (request, $0) } } }
        set { (beforeRequest, beforeFacts) = (newValue?.request, newValue?.facts) }
    }
    private var beforeRequest: PageRequest?
    private var beforeFacts: PageFacts?
    private var lastDigest: Int?
    private var lastContent: UInt64?
    /// The number of pages in a row that have listed the records of the page before.
    private var repeated = 0
    /// The number of such pages that a style which does not count may have.
    static let mostRepeated = 20
    /// The number of pages without records in a row.
    private(set) var empty = 0
    private static let endless =
        "more than 20 pages in a row have no records, and name another one. If they are the end, write end: empty for a cursor; if not, more: ignore"
    /// The progress since the last restart, and the value behind which the scan restarted.
    private(set) var window = Window()
    /// The smallest counts on pages of the window, by path or header field.
    private(set) var counts: [String: Int] = [:]
    /// The declared total of the last page that has one; nil without one.
    private var total: Int?
    /// The largest declared total of the pages since the beginning or the last restart.
    private(set) var largestTotal: Int?
    /// Whether the page before has announced another one: by a link, a cursor, a flag or a count.
    private(set) var isAnnounced = false
    /// The flags that have stated on a page that more follow.
    private(set) var flags: Set<String> = []
    /// The number of different records on the pages before; nil if they are not counted.
    private(set) var different: Int?

    /// A digest of a request, so that a scan of a million pages does not hold a million URLs.
    ///
    /// It has 128 bits and the seed of the process: two requests practically never have the same
    /// one, and a server cannot find two.
    private struct Visit: Sendable, Hashable {
        private let halves: SIMD2<Int>

        init(_ request: PageRequest) {
            // By bytes: cursors in a body that are canonically equivalent are different ones.
            let url = Array(request.url.utf8), body = request.body.map { Array($0.text.utf8) }
            var first = Hasher(), second = Hasher()
            first.combine(url)
            first.combine(body)
            second.combine(1)
            second.combine(url)
            second.combine(body)
            halves = SIMD2(first.finalize(), second.finalize())
        }
    }

    struct Window: Sendable, Hashable {
        var pages = 0
        var records = 0
        var after: String?
        var lastValue: String?
    }

    /// The URL of the current page.
    package var url: String { request.url }

    /// Whether the current page is the first one of the request.
    var isAtFirstPage: Bool { request == pagination.firstPage(of: first) }

    /// Creates a scan that starts at the first page of a request.
    ///
    /// - Throws: `PaginationError.malformed` if the URL or `base` is not a URL.
    package init(
        _ pagination: Pagination, _ first: PageRequest, _ bounds: Bounds, deep: DeepPages? = nil
    ) throws(PaginationError) {
        for url in [first.url, bounds.base] {
            do throws(HTTPURLError) { _ = try HTTPURL(url) } catch {
                throw .malformed(link: url, reason: error.reason)
            }
        }
        self.pagination = pagination
        self.bounds = bounds
        self.deep = deep
        self.first = first
        request = pagination.firstPage(of: first)
        visited = [Visit(request)]
    }

    /// Creates a scan from a URL, for requests without a body.
    package init(
        _ pagination: Pagination, url: String, base: String, aliases: [String] = [], pageLimit: Int = 10_000
    ) throws(PaginationError) {
        try self.init(pagination, PageRequest(url: url), Bounds(base: base, aliases: aliases, pageLimit: pageLimit))
    }

    /// The parts of a page that ``advance(_:answeredBy:)`` needs.
    package var wants: PageWants {
        var wants = pagination.style.wants
        if let deep { wants.record = deep.path }
        return wants
    }

    /// Returns the next request if header fields alone determine it.
    ///
    /// Returns nil if the whole page must be read first, or if the scan ends or fails at this page;
    /// ``advance(_:answeredBy:)`` distinguishes these cases.
    package func next(byHeaders headers: TransportHeaders, answeredBy: String? = nil) -> PageRequest? {
        guard deep == nil, bounds.recordLimit == nil, bounds.partLimit == nil,
            !(pagination.style is SinglePagePagination)
        else { return nil }
        guard (choice?.pagination ?? pagination).style.isDetermined(byHeaders: headers) else { return nil }
        guard ordinal < bounds.pageLimit else { return nil }
        // A copy that advances would copy the digests of all requests.
        return try? step(PageFacts(headers: headers, recordCount: 1), answeredBy: answeredBy).next
    }

    /// Advances like ``advance(_:answeredBy:)``, for styles that need no value of the body.
    package mutating func advance(
        headers: TransportHeaders, recordCount: Int, answeredBy: String? = nil
    ) throws(PaginationError) -> Bool {
        try advance(PageFacts(headers: headers, recordCount: recordCount), answeredBy: answeredBy)
    }

    /// Advances to the next page. Returns false, and changes no position, if there is none.
    ///
    /// - Parameters:
    ///   - facts: the facts about the current page; for a 304 response, the stored ones.
    ///   - answeredBy: the URL that links are relative to, if redirects made it different from
    ///     `url`.
    /// - Returns: false if the current page is the last one, or if a limit stops the scan.
    /// - Throws: `PaginationError`; the sequence is unchanged.
    package mutating func advance(_ facts: PageFacts, answeredBy: String? = nil) throws(PaginationError) -> Bool {
        let step = try step(facts, answeredBy: answeredBy)
        // Also a scan that a limit ends here reports its style.
        choice = step.choice
        guard let next = step.next else {
            doubt = !step.isCertain && isInDoubt(at: facts) ? .emptyPage : doubtOfTotal(facts, step)
            return false
        }
        guard ordinal < bounds.pageLimit else {
            return try stop(.tooManyPages(limit: bounds.pageLimit, url: next.url))
        }
        if let limit = bounds.recordLimit, step.listed >= limit {
            return try stop(.tooManyRecords(limit: limit, url: next.url))
        }
        if let limit = bounds.partLimit, step.listed - listedBefore >= limit {
            isCutOff = true
            positionBehindPart = PageSequence.position(of: next, step.window)
            return false
        }
        // A restart invalidates the counts: the restarted list has fewer records. And it may begin
        // with the records of the page before: those with the value behind which it begins.
        let isRestart = step.window.pages == 0
        before = isRestart ? nil : (request, facts)
        visited.insert(Visit(next))
        request = next
        ordinal = ordinal.addingClamped(1)
        listed = step.listed
        repeated = isRepeated(facts) && !isRestart ? repeated + 1 : 0
        empty = facts.isEmpty && !isRestart ? empty + 1 : 0
        lastDigest = isRestart ? nil : facts.digest
        lastContent = isRestart ? nil : facts.contentDigest
        counts = isRestart ? [:] : step.counts
        total = isRestart ? nil : declaredTotal(facts) ?? total
        largestTotal = isRestart ? nil : [largestTotal, total].compactMap(\.self).max()
        different = isRestart ? nil : facts.differentRecords
        flags.formUnion(PageEvidence.flags(facts, ofMore: true))
        isAnnounced = !step.isOnlyTried && announcesNext(facts)
        window = step.window
        return true
    }

    /// Whether the list is one page, whatever it says.
    package var hasOnePage: Bool { (choice?.pagination ?? pagination).style is SinglePagePagination }

    /// Whether a page lists the records of the page before, in the same order.
    private func isRepeated(_ facts: PageFacts) -> Bool {
        guard facts.recordCount > 0 else { return false }
        return facts.digest != nil && facts.digest == lastDigest
            || facts.contentDigest != nil && facts.contentDigest == lastContent
    }

    /// Whether a page that lists the elements of the page before ends the list.
    package var endsAtRepeatedPage: Bool { (choice?.pagination ?? pagination).style.endsAtRepeatedPage }

    /// Whether a page that ends the list lists only the records of the page before.
    package func isRepetition(_ facts: PageFacts) -> Bool { endsAtRepeatedPage && isRepeated(facts) }

    /// Returns whether the list has ended before the current page, which lists the elements of the
    /// page before: records that their positions name would be doubled.
    ///
    /// - Parameter digest: the ``PageFacts/contentDigest`` of the current page.
    package func hasEnded(beforeContent digest: UInt64?) -> Bool {
        guard let digest, digest == lastContent else { return false }
        return endsAtRepeatedPage && !PageSequence.hasMore(counts, listed: listed)
    }

    /// Returns whether the list ends at the current page.
    func isLast(_ facts: PageFacts, answeredBy: String?) -> Bool {
        (try? step(facts, answeredBy: answeredBy)).map { $0.next == nil } ?? false
    }

    /// The outcome of a page: the next request, and the values that it changes.
    private struct Step {
        var choice: PaginationChoice?
        /// The request for the next page; nil after the last one.
        var next: PageRequest?
        /// Whether the page says that it is the last one.
        var isOnlyTried = false
        /// Whether a flag states that no page follows, although the page names one.
        var isCertain = false
        var listed: Int
        var window: Window
        var counts: [String: Int]
    }

    /// Determines the next page, without a look at the limits.
    private func step(_ facts: PageFacts, answeredBy: String?) throws(PaginationError) -> Step {
        var pagination = pagination, choice = choice
        if let chosen = choice ?? pagination.style.choice(at: request, facts) {
            choice = chosen
            pagination = chosen.pagination
        }
        // A server may ignore a parameter that was computed or guessed.
        let isGuessed = pagination.style.isCounted || choice != nil && pagination.style is CursorPagination
        if isRepeated(facts), isGuessed || repeated >= PageSequence.mostRepeated(pagination) {
            guard pagination.style.endsAtRepeatedPage, !PageSequence.hasMore(counts, listed: self.listed) else {
                throw lastCursorError(pagination, choice) ?? PaginationError.samePage(url: request.url)
            }
            return Step(choice: choice, listed: self.listed, window: window, counts: counts)
        }
        let sum = self.listed.addingClamped(facts.recordCount)
        // After a restart, a total counts the records behind the restart.
        let listed = window.after == nil ? sum : window.records.addingClamped(facts.recordCount)
        var counts = counts
        for found in PageEvidence.counts(facts) {
            counts[found.name] = min(found.count, counts[found.name] ?? found.count)
        }
        let found = try successor(facts, pagination, listed: listed)
        var next = request
        switch found {
        case .end:
            if let (next, window) = try restart(atEnd: facts) {
                return Step(choice: choice, next: next, isOnlyTried: true, listed: sum, window: window, counts: counts)
            }
            let evidence =
                evidence(facts, pagination.style, counts, listed: listed, answeredBy)
                ?? lostTotal(facts, pagination.style, listed: listed)
            if let evidence {
                throw .more(
                    evidence, listed: sum, style: pagination.style.name,
                    advice: evidence.isEmptyPage ? choice?.styleFromZero : advice(pagination, facts), url: request.url)
            }
            return Step(choice: choice, listed: sum, window: window, counts: counts)
        case .next(let reference): next.url = try permitted(reference, relativeTo: answeredBy ?? request.url)
        case .nextBody(let body): next.body = body
        case .nextRequest(let page): next = try permitted(page, relativeTo: answeredBy ?? request.url)
        }
        let mayBeBehind = PageSequence.mayBeBehindLast(facts, pagination.style, counts, listed: listed, pages: ordinal)
        let isAtItself = Visit(next) == Visit(request)
        let isCertain = statesEnd(facts, counts, listed: listed, isAtItself: isAtItself, mayBeBehind: mayBeBehind)
        // A page without records that leads to itself: nothing follows yet.
        if isCertain || mayBeBehind && (isAtItself || isReachedForSure(facts, counts, listed: listed)) {
            return Step(choice: choice, isCertain: isCertain, listed: sum, window: window, counts: counts)
        }
        if mayBeBehind, empty >= PageSequence.mostRepeated, PageSequence.seemsLast(facts, bounds.more) {
            throw .refused(by: pagination.style.name, reason: PageSequence.endless)
        }
        var window = progress(behind: facts)
        if let deep, deep.isReached(pages: window.pages, records: window.records) {
            (next, window) = try restart(deep, window)
        }
        guard !visited.contains(Visit(next)) else {
            throw lastCursorError(pagination, choice) ?? PaginationError.repeated(url: next.url)
        }
        return Step(choice: choice, next: next, listed: sum, window: window, counts: counts)
    }

    /// Returns a style that may go on where another one has ended, as a description writes it.
    private func advice(_ pagination: Pagination, _ facts: PageFacts) -> String? {
        let advice = AutomaticPagination.choose(request, facts)
        return advice.pagination == .singlePage || advice.pagination == pagination ? nil : advice.style
    }

    /// Returns evidence that the page at which the style ends is not the last one, or nil.
    private func evidence(
        _ facts: PageFacts, _ style: any PaginationStyle, _ counts: [String: Int], listed: Int, _ answeredBy: String?
    ) -> PageEvidence? {
        let pages = window.after == nil ? ordinal : window.pages.addingClamped(1)
        var taken = PageEvidence.Taken(
            by: style, FetchedPage(request, facts, ordinal: pages, listed: listed), first: first)
        taken.counts = counts
        taken.isTaken = { link in
            guard let url = try? permitted(link, relativeTo: answeredBy ?? request.url) else { return false }
            return visited.contains(Visit(PageRequest(url: url, body: request.body)))
        }
        return (style as? any PromisingStyle)?.promise(facts, bounds.more)
            ?? PageEvidence.find(facts, taken, bounds.more)
            ?? PageEvidence.found(before: facts, taken, bounds.more)
    }

    /// Stops the scan at a limit: without an error if `bounds.stopsAtLimit` is true.
    private mutating func stop(_ error: PaginationError) throws(PaginationError) -> Bool {
        guard bounds.stopsAtLimit else { throw error }
        isCutOff = true
        return false
    }

    // MARK: Totals

    /// Whether the list may go on behind its declared total, so that the different records among
    /// the listed ones are to be counted: see ``PageFacts/differentRecords``.
    package var countsRecords: Bool {
        let style = (choice?.pagination ?? pagination).style
        if let style = style as? any TotalPagination { return style.total != nil }
        return choice == nil && style is AutomaticPagination
    }

    /// The number of pages since the beginning of the list, or since its last restart.
    package var pagesSinceRestart: Int { window.after == nil ? ordinal - 1 : window.pages }

    /// Whether the pages before the current one have as many records as the list declares.
    ///
    /// Then the current one is requested only because records came twice, and may not exist.
    private var isBehindTotal: Bool {
        let before = window.after == nil ? listed : window.records
        return total.map { before >= $0 } ?? false
    }

    /// Returns whether a status means that there is no page behind the declared total.
    package func isEnd(afterStatus status: Int) -> Bool {
        isBehindTotal && [400, 404, 410, 416, 422].contains(status)
    }

    /// The doubt about a list whose total, or whose different records, cannot be trusted.
    private func doubtOfTotal(_ facts: PageFacts, _ step: Step) -> EndDoubt? {
        cappedTotal(facts, listed: step.listed)
            ?? repeatedRecords(
                total: declaredTotal(facts) ?? total, facts.differentRecords, counts: step.counts, listed: step.listed)
            ?? smallerTotal(facts, listed: step.listed)
    }

    /// The doubt about a list whose server has no page behind its declared total.
    package var doubtBehindTotal: EndDoubt? {
        repeatedRecords(total: total, different, counts: counts, listed: listed)
    }

    /// Notes the page before the current one, of a scan that continues.
    package mutating func note(pageBefore facts: PageFacts) {
        // Its own request is unknown, and only links relative to it need that.
        before = (request, facts)
        total = declaredTotal(facts)
        largestTotal = total
        flags.formUnion(PageEvidence.flags(facts, ofMore: true))
        isAnnounced = announcesNext(facts)
        for found in PageEvidence.counts(facts) { counts[found.name] = found.count }
    }

    func declaredTotal(_ facts: PageFacts) -> Int? {
        ((choice?.pagination ?? pagination).style as? any TotalPagination)?.total(of: facts)
    }

    /// Returns evidence of a declared total that the list has not reached, from a page before.
    ///
    /// The page at which the scan ends has none: it may be the answer of a server that has failed.
    private func lostTotal(_ facts: PageFacts, _ style: any PaginationStyle, listed: Int) -> PageEvidence? {
        guard let total, listed < total, declaredTotal(facts) == nil, !style.isDeclaredLast(facts),
            let name = (style as? any TotalPagination)?.total, !bounds.more.ignores(name)
        else { return nil }
        return PageEvidence(
            name: name, meaning: "said on a page before that there are \(total) records", isBefore: true)
    }

    /// Returns whether a page that has a successor says so itself.
    ///
    /// Without a sign on its page, the next number or offset is only tried.
    private func announcesNext(_ facts: PageFacts) -> Bool {
        let style = (choice?.pagination ?? pagination).style
        guard style.isCounted else { return true }
        return (style as? any TotalPagination)?.announcesNext(facts) ?? false
    }

    /// Returns whether a page that ends the scan is empty although it was announced.
    private func isInDoubt(at facts: PageFacts) -> Bool {
        guard facts.recordCount == 0, isAnnounced, bounds.more != .ignore else { return false }
        let style = (choice?.pagination ?? pagination).style
        if style.isDeclaredLast(facts) || !style.isCounted && style.endsAtEmptyPage { return false }
        return PageEvidence.counts(facts).isEmpty
    }

    // MARK: Deep pages

    /// Restarts the scan behind the last record if a status is a refusal of a deep page.
    ///
    /// - Returns: false if the status is no such refusal.
    /// - Throws: `PaginationError.stuck` if the scan would restart where it already restarted.
    package mutating func restart(afterStatus status: Int) throws(PaginationError) -> Bool {
        guard let deep, window.pages > 0, deep.statuses.contains(where: { $0.contains(status) }) else { return false }
        (request, window) = try restart(deep, window)
        visited.insert(Visit(request))
        counts = [:]
        lastDigest = nil
        lastContent = nil
        repeated = 0
        (total, largestTotal) = (nil, nil)
        before = nil
        isAnnounced = false
        return true
    }

    // MARK: Resuming

    /// The position of the scan as text, for ``resume(at:ordinal:listed:)``.
    ///
    /// The text is the URL alone if it is enough.
    package var position: String { PageSequence.position(of: request, window) }

    private static func position(of request: PageRequest, _ window: Window) -> String {
        PagePosition(
            request: request, pages: window.pages, records: window.records, after: window.after, last: window.lastValue
        ).text
    }

    /// The position of a page as text, for ``resume(at:ordinal:listed:)``.
    package static func position(of request: PageRequest) -> String {
        PagePosition(request: request, pages: 0, records: 0, after: nil, last: nil).text
    }

    /// Moves to the page that an earlier scan would have requested next.
    ///
    /// - Parameters:
    ///   - position: the ``position`` of the earlier scan.
    ///   - ordinal: the ordinal of the page, counted from 1.
    ///   - listed: the number of records on the pages before it.
    /// - Throws: `PaginationError.malformed` or `.foreign`: the URL may come from a store of
    ///   another description.
    package mutating func resume(at position: String, ordinal: Int, listed: Int = 0) throws(PaginationError) {
        let position = PagePosition(text: position, like: request)
        var resumed = position.request
        resumed.url = try permitted(resumed.url, relativeTo: request.url)
        request = resumed
        self.ordinal = ordinal
        self.listed = listed
        listedBefore = listed
        isAnnounced = ordinal > 1 && !pagination.style.isCounted
        window = Window(
            pages: position.pages, records: position.records, after: position.after, lastValue: position.last)
        visited.insert(Visit(request))
    }

    // MARK: Links

    /// The maximum length of a reference or of a cursor, in bytes.
    ///
    /// Servers accept no longer ones.
    package static let linkLimit = 64 << 10
    static let tooLong = "it is longer than 64 KiB"

    private func permitted(_ reference: String, relativeTo url: String) throws(PaginationError) -> String {
        try bounds.permitted(reference, relativeTo: url)
    }

    /// Returns whether a page was requested already.
    func hasRequested(_ page: PageRequest) -> Bool { visited.contains(Visit(page)) }
}
