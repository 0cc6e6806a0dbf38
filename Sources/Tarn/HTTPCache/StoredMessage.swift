import Foundation
import TarnHTTP
import TarnStore

/// A stored response, without its body.
struct StoredMessage: Sendable {
    var id: UInt64
    /// When it was confirmed last: which of the responses under its id it is.
    var confirmedAt: Timestamp
    var response: CachedResponse
    /// Bytes of the representation.
    var size: Int
    /// Of a 206: what of the representation is stored.
    var parts: BodyParts?
    /// Where redirects had led to.
    var redirectedTo: String?

    /// The places in the stored body of a range of the representation; nil if not all of it is stored.
    func places(of range: Range<Int>) -> [Range<Int>]? { parts.map { $0.places(of: range) } ?? [range] }
}

extension StoredMessage {
    /// Nil for entries of other kinds, and for parts that cannot be read.
    init?(_ view: ResponseView, isPart: Bool) {
        guard view.endpoint == (isPart ? ResponseShelf.partEndpoint : ResponseShelf.endpoint), let size = view.bodySize else { return nil }
        let parts = isPart ? view.parts : nil
        guard !isPart || parts != nil && view.status == 206 else { return nil }
        self.init(
            id: view.id, confirmedAt: view.validatedAt, response: CachedResponse(view), size: parts?.length ?? size, parts: parts,
            redirectedTo: view.metadata)
    }
}
