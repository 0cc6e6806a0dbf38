// What relationships of many records lead to: every target once, found in one walk, and told apart by who leads to it.

internal import LMDB

/// What a relationship leads to, for each of a list of records.
///
/// ```swift
/// let (issues, authors, labels) = try r.fetch(open, including: Issue.related(.author, to: User.self), Issue.related(.labels, to: Label.self))
/// for (i, issue) in issues.enumerated() { print(issue.title, authors[i].first?.login ?? "?", labels[i].map(\.name)) }
/// ```
public struct Included<Target: Sendable>: Sendable {
    /// The records that are led to, each once, in the order of their keys.
    public let records: [Target]
    /// The keys of those that are not in the store, each once, in the order of their keys. Nil for a key that is too long to stand
    /// in a reference.
    public let missing: [RecordKey?]
    /// The keys of partial records that lack a value that the struct requires, each once, in the
    /// order of their keys. Nil for a key that is too long to stand in a reference.
    ///
    /// They are in the store, and not in ``records``: a list is not refused because of one of them.
    public let partial: [RecordKey?]
    private let targets: [Int32], ends: [Int32]
    private let missingTargets: [Int32], missingEnds: [Int32]
    private let partialTargets: [Int32], partialEnds: [Int32]
    /// The storage keys of `records`, for what comes behind them.
    let keys: StorageKeys

    @usableFromInline
    init(_ records: [Target], _ places: IncludedPlaces) {
        self.records = records
        missing = places.missing.keys
        (targets, ends) = (places.targets, places.ends)
        (missingTargets, missingEnds) = (places.missing.targets, places.missing.ends)
        partial = places.partial.keys
        (partialTargets, partialEnds) = (places.partial.targets, places.partial.ends)
        keys = places.keys
    }

    /// How many records were asked for theirs.
    public var count: Int { ends.count }

    /// The records that the one at a position leads to, in the order of the relationship. Missing
    /// and partial ones are left out: see ``missing(of:)`` and ``partial(of:)``.
    public subscript(owner: Int) -> Targets {
        Targets(records: records, positions: targets[Included.range(ends, owner)])
    }

    /// The keys of what the record at a position leads to and what is not in the store, in the order of the relationship.
    public func missing(of owner: Int) -> [RecordKey?] {
        precondition(owner >= 0 && owner < ends.count, "there are \(ends.count) records that were asked for theirs")
        return missingEnds.isEmpty ? [] : missingTargets[Included.range(missingEnds, owner)].map { missing[Int($0)] }
    }

    /// The keys of the partial records that the record at a position leads to, in the order of the
    /// relationship: see ``partial``.
    public func partial(of owner: Int) -> [RecordKey?] {
        precondition(owner >= 0 && owner < ends.count, "there are \(ends.count) records that were asked for theirs")
        return partialEnds.isEmpty ? [] : partialTargets[Included.range(partialEnds, owner)].map { partial[Int($0)] }
    }

    private static func range(_ ends: [Int32], _ owner: Int) -> Range<Int> {
        precondition(owner >= 0 && owner < ends.count, "there are \(ends.count) records that were asked for theirs")
        return (owner == 0 ? 0 : Int(ends[owner - 1]))..<Int(ends[owner])
    }

    /// The records that one record leads to.
    public struct Targets: RandomAccessCollection, Sendable {
        let records: [Target]
        /// Where each stands among all that were included: in ``Included/records``.
        public let positions: ArraySlice<Int32>

        public var startIndex: Int { positions.startIndex }
        public var endIndex: Int { positions.endIndex }
        public subscript(position: Int) -> Target { records[Int(positions[position])] }
    }
}
