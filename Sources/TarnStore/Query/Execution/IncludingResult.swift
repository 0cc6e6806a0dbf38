internal import LMDB

/// Records, and what relationships of them lead to.
public struct IncludingResult: Sendable {
    /// In the order of the query.
    public internal(set) var records: [Record] = []
    var included: [String: Included<Record>] = [:]

    /// What a relationship leads to, by the positions in `records`; of a path such as `milestone.creator`, by the positions in
    /// the `records` of what comes before the last name. Nil if it was not asked for.
    public subscript(path: String) -> Included<Record>? { included[path] }
}
