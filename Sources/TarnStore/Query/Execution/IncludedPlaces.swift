/// The positions of the targets of each owner, without the records themselves.
@usableFromInline
struct IncludedPlaces: Sendable {
    /// Positions in the records of all owners, and the end of each owner's part of them.
    let targets: [Int32], ends: [Int32]
    let missing: Others, partial: Others
    /// The storage keys of the records.
    let keys: StorageKeys

    /// Targets without a record in the result.
    ///
    /// These are their keys, positions in the keys, and the end of each owner's part. If there are
    /// no keys, there are no ends.
    struct Others: Sendable {
        var keys: [RecordKey?] = []
        var targets: [Int32] = [], ends: [Int32] = []

        mutating func endOwner() {
            if !keys.isEmpty { ends.append(Int32(targets.count)) }
        }
    }
}
