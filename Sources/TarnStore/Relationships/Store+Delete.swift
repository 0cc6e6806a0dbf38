// Deleting a record with a large cascade in steps, each in its own transaction.

extension Store {
    /// Deletes a record by its delete rules, in steps.
    ///
    /// The result is that of ``StoreWriter/delete(_:_:ifVersion:)-(String,_,_)``, but each step is
    /// a write of its own. A large cascade then neither fills the memory nor delays other writers
    /// for long.
    ///
    /// A record is deleted before the one that leads to it, and the given record is deleted last.
    /// Between steps, readers see a partly deleted cascade. If an error or the end of the process
    /// interrupts the steps, another call resumes. Records that join the cascade meanwhile are
    /// deleted in the last step. Records that leave it remain.
    ///
    /// - Parameter step: The largest number of records in a step.
    /// - Returns: The number of deleted records; 0 if the record does not exist.
    /// - Throws: `StoreWriteError.deleteDenied` before anything is deleted. It is thrown between
    ///   steps if another writer has added a record that prevents the delete; earlier steps then
    ///   remain done. Otherwise the errors of `write`.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, step: Int = 1000) throws -> Int {
        var count = 0
        if let cascade = try cascade(entity, key, step, isCallers: true) {
            while cascade.end > step {
                count += try write { writer in try writer.deleteStep(cascade, count: step) }
                cascade.end -= step
            }
        }
        return try count + write { writer in try writer.deleteCascading(entity, writer.access.writtenKey(entity, key)) }
    }

    /// Deletes a record by its delete rules, in steps, and suspends the calling task meanwhile.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, step: Int = 1000) async throws -> Int {
        var count = 0
        if let cascade = try cascade(entity, key, step, isCallers: true) {
            while cascade.end > step {
                count += try await write { writer in try writer.deleteStep(cascade, count: step) }
                cascade.end -= step
            }
        }
        return try await count
            + write { writer in try writer.deleteCascading(entity, writer.access.writtenKey(entity, key)) }
    }

    /// Deletes the cascade of a record in steps, until the rest fits into one step.
    /// The record itself remains.
    ///
    /// - Returns: The number of deleted records.
    package func deleteMost(_ entity: String, _ key: RecordKey, step: Int) async throws -> Int {
        var count = 0
        guard let cascade = try cascade(entity, key, step) else { return 0 }
        while cascade.end > step {
            count += try await write { writer in try writer.deleteStep(cascade, count: step) }
            cascade.end -= step
        }
        return count
    }

    /// Finds the cascade of a record. Nil if the record does not exist, or if one step suffices.
    ///
    /// - Parameter isCallers: Whether a temporary key that was replaced leads to the record, too.
    private func cascade(
        _ entity: String, _ key: RecordKey, _ step: Int, isCallers: Bool = false
    ) throws -> Cascade? {
        precondition(step > 0, "a step must delete at least one record")
        return try read { reader in
            let access = reader.access
            let key = isCallers ? try access.writtenKey(entity, key) : key
            let entity = try access.state.entity(entity)
            try access.checkForm(of: key, entity)
            return try access.lending {
                try key.withStorageKey { storageKey in
                    guard let row = try access.rowOfKey(entity, storageKey, key),
                        !access.state.deleteRules[row.entity].isEmpty
                    else { return nil }
                    let cascade = try Cascade(access, entity, storageKey, row)
                    return cascade.records.count > step ? cascade : nil
                }
            }
        }
    }
}
