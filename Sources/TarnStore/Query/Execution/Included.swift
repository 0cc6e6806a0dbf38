// The targets of relationships of many records: each decoded once, and listed per owner.

/// The targets of one relationship, for each record of a list (the owners).
///
/// ```swift
/// let (issues, (authors, labels)) = try r.fetch(
///     open, including: Issue.related(.author, to: User.self),
///     Issue.related(.labels, to: Label.self))
/// for (i, issue) in issues.enumerated() {
///     print(issue.title, authors[i].first?.login ?? "?", labels[i].map(\.name))
/// }
/// ```
public struct Included<Target: Sendable>: Sendable {
    /// The target records, each once, in the order of their keys.
    @usableFromInline package let records: [Target]
    /// The keys of targets that are not in the store, each once, in the order of their keys.
    ///
    /// An element is nil if the key is too long to be stored in a reference.
    let missing: [RecordKey?]
    /// The keys of partial targets that lack a value that the struct requires, each once.
    ///
    /// They are in the order of the keys. An element is nil if the key is too long to be stored in
    /// a reference. These records are in the store, but not in ``records``: one of them does not
    /// make the whole list fail.
    let partial: [RecordKey?]
    private let targets: [Int32], ends: [Int32]
    private let missingTargets: [Int32], missingEnds: [Int32]
    private let partialTargets: [Int32], partialEnds: [Int32]
    /// The storage keys of `records`, for following relationships of the targets.
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

    /// The number of owners.
    public var count: Int { ends.count }

    /// The targets of the owner at a position, in the order of the relationship.
    ///
    /// Missing and partial ones are left out: see ``missing(of:)`` and ``partial(of:)``.
    public subscript(owner: Int) -> Targets {
        Targets(records: records, positions: targets[Included.range(ends, owner)])
    }

    /// Returns the keys of an owner's missing targets, in the order of the relationship.
    ///
    /// - Parameter owner: the position of the owner in its list.
    /// - Returns: keys as in ``missing``.
    public func missing(of owner: Int) -> [RecordKey?] {
        precondition(owner >= 0 && owner < ends.count, "owner out of range: there are \(ends.count) owners")
        return missingEnds.isEmpty ? [] : missingTargets[Included.range(missingEnds, owner)].map { missing[Int($0)] }
    }

    /// Returns the keys of an owner's partial targets, in the order of the relationship.
    ///
    /// - Parameter owner: the position of the owner in its list.
    /// - Returns: keys as in ``partial``.
    public func partial(of owner: Int) -> [RecordKey?] {
        precondition(owner >= 0 && owner < ends.count, "owner out of range: there are \(ends.count) owners")
        return partialEnds.isEmpty ? [] : partialTargets[Included.range(partialEnds, owner)].map { partial[Int($0)] }
    }

    private static func range(_ ends: [Int32], _ owner: Int) -> Range<Int> {
        precondition(owner >= 0 && owner < ends.count, "owner out of range: there are \(ends.count) owners")
        return (owner == 0 ? 0 : Int(ends[owner - 1]))..<Int(ends[owner])
    }

    /// The targets of one owner, by their positions from 0 on.
    public struct Targets: RandomAccessCollection, Sendable {
        let records: [Target]
        /// The positions of the targets in ``Included/records``.
        let positions: ArraySlice<Int32>

        public var startIndex: Int { 0 }
        public var endIndex: Int { positions.count }
        public subscript(position: Int) -> Target { records[Int(positions[positions.startIndex + position])] }
    }
}
