/// A relationship to follow from every record of a result.
///
/// It is made by ``StoredRecord/related(_:to:)-(Field,_)``.
public struct Inclusion<Owner: StoredRecord, Target: StoredRecord>: Sendable, Hashable {
    /// The name of the relationship, stored or derived, as declared on the owner.
    package let relationship: String
}
