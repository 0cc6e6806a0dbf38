// Which page comes first and which comes after a page. Pure: headers and counts in, a URL out.

/// What follows a page.
public enum NextPage: Sendable, Hashable {
    /// This reference is next; it may be relative, and it has not been checked: `PageSequence` does that.
    case next(String)
    case end
}

extension Pagination {
    /// The URL of the first page: page number and size are added where the style asks for them.
    public func firstPage(of url: String) -> String {
        guard case .pageNumber(let parameter, let start, let size) = self else { return url }
        let numbered = QueryParameters.set(parameter, to: String(start), in: url)
        guard let size else { return numbered }
        return QueryParameters.set(size.parameter, to: String(size.value), in: numbered)
    }

    /// What follows a page, from what is known of that page.
    ///
    /// - Parameters:
    ///   - url: the URL by which the page was requested.
    ///   - headers: its header fields; of a page answered 304, the stored ones.
    ///   - recordCount: how many records it listed; of a page answered 304, the stored count.
    ///   - ordinal: which page it was, from 1.
    public func next(after url: String, headers: HTTPHeaders, recordCount: Int, ordinal: Int) -> NextPage {
        switch self {
        case .singlePage:
            return .end
        case .headerLink(let relation):
            return LinkHeader.target(relation: relation, in: headers).map(NextPage.next) ?? .end
        case .pageNumber(let parameter, let start, let size):
            if recordCount == 0 { return .end }
            if let size, recordCount < size.value { return .end }
            return .next(QueryParameters.set(parameter, to: String(start + ordinal), in: url))
        }
    }
}
