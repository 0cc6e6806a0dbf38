import Foundation
import TarnHTTP
import TarnStore

/// A stored response, without its body.
struct StoredMessage: Sendable {
    var id: UInt64
    /// The time of the last confirmation: it tells whether the entry was replaced meanwhile.
    var confirmedAt: Timestamp
    var response: CachedResponse
    /// The size of the whole representation, in bytes.
    var size: Int
    /// The stored parts of the representation; nil for a whole response.
    var parts: BodyParts?
    /// The URL that redirects have led to; nil if there were none.
    var redirectedTo: String?

    /// The locations of a range in the stored body; nil if not all of it is stored.
    func places(of range: Range<Int>) -> [Range<Int>]? { parts.map { $0.places(of: range) } ?? [range] }
}

extension StoredMessage {
    /// Creates a message; nil for entries of other kinds, and for unreadable parts.
    init?(_ view: ResponseView, isPart: Bool) {
        guard view.endpoint == (isPart ? ResponseStore.partEndpoint : ResponseStore.endpoint), let size = view.bodySize
        else { return nil }
        let parts = isPart ? view.parts : nil
        guard !isPart || parts != nil && view.status == 206 else { return nil }
        self.init(
            id: view.id, confirmedAt: view.validatedAt, response: CachedResponse(view), size: parts?.length ?? size,
            parts: parts,
            redirectedTo: view.metadata)
    }
}
