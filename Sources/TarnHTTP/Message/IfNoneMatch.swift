/// The condition of an If-None-Match field (RFC 9110 §13.1.2).
package enum IfNoneMatch: Sendable, Hashable {
    case any
    case tags([EntityTag])

    /// Reads the values of all If-None-Match fields of a request; nil if there are none.
    ///
    /// What is not an entity tag is skipped up to the next comma: a condition that cannot be read does not hold.
    package init?(_ values: [String]) {
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

    /// Whether a representation with this validator is one that the client already has.
    package func holds(_ current: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): current.map { current in tags.contains { $0.matchesWeakly(current) } } ?? false
        }
    }
}
