/// One link of a `Link` field (RFC 8288 §3).
package struct Link: Sendable, Hashable {
    /// The reference between the angle brackets; it may be relative.
    package var target: String
    /// The relation types of the first `rel` parameter, as written.
    package var relations: [String]
    /// The context of the link if it is not the resource that was requested.
    package var anchor: String?

    /// Returns whether the link has a relation type.
    ///
    /// Relation types are compared without case (RFC 8288 §2.1).
    package func has(relation: String) -> Bool {
        relations.contains { TransportHeaders.same($0, relation) }
    }
}
