package import TarnStore

/// A conflict of 304 responses with newer entries; the unit is not committed.
///
/// The entries that the 304 responses confirm were replaced, invalidated or removed after the
/// requests were sent. A 304 does not apply to the newer entry: request the pages again.
package struct RevalidationConflict: Error, Sendable, CustomStringConvertible {
    /// The requests whose 304 does not apply.
    package var requests: [RequestKey]

    /// One line that names the first request.
    package var description: String {
        "\(requests.first?.url ?? "a response"): the stored response changed after the request with its validators was sent; request it again"
    }
}
