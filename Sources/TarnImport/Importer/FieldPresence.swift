// The attributes that responses have given to an entity's records, and those that they have not.

internal import TarnStore

/// The attributes of one entity that no record had yet.
struct FieldPresence: Sendable, Hashable {
    /// Listed records; excerpts may lack attributes, and are not counted.
    var records = 0
    var absent: Set<String> = []

    /// Adds the records of another unit.
    mutating func add(_ other: FieldPresence) {
        records += other.records
        absent.formIntersection(other.absent)
    }
}
