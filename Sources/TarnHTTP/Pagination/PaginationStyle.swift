/// A pagination style: the way in which the pages of a list follow each other.
///
/// A style is a value without state. What it knows of the scan is in the request for the page and
/// in the facts about the page. So an interrupted scan continues with the request that it would
/// have sent next.
///
/// A style needs a name and ``next(after:)``; the other members have defaults. The page "Extending
/// Tarn" shows a whole style.
public protocol PaginationStyle: Sendable, Hashable {
    /// The name in messages. A style that descriptions may name has the name of its
    /// ``PaginationSyntax``.
    var name: String { get }

    /// The parts of a page that ``next(after:)`` reads, besides `Link` and the number of records.
    ///
    /// They are stored with the response, since a 304 has no body. Default: none.
    var wants: PageWants { get }

    /// The parts of a page that a stored response must have: the style's share of the endpoint's
    /// fingerprint.
    ///
    /// If it changes, stored responses are fetched again once. Default: ``wants``.
    var storedWants: PageWants { get }

    /// The parameters that the style sends. A description that sends one of them itself is invalid.
    /// Default: none.
    var parameters: [Pagination.ParameterPlace] { get }

    /// The problem of a description that restarts scans of this style behind their last record; nil
    /// if it may. Default: nil.
    var restartProblem: String? { get }

    /// Whether the client computes the next request.
    ///
    /// If so, a page with the records of the page before is an error: the server ignores the
    /// parameters. Default: true.
    var isCounted: Bool { get }

    /// Whether a page without records is the last one, regardless of the rest of the page. Default:
    /// ``isCounted``.
    var endsAtEmptyPage: Bool { get }

    /// The records, or the pages, before the first page that the style requests. Default: none.
    var passedOver: (records: Int, pages: Int) { get }

    /// Returns the request for the first page from the one that the endpoint describes. Default:
    /// the same request.
    func firstPage(of request: PageRequest) -> PageRequest

    /// Returns the successor of a page.
    ///
    /// - Throws: `PaginationError` if the page contradicts itself;
    ///   ``PaginationError/refused(by:reason:)`` for reasons of the style.
    func next(after page: FetchedPage) throws(PaginationError) -> NextPage

    /// Returns whether these header fields alone determine the next page.
    ///
    /// If so, it is requested before the body of this page is read. Default: false.
    func isDetermined(byHeaders headers: TransportHeaders) -> Bool

    /// Returns whether a value that the style declares marks the page as the last one.
    ///
    /// If so, a flag or a cursor on the page is no evidence of more pages. Default: false.
    func isDeclaredLast(_ facts: PageFacts) -> Bool

    /// Returns the ordinal of a page, counted from 1, and the number of records before it, if its
    /// request reveals them. Default: nil.
    func position(of request: PageRequest, _ facts: PageFacts) -> (ordinal: Int, listed: Int)?

    /// Returns the style of a list from its first page, for a style that is a placeholder. Default:
    /// nil.
    func choice(at request: PageRequest, _ facts: PageFacts) -> PaginationChoice?
}

extension PaginationStyle {
    public var wants: PageWants { PageWants() }
    public var storedWants: PageWants { wants }
    public var parameters: [Pagination.ParameterPlace] { [] }
    public var restartProblem: String? { nil }
    public var isCounted: Bool { true }
    public var endsAtEmptyPage: Bool { isCounted }
    public var passedOver: (records: Int, pages: Int) { (0, 0) }
    public func firstPage(of request: PageRequest) -> PageRequest { request }
    public func isDetermined(byHeaders headers: TransportHeaders) -> Bool { false }
    public func isDeclaredLast(_ facts: PageFacts) -> Bool { false }
    public func position(of request: PageRequest, _ facts: PageFacts) -> (ordinal: Int, listed: Int)? { nil }
    public func choice(at request: PageRequest, _ facts: PageFacts) -> PaginationChoice? { nil }
}

extension PaginationStyle {
    /// Whether a page with the records of the page before is behind the last one.
    var endsAtRepeatedPage: Bool {
        switch self {
        case let style as PageNumberPagination: style.end == .repeated
        case let style as OffsetPagination: style.end == .repeated
        default: false
        }
    }
}
