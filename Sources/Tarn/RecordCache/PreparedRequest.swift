import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// A request that was looked up, encoded and hashed once, for repeated use.
public struct PreparedRequest: Sendable {
    /// The URL of the API, as the store knows it.
    public let url: String
    let endpoint: Endpoint
    let parent: EndpointScan.Parent?
    let key: RequestKey
    let digest: RequestDigest
    let request: TransportRequest
    let directives: String?
    /// The sequence of the list's pages, positioned at this page.
    let pages: PageSequence
    /// Whether `pages` knows the page's position in the list.
    ///
    /// Otherwise only the URL of the page is known.
    let isPositioned: Bool

    init(
        _ endpoint: Endpoint, _ parent: EndpointScan.Parent?, _ key: RequestKey, _ request: TransportRequest,
        directives: String?,
        _ pages: PageSequence, isPositioned: Bool
    ) {
        url = key.url
        self.endpoint = endpoint
        self.parent = parent
        self.key = key
        digest = key.digest
        self.request = request
        self.directives = directives
        self.pages = pages
        self.isPositioned = isPositioned
    }

    /// Creates the request for another page of the same list.
    init(_ other: PreparedRequest, at pages: PageSequence, requesting url: (String) -> TransportRequest) {
        var key = other.key
        key.url = pages.url
        self.init(
            other.endpoint, other.parent, key, url(pages.url), directives: other.directives, pages, isPositioned: true)
    }

    /// The URL as messages show it, without secrets.
    var shownURL: String { Redaction.url(request.url) }
}
