import Foundation
import TarnHTTP
import TarnStore

/// A request that was looked up, encoded and hashed once, for repeated use.
public struct PreparedRequest: Sendable {
    /// The URL of the API, as the store knows it.
    package let url: String
    let request: EndpointRequest
    let key: RequestKey
    let digest: RequestDigest
    /// The message for the page, without conditions and credentials.
    let message: TransportRequest
    let directives: String?
    /// The sequence of the list's pages, positioned at this page.
    let pages: PageSequence
    /// Whether `pages` knows the page's position in the list.
    ///
    /// Otherwise only the URL of the page is known.
    let isPositioned: Bool
    /// The options of its transfer.
    let options: TransferOptions

    init(
        _ request: EndpointRequest, at pages: PageSequence, isPositioned: Bool, directives: String?,
        options: TransferOptions
    ) {
        self.request = request
        self.pages = pages
        self.isPositioned = isPositioned
        self.directives = directives
        self.options = options
        key = request.key(of: pages.request)
        digest = key.digest
        url = key.url
        message = request.message(for: pages.request)
    }

    var endpoint: Endpoint { request.endpoint }

    /// The message without credentials in header fields: the key has them, and a stored response
    /// does not.
    var selectingMessage: TransportRequest {
        guard !request.variant.isEmpty else { return message }
        var selecting = message
        selecting.headers.fields.removeAll { CacheRules.isCredential($0.name) }
        return selecting
    }

    /// The URL as messages show it, without secrets.
    var shownURL: String { Redaction.url(message.url) }
}
