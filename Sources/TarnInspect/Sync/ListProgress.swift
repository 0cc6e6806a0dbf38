import TarnStore

/// The progress of one list, or of a sync, as the store has it.
package struct ListProgress: Sendable {
    /// The name of the checkpoint; of a long one its beginning.
    package var name: String
    /// Whether the name is longer.
    package var isNameCut: Bool
    package var checkpoint: Checkpoint
    /// The number of records that the scans with a rule for orphans have noted; nil if they note
    /// none, or if it was not counted.
    package internal(set) var members: Int?
    /// Whether these are all of them: a question counts a limited number.
    package internal(set) var areMembersWhole = true

    /// Whether the last sync has passed by the list because of a failure.
    ///
    /// A rule for responses that has passed over the list, and a parent without a value for the
    /// path, are noted as failures without a text, and are none.
    package var hasFailed: Bool { checkpoint.failure.map { !$0.text.isEmpty } ?? false }
}
