internal import LMDB

/// A relationship that is to be followed for every record of a result: ``StoredRecord/related(_:to:)-(Field,_)``.
public struct Inclusion<Owner: StoredRecord, Target: StoredRecord>: Sendable, Hashable {
    /// The name of the relationship, stored or derived, seen from the owner.
    public let relationship: String
}
