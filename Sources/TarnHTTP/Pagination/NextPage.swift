/// The successor of a page.
public enum NextPage: Sendable, Hashable {
    /// A URL reference to the next page. It may be relative, and only `PageSequence` checks it.
    case next(String)
    /// The URL of the page, with another body.
    case nextBody(TransportBody)
    /// Another request: its URL is a reference as for ``next(_:)``.
    case nextRequest(PageRequest)
    /// The page is the last one.
    case end
}
