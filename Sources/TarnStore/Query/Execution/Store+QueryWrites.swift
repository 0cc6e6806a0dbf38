// Writes by query, in steps of a transaction each, or inside a write.

extension Store {
    /// Sets fields of every record of a query's result.
    ///
    /// ```swift
    /// let report = try store.update(Query("Issue", where: .compare("milestone", .equal, .int(7))), set: ["state": .string("closed")])
    /// ```
    ///
    /// The records are found in a snapshot and written in steps, each a write of its own, so that a large change neither fills the
    /// memory nor keeps other writers waiting for long. In its step a record is looked at again: if it does not meet the condition any
    /// more, it stays as it is. Records that come to meet the condition meanwhile are not changed. Whatever ends it in between, even
    /// a kill: the same call goes on with what is left, if the change makes the condition false, and otherwise changes nothing
    /// in those that are done.
    ///
    /// - Parameters:
    ///   - values: `null` clears. A value of another type that says the same is converted, as in a ``Condition``.
    ///   - step: how many records a step writes, at most.
    /// - Throws: before anything is written `StoreError`: `.unknownField`, `.wrongType`, `.wrongKey` for a field of the key, and what
    ///   reading a query throws; after that ``QueryWriteError``, with what was done.
    @discardableResult
    public func update(_ query: Query, set values: [String: Value], step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: false) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func update(_ query: Query, set values: [String: Value], step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: false) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Sets fields of every record of a query's result, as ``update(_:set:step:)-(Query,_,_)`` does. The closure is called once.
    ///
    /// ```swift
    /// try store.update(Issue.where { $0[.milestone] == 7 }) { issue in issue.set(.state, State.closed) }
    /// ```
    @discardableResult
    public func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, step: Int = 1000, _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws -> QueryWriteReport {
        try run(queryWrite(query.query, isLocal: false) { access, _ in .update(try RecordChange(access, change)) }, step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, step: Int = 1000, _ change: @Sendable (inout RowEncoder<Record>) throws -> Void
    ) async throws -> QueryWriteReport {
        try await run(queryWrite(query.query, isLocal: false) { access, _ in .update(try RecordChange(access, change)) }, step)
    }

    /// Deletes every record of a query's result, and what their delete rules say, in steps as ``update(_:set:step:)-(Query,_,_)`` does.
    ///
    /// - Throws: `StoreError` before anything is deleted if the query does not fit; after that ``QueryWriteError``, with what was done:
    ///   its reason is `StoreError.deleteDenied` if a delete rule forbids it. Then the steps before are committed.
    @discardableResult
    public func delete(_ query: Query, step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: false) { _, _ in .delete }, step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func delete(_ query: Query, step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: false) { _, _ in .delete }, step)
    }

    /// Deletes every record of a query's result, as ``delete(_:step:)-(Query,_)`` does.
    @discardableResult
    public func delete<Record: StoredRecord>(_ query: TypedQuery<Record>, step: Int = 1000) throws -> QueryWriteReport {
        try delete(query.query, step: step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func delete<Record: StoredRecord>(_ query: TypedQuery<Record>, step: Int = 1000) async throws -> QueryWriteReport {
        try await delete(query.query, step: step)
    }

    // MARK: Local changes

    /// Sets fields of every record of a query's result, as ``update(_:set:step:)-(Query,_,_)`` does, and marks them as changed here: see
    /// <doc:LocalChanges>. A record that has the values already is not marked.
    @discardableResult
    public func updateLocally(_ query: Query, set values: [String: Value], step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: true) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func updateLocally(_ query: Query, set values: [String: Value], step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: true) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Deletes every record of a query's result, as ``delete(_:step:)-(Query,_)`` does, and marks them as deleted here, so that no import
    /// brings them back. What delete rules take with them is not marked.
    @discardableResult
    public func deleteLocally(_ query: Query, step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: true) { _, _ in .delete }, step)
    }

    /// The same; the calling task is suspended meanwhile.
    @discardableResult
    public func deleteLocally(_ query: Query, step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: true) { _, _ in .delete }, step)
    }

    private func queryWrite(
        _ query: Query, isLocal: Bool, _ action: (StoreAccess, Catalog.Entity) throws -> QueryWrite.Action
    ) throws -> QueryWrite {
        try read { reader in try QueryWrite(query, isLocal: isLocal, action, reader.access) }
    }

    private func run(_ work: QueryWrite, _ limit: Int) throws -> QueryWriteReport {
        precondition(limit > 0, "a step writes one record at least")
        while !work.isDone {
            do {
                work.take(try write(alone: true) { writer in try work.step(&writer, limit: limit) })
            } catch { throw QueryWriteError(report: work.report, reason: error) }
        }
        return work.report
    }

    private func run(_ work: QueryWrite, _ limit: Int) async throws -> QueryWriteReport {
        precondition(limit > 0, "a step writes one record at least")
        while !work.isDone {
            do {
                work.take(try await write(alone: true) { writer in try work.step(&writer, limit: limit) })
            } catch { throw QueryWriteError(report: work.report, reason: error) }
        }
        return work.report
    }
}

extension StoreWriter {
    /// Sets fields of every record of a query's result, all in this transaction: see ``Store/update(_:set:step:)-(Query,_,_)``.
    ///
    /// - Throws: `StoreError`. Then some may be changed: let the error end the write, so that nothing is kept.
    @discardableResult
    public mutating func update(_ query: Query, set values: [String: Value]) throws -> QueryWriteReport {
        try run(query) { .update(try RecordChange(values, $1, $0)) }
    }

    /// The same; what the closure sets, which is called once.
    @discardableResult
    public mutating func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws -> QueryWriteReport {
        try run(query.query) { access, _ in .update(try RecordChange(access, change)) }
    }

    /// Deletes every record of a query's result, and what their delete rules say, all in this transaction.
    ///
    /// - Throws: `StoreError`. Then some may be deleted: let the error end the write, so that nothing is kept.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> QueryWriteReport {
        try run(query) { _, _ in .delete }
    }

    /// The same.
    @discardableResult
    public mutating func delete<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> QueryWriteReport {
        try delete(query.query)
    }

    private mutating func run(
        _ query: Query, _ action: (StoreAccess, Catalog.Entity) throws -> QueryWrite.Action
    ) throws -> QueryWriteReport {
        try applyIndexChanges()
        let work = try QueryWrite(query, isLocal: false, action, access)
        while !work.isDone { work.take(try work.step(&self, limit: .max)) }
        return work.report
    }
}
