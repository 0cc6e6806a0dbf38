/// The condition of an If-None-Match field (RFC 9110 §13.1.2).
enum IfNoneMatch: Sendable, Hashable {
    /// `*`
    case any
    /// A list of entity tags.
    case tags([EntityTag])

    /// Parses the values of all If-None-Match fields of a request; nil if there are none.
    ///
    /// Text that is not an entity tag is skipped up to the next comma, so it never matches.
    init?(_ values: [String]) {
        guard !values.isEmpty else { return nil }
        var tags: [EntityTag] = []
        for value in values {
            var rest = Array(value.utf8)[...].trimmingWhitespace()
            if rest.elementsEqual([UInt8(ascii: "*")]) {
                self = .any
                return
            }
            while !rest.isEmpty {
                rest = rest.drop { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
                if let tag = EntityTag(consuming: &rest) {
                    tags.append(tag)
                } else {
                    rest = rest.drop { $0 != UInt8(ascii: ",") }
                }
            }
        }
        self = .tags(tags)
    }

    /// Returns whether the client already has a representation with this validator.
    func holds(_ current: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): current.map { current in tags.contains { $0.matchesWeakly(current) } } ?? false
        }
    }
}
