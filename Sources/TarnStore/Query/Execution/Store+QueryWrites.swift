// Updates and deletes by query: in steps of one transaction each, or inside one write.

extension Store {
    /// Sets fields of every record of a query's result.
    ///
    /// ```swift
    /// let open = Query("Issue", where: .compare("milestone", .equal, .int(7)))
    /// let report = try store.update(open, set: ["state": .string("closed")])
    /// ```
    ///
    /// The records are found in a snapshot and written in steps. Each step is a write of its own,
    /// so a large change neither fills the memory nor blocks other writers for long. A step checks
    /// each record again and leaves those alone that no longer meet the condition. Records that
    /// start to meet the condition meanwhile are not changed.
    ///
    /// After an interruption, even a kill, repeat the call. If the change makes the condition
    /// false, the call continues with the remaining records; otherwise it changes nothing in those
    /// that are done.
    ///
    /// - Parameters:
    ///   - values: the new values by field name; `null` clears a field. A value of another type
    ///     with the same meaning is converted, as in a ``Condition``.
    ///   - step: the largest number of records that one step writes.
    /// - Throws: before anything is written, `StoreError`: `.unknownField`, `.wrongType`,
    ///   `.wrongKey` for a field of the key, and the errors of reading a query; after that
    ///   ``QueryWriteError``, with a report of the committed steps.
    @discardableResult
    public func update(_ query: Query, set values: [String: Value], step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: false) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Sets fields of every record of a query's result; the calling task is suspended meanwhile.
    @discardableResult
    public func update(_ query: Query, set values: [String: Value], step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: false) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Sets fields of every record of a query's result with a closure, which is called once.
    ///
    /// The guarantees are those of ``update(_:set:step:)-(Query,_,_)``.
    ///
    /// ```swift
    /// try store.update(Issue.where { $0[.milestone] == 7 }) { issue in
    ///     issue.set(.state, State.closed)
    /// }
    /// ```
    @discardableResult
    public func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, step: Int = 1000, _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws -> QueryWriteReport {
        try run(
            queryWrite(query.query, isLocal: false) { access, _ in .update(try RecordChange(access, change)) }, step)
    }

    /// Sets fields of every record with a closure; the calling task is suspended meanwhile.
    @discardableResult
    public func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, step: Int = 1000, _ change: @Sendable (inout RowEncoder<Record>) throws -> Void
    ) async throws -> QueryWriteReport {
        try await run(
            queryWrite(query.query, isLocal: false) { access, _ in .update(try RecordChange(access, change)) }, step)
    }

    /// Deletes every record of a query's result, and the records that delete rules add.
    ///
    /// It works in steps, as ``update(_:set:step:)-(Query,_,_)`` does.
    ///
    /// - Throws: before anything is deleted, `StoreError` if the query does not fit the catalog;
    ///   after that ``QueryWriteError``, with a report of the committed steps. Its reason is
    ///   `StoreWriteError.deleteDenied` if a delete rule forbids a deletion.
    @discardableResult
    public func delete(_ query: Query, step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: false) { _, _ in .delete }, step)
    }

    /// Deletes every record of a query's result; the calling task is suspended meanwhile.
    @discardableResult
    public func delete(_ query: Query, step: Int = 1000) async throws -> QueryWriteReport {
        try await run(queryWrite(query, isLocal: false) { _, _ in .delete }, step)
    }

    /// Deletes every record of a typed query's result, as ``delete(_:step:)-(Query,_)`` does.
    @discardableResult
    public func delete<Record: StoredRecord>(_ query: TypedQuery<Record>, step: Int = 1000) throws -> QueryWriteReport {
        try delete(query.query, step: step)
    }

    /// Deletes every record of a typed query's result; the calling task is suspended meanwhile.
    @discardableResult
    public func delete<Record: StoredRecord>(_ query: TypedQuery<Record>, step: Int = 1000) async throws
        -> QueryWriteReport
    {
        try await delete(query.query, step: step)
    }

    // MARK: Local changes

    /// Sets fields of every record of a query's result, and marks the records as changed locally.
    ///
    /// It works as ``update(_:set:step:)-(Query,_,_)`` does; for the marks see <doc:LocalChanges>.
    /// A record that already has the values is not marked.
    @discardableResult
    public func updateLocally(_ query: Query, set values: [String: Value], step: Int = 1000) throws -> QueryWriteReport
    {
        try run(queryWrite(query, isLocal: true) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Sets fields and marks the records as local changes; the task is suspended meanwhile.
    @discardableResult
    public func updateLocally(_ query: Query, set values: [String: Value], step: Int = 1000) async throws
        -> QueryWriteReport
    {
        try await run(queryWrite(query, isLocal: true) { .update(try RecordChange(values, $1, $0)) }, step)
    }

    /// Deletes every record of a query's result, and marks the records as deleted locally.
    ///
    /// It works as ``delete(_:step:)-(Query,_)`` does. No import brings a marked record back. The
    /// records that delete rules add are not marked.
    @discardableResult
    public func deleteLocally(_ query: Query, step: Int = 1000) throws -> QueryWriteReport {
        try run(queryWrite(query, isLocal: true) { _, _ in .delete }, step)
    }

    /// Deletes the records and marks them as deleted locally; the task is suspended meanwhile.
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
        precondition(limit > 0, "a step must write at least one record")
        while !work.isDone {
            do {
                work.take(try write(alone: true) { writer in try work.step(&writer, limit: limit) })
            } catch { throw QueryWriteError(report: work.report, reason: error) }
        }
        return work.report
    }

    private func run(_ work: QueryWrite, _ limit: Int) async throws -> QueryWriteReport {
        precondition(limit > 0, "a step must write at least one record")
        while !work.isDone {
            do {
                work.take(try await write(alone: true) { writer in try work.step(&writer, limit: limit) })
            } catch { throw QueryWriteError(report: work.report, reason: error) }
        }
        return work.report
    }
}

extension StoreWriter {
    /// Sets fields of every record of a query's result, all in this transaction.
    ///
    /// For changes in steps see ``Store/update(_:set:step:)-(Query,_,_)``.
    ///
    /// - Throws: `StoreError`, `StoreWriteError`. Some records may be changed by then: let the
    ///   error end the write, so that nothing is kept.
    @discardableResult
    public mutating func update(_ query: Query, set values: [String: Value]) throws -> QueryWriteReport {
        try run(query) { .update(try RecordChange(values, $1, $0)) }
    }

    /// Sets fields of every record with a closure, which is called once, all in this transaction.
    @discardableResult
    public mutating func update<Record: StoredRecord>(
        _ query: TypedQuery<Record>, _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws -> QueryWriteReport {
        try run(query.query) { access, _ in .update(try RecordChange(access, change)) }
    }

    /// Deletes every record of a query's result, all in this transaction.
    ///
    /// It deletes the records that delete rules add, too.
    ///
    /// - Throws: `StoreError`, `StoreWriteError`. Some records may be deleted by then: let the
    ///   error end the write, so that nothing is kept.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> QueryWriteReport {
        try run(query) { _, _ in .delete }
    }

    /// Deletes every record of a typed query's result, all in this transaction.
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
