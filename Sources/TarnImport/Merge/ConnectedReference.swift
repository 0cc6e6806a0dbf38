internal import TarnStore

/// A to-one reference that the merge has set or cleared because of another record.
///
/// It is undone if that record is dropped, because of a unique index.
struct ConnectedReference {
    /// The record that has the target, or had it listed.
    let cause: ListedRecord
    /// The plan of the entity with the reference, and the field.
    let plan: Int
    let field: UInt16
    /// The record with the reference.
    let record: [UInt8]
    /// The encoded values.
    let before: [UInt8]?
    let after: [UInt8]?
    /// Whether the record counts as updated because of this change.
    var isCounted = false
    /// The conflict to report, unless the reference is undone.
    var conflict: Diagnostic?
}
