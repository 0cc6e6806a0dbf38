import TarnStore

/// Consecutive operations of the outbox.
package struct OutboxPage: Sendable {
    /// The numbers of all operations by state, which the outbox counts; nil if they are unreadable.
    package internal(set) var counts: OutboxCounts?
    /// The readable operations, in the order of their ids.
    package internal(set) var operations: [InspectedOperation] = []
    /// The position after the last entry that was read, for the next page; nil after the last one.
    package internal(set) var last: [UInt8]?
    /// The number of entries that were read, also of those that were left out.
    package internal(set) var examined = 0
    /// The states of the records that the operations refer to.
    package internal(set) var targets = TargetStates()
    /// The unreadable operations and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
