import TarnStore

/// A question about one operation of the outbox.
package struct OperationInspection: Sendable {
    /// The operation; nil if it is not queued, or unreadable.
    package internal(set) var operation: InspectedOperation?
    /// Whether a damaged page is on the way to the operation, or it is damaged itself.
    package internal(set) var isUnreadable = false
    /// The states of the records that the operation refers to.
    package internal(set) var targets = TargetStates()
    /// The unreadable entries and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
