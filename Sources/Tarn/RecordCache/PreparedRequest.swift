import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// A request that has been looked up, encoded and hashed: what a program that asks for the same again and again keeps.
public struct PreparedRequest: Sendable {
    /// Of the API, as the store knows it.
    public let url: String
    let endpoint: Endpoint
    let parent: Walk.Parent?
    let key: RequestKey
    let digest: RequestDigest
    let request: HTTPRequest
    let directives: String?
    /// The list up to this page.
    let pages: PageSequence
    /// Whether `pages` knows where in the list the page is. Otherwise the page is known by its URL
    /// alone.
    let isPositioned: Bool

    init(
        _ endpoint: Endpoint, _ parent: Walk.Parent?, _ key: RequestKey, _ request: HTTPRequest, directives: String?,
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

    /// Another page of the same list.
    init(_ other: PreparedRequest, at pages: PageSequence, requesting url: (String) -> HTTPRequest) {
        var key = other.key
        key.url = pages.url
        self.init(
            other.endpoint, other.parent, key, url(pages.url), directives: other.directives, pages, isPositioned: true)
    }

    /// How it is named in messages: without secrets.
    var shownURL: String { Redaction.url(request.url) }
}
