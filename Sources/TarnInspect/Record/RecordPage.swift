import TarnStore

/// Consecutive records of an entity.
package struct RecordPage: Sendable {
    /// The readable records, with their storage keys.
    package internal(set) var records: [(storageKey: [UInt8], record: Record)] = []
    /// The position after the last row that was read, for the next page of the same order; nil
    /// after the last row of the entity.
    package internal(set) var last: [UInt8]?
    /// The states of the records that these refer to.
    package internal(set) var targets = TargetStates()
    /// The number of rows that were read, also of those that were left out.
    package internal(set) var examined = 0
    /// The unreadable rows and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
