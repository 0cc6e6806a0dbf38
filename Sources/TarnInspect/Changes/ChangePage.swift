import TarnStore

/// Consecutive changes of the log, the newest first.
package struct ChangePage: Sendable {
    /// The readable changes.
    package internal(set) var changes: [Change] = []
    /// The position before which the next page begins; nil after the oldest change.
    package internal(set) var next: [UInt8]?
    /// The incarnation of the store; empty if it is unreadable.
    package internal(set) var incarnation = ""
    /// The newest commit of the store.
    package internal(set) var sequence: UInt64 = 0
    /// The newest commit whose changes were trimmed, all or some; 0 if none were.
    package internal(set) var trimmed: UInt64 = 0
    /// The number of changes that are left out: those of entities that the catalog does not have.
    package internal(set) var unknown = 0
    /// The unreadable entries and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
