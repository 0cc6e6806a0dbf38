public import TarnStore

/// A unit was not committed: the entries that its 304 responses confirm were replaced, invalidated or removed after the requests were
/// sent. A 304 says nothing about the newer entry; request the pages again.
public struct RevalidationConflict: Error, Sendable, CustomStringConvertible {
    /// The requests whose 304 does not count.
    public var requests: [RequestKey]

    /// One line that names the first request.
    public var description: String {
        "\(requests.first?.url ?? "a response"): the stored response changed after the request with its validators was sent; request it again"
    }
}
