/// The group at the end of a writer's pending entries, which following changes may join.
struct PendingGroup {
    /// The place of its entry: u32 length of the value, key, value.
    let start: Int
    let operation: ChangeEntry.Operation
    let entity: UInt16

    /// Returns whether a change belongs to the group, and fits.
    ///
    /// - Parameter end: the end of the pending entries.
    func takes(_ operation: ChangeEntry.Operation, _ entity: UInt16, _ key: Bytes, end: Int) -> Bool {
        self.operation == operation && self.entity == entity
            && end - start - 4 - ChangeEntry.keySize + 1 + key.count <= ChangeGroup.longest
    }
}
