// One walk over the pages of an endpoint, with its guards: no page twice, no endless walk, no foreign server. Pure.

/// The pages of one walk, as a value: take `request`, send it, then `advance`.
///
///     var pages = try PageSequence(pagination, url: url, base: base, aliases: aliases)
///     repeat {
///         let response = try await transport.send(HTTPRequest(url: pages.url))
///         …
///     } while try pages.advance(PageFacts(headers: response.headers, recordCount: count))
public struct PageSequence: Sendable, Hashable {
    /// Where a walk's links may lead, and how far.
    public struct Bounds: Sendable, Hashable {
        /// Where the API is reached.
        public var base: String
        /// Other base URLs by which the API names itself in its links; they are followed at `base`.
        public var aliases: [String]
        /// Base URLs of other servers to which links may lead. What is sent there carries no credentials.
        public var follows: [String]
        /// How many pages a walk may have.
        public var pageLimit: Int
        /// Nil for no limit.
        public var recordLimit: Int?
        /// Whether the walk ends quietly at a limit; otherwise that is an error.
        public var stopsAtLimit: Bool
        /// A query parameter that holds a key: servers repeat it in their links, and it is taken out.
        public var secretParameter: String?
        /// Which signs count that there is more than the walk takes: a walk that ends at a page with one is an error.
        public var more = PageEvidence.Rule.fail

        public init(
            base: String, aliases: [String] = [], follows: [String] = [], pageLimit: Int = 10_000, recordLimit: Int? = nil,
            stopsAtLimit: Bool = false, secretParameter: String? = nil
        ) {
            self.base = base
            self.aliases = aliases
            self.follows = follows
            self.pageLimit = pageLimit
            self.recordLimit = recordLimit
            self.stopsAtLimit = stopsAtLimit
            self.secretParameter = secretParameter
        }
    }

    /// How the pages follow each other.
    public let pagination: Pagination
    /// Where links may lead, and how far.
    public let bounds: Bounds
    /// What to do about a server that refuses pages that are too far in.
    public let deep: DeepPages?
    /// The page to request.
    public private(set) var request: PageRequest
    /// Which page it is, from 1.
    public private(set) var ordinal = 1
    /// How many records the pages before listed.
    public private(set) var listed = 0
    /// What ``Pagination/automatic`` has chosen, once a page was seen.
    public private(set) var choice: AutomaticPagination.Choice?
    /// Whether a limit has ended the walk before its end.
    public private(set) var isCutOff = false

    private let first: PageRequest
    private var visited: Set<PageRequest>
    private var lastDigest: Int?
    /// Pages and records since the walk began again, and the value behind which it did.
    private var window = Window()
    /// The smallest counts that pages of the window have, by where they have them.
    private var counts: [String: Int] = [:]

    private struct Window: Sendable, Hashable {
        var pages = 0
        var records = 0
        var after: String?
        var lastValue: String?
    }

    /// The URL of the page to request.
    public var url: String { request.url }

    /// A walk that begins at the first page of a request.
    ///
    /// - Throws: `PaginationError.malformed` if the URL or `base` is not a URL.
    public init(
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
        visited = [request]
    }

    /// The same with a URL and without a body.
    public init(
        _ pagination: Pagination, url: String, base: String, aliases: [String] = [], pageLimit: Int = 10_000
    ) throws(PaginationError) {
        try self.init(pagination, PageRequest(url: url), Bounds(base: base, aliases: aliases, pageLimit: pageLimit))
    }

    /// What has to be known of every page.
    public var wants: PageWants {
        var wants = pagination.wants
        if let deep { wants.record = deep.path }
        return wants
    }

    /// The next request if header fields alone decide it; nil if the whole page has to be read first, or if the walk ends or fails there.
    /// ``advance(_:answeredBy:)`` says which.
    public func next(byHeaders headers: HTTPHeaders, answeredBy: String? = nil) -> PageRequest? {
        guard deep == nil, bounds.recordLimit == nil else { return nil }
        if pagination == .automatic {
            // A Link field decides the style, whatever the body has.
            guard choice?.pagination.needsHeadersOnly ?? (LinkHeader.target(relation: "next", in: headers) != nil) else { return nil }
        } else if !pagination.needsHeadersOnly {
            return nil
        }
        var copy = self
        guard (try? copy.advance(PageFacts(headers: headers, recordCount: 1), answeredBy: answeredBy)) == true else { return nil }
        return copy.request
    }

    /// ``advance(_:answeredBy:)`` for styles that need no value of the body.
    public mutating func advance(
        headers: HTTPHeaders, recordCount: Int, answeredBy: String? = nil
    ) throws(PaginationError) -> Bool {
        try advance(PageFacts(headers: headers, recordCount: recordCount), answeredBy: answeredBy)
    }

    /// Goes to the page after the current one; false, and nothing changes, if the current one was the last.
    ///
    /// - Parameters:
    ///   - facts: of the current page; of a page answered 304, the stored ones.
    ///   - answeredBy: the URL that answered, if it was not `url` because of redirects: what links are relative to.
    /// - Throws: `PaginationError`; nothing changes.
    public mutating func advance(_ facts: PageFacts, answeredBy: String? = nil) throws(PaginationError) -> Bool {
        var style = pagination, choice = choice
        if pagination == .automatic {
            let chosen = choice ?? AutomaticPagination.choose(request, facts)
            choice = chosen
            style = chosen.pagination
        }
        if style.isCounted, let digest = facts.digest, digest == lastDigest, facts.recordCount > 0 { throw .samePage(url: request.url) }
        let sum = self.listed.addingClamped(facts.recordCount)
        // A total counts from where the walk began again.
        let listed = window.after == nil ? sum : window.records.addingClamped(facts.recordCount)
        var counts = counts
        for found in PageEvidence.counts(facts) { counts[found.name] = min(found.count, counts[found.name] ?? found.count) }
        let found = try style.next(after: request, facts, ordinal: ordinal, listed: listed, more: bounds.more)
        var next = request
        switch found {
        case .end:
            if let evidence = evidence(facts, style, counts, listed: listed, answeredBy) {
                let advice = AutomaticPagination.choose(request, facts)
                throw .more(
                    evidence, listed: sum, style: style.name, advice: advice.pagination == .singlePage || advice.pagination == style ? nil : advice.style,
                    url: request.url)
            }
            self.choice = choice
            return false
        case .next(let reference): next.url = try permitted(reference, relativeTo: answeredBy ?? request.url)
        case .nextBody(let body): next.body = body
        }
        var window = window
        window.pages = window.pages.addingClamped(1)
        window.records = window.records.addingClamped(facts.recordCount)
        window.lastValue = facts.records.map(\.last) ?? window.lastValue
        if let deep, deep.isReached(pages: window.pages, records: window.records) {
            (next, window) = try restart(deep, window)
        }
        guard !visited.contains(next) else { throw .repeated(url: next.url) }
        guard ordinal < bounds.pageLimit else { return try stop(.tooManyPages(limit: bounds.pageLimit, url: next.url)) }
        if let limit = bounds.recordLimit, sum >= limit { return try stop(.tooManyRecords(limit: limit, url: next.url)) }
        visited.insert(next)
        request = next
        ordinal = ordinal.addingClamped(1)
        self.listed = sum
        lastDigest = facts.digest
        // A walk that begins again behind a record has other counts.
        self.counts = window.pages == 0 ? [:] : counts
        self.window = window
        self.choice = choice
        return true
    }

    /// A sign that a page, at which the style ends, is not the last one.
    private func evidence(
        _ facts: PageFacts, _ style: Pagination, _ counts: [String: Int], listed: Int, _ answeredBy: String?
    ) -> PageEvidence? {
        var taken = PageEvidence.Taken(
            by: style, request, facts, first: first, pages: window.after == nil ? ordinal : window.pages.addingClamped(1), records: listed)
        taken.counts = counts
        taken.isTaken = { link in
            guard let url = try? permitted(link, relativeTo: answeredBy ?? request.url) else { return false }
            return visited.contains(PageRequest(url: url, body: request.body))
        }
        return PageEvidence.find(facts, taken, bounds.more)
    }

    private mutating func stop(_ error: PaginationError) throws(PaginationError) -> Bool {
        guard bounds.stopsAtLimit else { throw error }
        isCutOff = true
        return false
    }

    // MARK: Deep pages

    /// Whether a refusal of the current page is one of pages that are too far in: then the walk begins again behind the last record.
    ///
    /// - Throws: `PaginationError.stuck` if it would begin where it began before.
    public mutating func restart(afterStatus status: Int) throws(PaginationError) -> Bool {
        guard let deep, window.pages > 0, deep.statuses.contains(where: { $0.contains(status) }) else { return false }
        (request, window) = try restart(deep, window)
        visited.insert(request)
        counts = [:]
        lastDigest = nil
        return true
    }

    private func restart(_ deep: DeepPages, _ window: Window) throws(PaginationError) -> (PageRequest, Window) {
        guard let value = window.lastValue, value != window.after else {
            throw .stuck(value: window.lastValue ?? "", url: request.url)
        }
        let next = pagination.firstPage(of: first).setting(deep.sends, to: value, isNumber: value.isJSONInteger)
        return (next, Window(after: value, lastValue: value))
    }

    // MARK: Resuming

    /// Where the walk is, as a text from which another one can go on; the URL alone if that is enough.
    public var position: String {
        PagePosition(
            request: request, pages: window.pages, records: window.records, after: window.after, last: window.lastValue
        ).text
    }

    /// Goes to a page that an earlier walk would have asked for next.
    ///
    /// - Parameters:
    ///   - position: what ``position`` said.
    ///   - ordinal: which page it is, from 1.
    ///   - listed: how many records the pages before listed.
    /// - Throws: `PaginationError.malformed` or `.foreign`: the URL may have come from a store of another description.
    public mutating func resume(at position: String, ordinal: Int, listed: Int = 0) throws(PaginationError) {
        let position = PagePosition(text: position, like: request)
        var resumed = position.request
        resumed.url = try permitted(resumed.url, relativeTo: request.url)
        request = resumed
        self.ordinal = ordinal
        self.listed = listed
        window = Window(pages: position.pages, records: position.records, after: position.after, lastValue: position.last)
        visited.insert(request)
    }

    // MARK: Links

    /// In bytes, of a reference or of a cursor: no server takes more, and every page's is kept as long as the walk.
    static let linkLimit = 64 << 10
    static let tooLong = "it is longer than 64 KiB"

    /// The absolute URL of a reference, at `base`, or at the origin of `base`, or where links may lead.
    private func permitted(_ reference: String, relativeTo url: String) throws(PaginationError) -> String {
        guard reference.utf8.count <= PageSequence.linkLimit else { throw .malformed(link: reference.excerpt, reason: PageSequence.tooLong) }
        var link: HTTPURL
        let home: HTTPURL
        do throws(HTTPURLError) {
            link = try HTTPURL(url).resolving(reference)
            home = try HTTPURL(bounds.base)
        } catch {
            throw .malformed(link: reference, reason: error.reason)
        }
        if let name = bounds.secretParameter, let query = link.query {
            let rest = query.split(separator: "&", omittingEmptySubsequences: false).filter { QueryParameters.name(of: $0) != name }
            link.query = rest.isEmpty ? nil : rest.joined(separator: "&")
        }
        if let moved = HTTPURL.rebase(link: link.description, from: [bounds.base] + bounds.aliases, onto: bounds.base) { return moved }
        if link.hasSameOrigin(as: home) { return link.description }
        for other in bounds.follows where HTTPURL.rebase(link: link.description, from: [other], onto: other) != nil { return link.description }
        throw .foreign(link: link.description, allowed: [bounds.base] + bounds.aliases + bounds.follows)
    }
}
