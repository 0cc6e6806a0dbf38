internal import LMDB

/// Who leads where, apart from the records themselves.
@usableFromInline
struct IncludedPlaces {
    /// Positions in the records, and where those of each owner end.
    let targets: [Int32], ends: [Int32]
    let missing: Others, partial: Others
    /// The storage keys of the records.
    let keys: StorageKeys

    /// Targets without a record in the result: their keys, positions in these, and where those of
    /// each owner end; no ends if there are no keys.
    struct Others {
        var keys: [RecordKey?] = []
        var targets: [Int32] = [], ends: [Int32] = []

        mutating func endOwner() {
            if !keys.isEmpty { ends.append(Int32(targets.count)) }
        }
    }
}
