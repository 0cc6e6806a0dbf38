/// A relationship whose targets a query can include.
public protocol RelationshipColumn: Sendable {
    /// The record type of the targets.
    associatedtype Target: StoredRecord
    /// The targets of one record: an optional record, or a list.
    associatedtype Included: Sendable

    /// The names of the relationships that lead to the targets.
    var names: [String] { get }

    /// Whether a record may have several targets.
    static var isToMany: Bool { get }

    /// Returns the targets of one record: their number, and a closure that returns each.
    static func included(_ count: Int, _ target: (Int) -> Target) -> Included
}
