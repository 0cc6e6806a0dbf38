// One walk over the pages of an endpoint, with its guards: no page twice, no endless walk, no foreign server. Pure.

/// The pages of one walk, as a value: take `url`, request it, then `advance`.
///
///     var pages = try PageSequence(pagination, url: url, base: base, aliases: aliases)
///     repeat {
///         let response = try await transport.send(HTTPRequest(url: pages.url))
///         …
///     } while try pages.advance(headers: response.headers, recordCount: count)
public struct PageSequence: Sendable, Hashable {
    public let pagination: Pagination
    /// Where the API is reached.
    public let base: String
    /// Other base URLs by which the API names itself in its links; they are followed at `base`.
    public let aliases: [String]
    public let pageLimit: Int
    /// The page to request.
    public private(set) var url: String
    /// Which page it is, from 1.
    public private(set) var ordinal = 1
    private var visited: Set<String>

    /// A walk that begins at the first page of `url`.
    ///
    /// - Throws: `PaginationError.malformed` if `url` or `base` is not a URL.
    public init(
        _ pagination: Pagination, url: String, base: String, aliases: [String] = [], pageLimit: Int = 10_000
    ) throws(PaginationError) {
        for url in [url, base] {
            do throws(HTTPURLError) { _ = try HTTPURL(url) } catch {
                throw .malformed(link: url, reason: error.reason)
            }
        }
        self.pagination = pagination
        self.base = base
        self.aliases = aliases
        self.pageLimit = pageLimit
        self.url = pagination.firstPage(of: url)
        visited = [self.url]
    }

    /// Goes to the page after the current one; false, and nothing changes, if the current one was the last.
    ///
    /// - Parameters:
    ///   - headers: the header fields of the current page; of a page answered 304, the stored ones.
    ///   - recordCount: how many records it listed; of a page answered 304, the stored count.
    ///   - answeredBy: the URL that answered, if it was not `url` because of redirects: what links are relative to.
    /// - Throws: `PaginationError`; nothing changes.
    public mutating func advance(
        headers: HTTPHeaders, recordCount: Int, answeredBy: String? = nil
    ) throws(PaginationError) -> Bool {
        let found = pagination.next(after: url, headers: headers, recordCount: recordCount, ordinal: ordinal)
        guard case .next(let reference) = found else { return false }
        let next = try permitted(reference, relativeTo: answeredBy ?? url)
        guard !visited.contains(next) else { throw .repeated(url: next) }
        guard ordinal < pageLimit else { throw .tooManyPages(limit: pageLimit, url: next) }
        visited.insert(next)
        url = next
        ordinal += 1
        return true
    }

    /// Goes to a page that an earlier walk would have asked for next.
    ///
    /// - Parameter ordinal: which page it is, from 1.
    /// - Throws: `PaginationError.malformed` or `.foreign`: the URL may have come from a store of another description.
    public mutating func resume(at url: String, ordinal: Int) throws(PaginationError) {
        self.url = try permitted(url, relativeTo: self.url)
        self.ordinal = ordinal
        visited.insert(self.url)
    }

    /// The absolute URL of a reference, at `base`, or at the origin of `base`.
    private func permitted(_ reference: String, relativeTo url: String) throws(PaginationError) -> String {
        let link: HTTPURL
        let home: HTTPURL
        do throws(HTTPURLError) {
            link = try HTTPURL(url).resolving(reference)
            home = try HTTPURL(base)
        } catch {
            throw .malformed(link: reference, reason: error.reason)
        }
        if let moved = HTTPURL.rebase(link: link.description, from: [base] + aliases, onto: base) { return moved }
        guard link.hasSameOrigin(as: home) else { throw .foreign(link: link.description, allowed: [base] + aliases) }
        return link.description
    }
}

/// Why a walk over pages cannot go on.
public enum PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A page names one as its successor that was there already.
    case repeated(url: String)
    case tooManyPages(limit: Int, url: String)
    /// A link leaves the API. Credentials must not go there, so it is not followed.
    case foreign(link: String, allowed: [String])
    case malformed(link: String, reason: String)

    public var description: String {
        switch self {
        case .repeated(let url):
            "the next page was fetched already, the server's pages go in a circle: \(Redaction.url(url))"
        case .tooManyPages(let limit, let url):
            "more than \(limit) pages, the limit of one walk: stopped before \(Redaction.url(url))"
        case .foreign(let link, let allowed):
            "the next page is on another server: \(Redaction.url(link)); allowed: "
                + allowed.map(Redaction.url).joined(separator: ", ")
                + ". If it is the same API, add its base URL to api.aliases"
        case .malformed(let link, let reason):
            "the next page's link cannot be followed: \(Redaction.url(link)): \(reason)"
        }
    }
}
