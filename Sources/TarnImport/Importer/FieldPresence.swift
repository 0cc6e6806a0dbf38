// Statistics of the attributes that are absent from an entity's records.

/// The attributes of one entity that no record had yet.
struct FieldPresence: Sendable, Hashable {
    /// The number of listed records. Nested ones may be partial and are not counted.
    var records = 0
    var absent: Set<String> = []

    /// Adds the records of another unit.
    mutating func add(_ other: FieldPresence) {
        records += other.records
        absent.formIntersection(other.absent)
    }
}
