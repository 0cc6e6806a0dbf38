// Deleting a record with a large cascade, in steps of a transaction each.

extension Store {
    /// Deletes a record and what its delete rules say, as ``StoreWriter/delete(_:_:)-(String,_)`` does, but in steps: each
    /// is a write of its own, so that a large cascade neither fills the memory nor keeps other writers waiting for long.
    ///
    /// What is led to goes before what leads to it, and the record itself goes last. Between the steps others see the
    /// cascade half done. Whatever ends it in between, even a kill, calling it again goes on where it was. What comes to be
    /// led to meanwhile goes with the last step; what is no longer led to stays.
    ///
    /// - Parameter step: how many records a step deletes, at most.
    /// - Returns: how many records went, 0 if the record was not there.
    /// - Throws: `StoreError.deleteDenied` before anything is deleted; or in between, if another writer brought a record that
    ///   is in the way: then the steps before are done. Otherwise as `write`.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, step: Int = 1000) throws -> Int {
        var count = 0
        if let cascade = try cascade(entity, key, step) {
            while cascade.end > step {
                count += try write { writer in try writer.deleteStep(cascade, count: step) }
                cascade.end -= step
            }
        }
        return try count + write { writer in try writer.deleteCascading(entity, key) }
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, step: Int = 1000) async throws -> Int {
        var count = 0
        if let cascade = try cascade(entity, key, step) {
            while cascade.end > step {
                count += try await write { writer in try writer.deleteStep(cascade, count: step) }
                cascade.end -= step
            }
        }
        return try await count + write { writer in try writer.deleteCascading(entity, key) }
    }

    /// Deletes what goes with a record, in steps, until no more than one step is left of it; the record stays.
    ///
    /// - Returns: how many records went.
    package func deleteMost(_ entity: String, _ key: RecordKey, step: Int) async throws -> Int {
        var count = 0
        guard let cascade = try cascade(entity, key, step) else { return 0 }
        while cascade.end > step {
            count += try await write { writer in try writer.deleteStep(cascade, count: step) }
            cascade.end -= step
        }
        return count
    }

    /// Nil if the record is not there, or has no more with it than one step can delete.
    private func cascade(_ entity: String, _ key: RecordKey, _ step: Int) throws -> Cascade? {
        precondition(step > 0, "a step deletes one record at least")
        return try read { reader in
            let access = reader.access, entity = try access.state.entity(entity)
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
