/// The records of a query, and the targets of their relationships.
public struct IncludingResult: Sendable {
    /// The records, in the order of the query.
    public internal(set) var records: [Record] = []
    var included: [String: Included<Record>] = [:]

    /// The targets of a relationship, by the positions of their owners in `records`.
    ///
    /// For a path such as `milestone.creator` the owners are the `records` of the path without its
    /// last name. The result is nil if the path was not requested.
    public subscript(path: String) -> Included<Record>? { included[path] }
}
