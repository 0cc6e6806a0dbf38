// Transactions: lent to a synchronous closure, begun and ended on one thread.
//
// On liblmdb 0.9.24 a write transaction that is committed on another thread returns success and hangs every later writer
// for ever. So there is no way to hold one outside the closure, and the closure cannot suspend.

import CLMDB

/// A table (named database) of an environment. A plain handle, valid as long as its environment is open.
public struct Table: Sendable, Hashable {
    package let handle: MDB_dbi
}

/// How full a table is. `mdb_stat`.
public struct TableStatistics: Sendable, Hashable {
    public var pageSize: Int
    public var depth: Int
    public var branchPages: Int
    public var leafPages: Int
    public var overflowPages: Int
    public var entries: Int
}

/// A snapshot of the environment. It does not change, and blocks nobody.
///
/// It is a view that is lent: neither it nor the bytes that it lends can leave the closure.
public struct ReadTransaction: ~Escapable {
    package let raw: RawTransaction

    @_lifetime(borrow owner)
    init<T: ~Copyable>(_ raw: RawTransaction, owner: borrowing T) {
        self.raw = raw
    }

    /// The value of a key, or nil. The bytes are the file's own: nothing is copied.
    @_lifetime(copy self)
    public func get(_ table: Table, _ key: RawSpan) throws(LMDBError) -> RawSpan? {
        guard let value = try key.withUnsafeBytes({ key throws(LMDBError) in try raw.get(table, key) }) else { return nil }
        return _overrideLifetime(RawSpan(_unsafeBytes: value), copying: self)
    }

    /// A cursor on a table.
    @_lifetime(copy self)
    public func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        _overrideLifetime(Cursor(try raw.cursor(table)), copying: self)
    }

    public func statistics(_ table: Table) throws(LMDBError) -> TableStatistics { try raw.statistics(table) }

    /// The id of the last transaction that this snapshot contains.
    public var id: Int { raw.id }
}

/// The one write transaction of an environment: everything in it is committed together, or nothing.
public struct WriteTransaction: ~Copyable {
    package let raw: RawTransaction
    let environment: Environment
    private let mayOpenTables: Bool

    init(_ raw: RawTransaction, _ environment: Environment, mayOpenTables: Bool) {
        self.raw = raw
        self.environment = environment
        self.mayOpenTables = mayOpenTables
    }

    /// The value of a key, or nil, as this transaction has left it. The bytes cannot be held across the next change.
    @_lifetime(borrow self)
    public func get(_ table: Table, _ key: RawSpan) throws(LMDBError) -> RawSpan? {
        guard let value = try key.withUnsafeBytes({ key throws(LMDBError) in try raw.get(table, key) }) else { return nil }
        return _overrideLifetime(RawSpan(_unsafeBytes: value), borrowing: self)
    }

    /// - Throws: `.badValueSize`, `.mapFull`; `.fileLimit` if the file has a limit and has reached it.
    public mutating func put(_ table: Table, _ key: RawSpan, _ value: RawSpan) throws(LMDBError) {
        try raw.willAdd()
        try key.withUnsafeBytes { key throws(LMDBError) in
            try value.withUnsafeBytes { value throws(LMDBError) in try raw.put(table, key, value) }
        }
    }

    /// Returns whether there was such a key.
    @discardableResult
    public mutating func delete(_ table: Table, _ key: RawSpan) throws(LMDBError) -> Bool {
        try key.withUnsafeBytes { key throws(LMDBError) in try raw.delete(table, key) }
    }

    @_lifetime(borrow self)
    public func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        _overrideLifetime(Cursor(try raw.cursor(table)), borrowing: self)
    }

    /// Opens a table, made if it is not there. The handle may be used outside once this transaction has committed.
    /// Only inside ``Environment/writeOpeningTables(_:)``; calling it elsewhere is a programmer's error and traps.
    public mutating func table(_ name: String) throws(LMDBError) -> Table {
        precondition(mayOpenTables, "tables are opened inside writeOpeningTables(_:)")
        return try environment.openTable(name, in: raw, flags: UInt32(MDB_CREATE))
    }

    public func statistics(_ table: Table) throws(LMDBError) -> TableStatistics { try raw.statistics(table) }

    /// The id that this transaction commits under.
    public var id: Int { raw.id }

    /// Runs the closure in a child transaction: if it throws, what it did is undone and this transaction goes on without it;
    /// also after `.mapFull` and `.fileLimit`. What it did is committed with this transaction, or not at all.
    ///
    /// A child costs about 10 µs, and room for what it changes in memory.
    public mutating func child<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        try environment.run(parent: raw, mayOpenTables: false, body)
    }
}

extension Environment {
    /// Lends a snapshot to the closure and returns what it returns. Never waits for a writer.
    ///
    /// - Throws: what the closure throws, or `LMDBError` (`.readersFull`, `.forked`; `.notImmutable` of an immutable one).
    public func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        try checkProcess("read")
        let reader = try readers.take(self)
        threadDepth.value += 1
        defer {
            threadDepth.value -= 1
            readers.give(back: reader)
        }
        let result = try body(ReadTransaction(RawTransaction(reader.transaction, trees: reader.trees), owner: self))
        if options.isImmutable { try checkIsUnchanged(since: mdb_txn_id(reader.transaction)) }
        return result
    }

    /// - Throws: `.notImmutable` if pages of a snapshot that no slot protects may have been used again: the transaction after the next one
    ///   takes pages that the next one has freed (mdb.c, `mdb_page_alloc`), and begins when that is committed.
    private func checkIsUnchanged(since transaction: Int) throws(LMDBError) {
        var information = MDB_envinfo()
        try check(mdb_env_info(env, &information), "read", path: path)
        guard information.me_last_txnid <= transaction + 1 else {
            throw LMDBError(.notImmutable, operation: "read", path: path)
        }
    }

    /// Lends the write transaction to the closure, then commits; waits for other writers first. If the closure throws,
    /// nothing is kept. The closure runs once, and its result is returned after the commit.
    ///
    /// - Throws: what the closure throws, or `LMDBError`: `.nestedWrite` at once if this thread is inside a `read` or
    ///   `write` of the same environment, `.readOnly`, and everything that a commit can meet: then nothing is kept.
    public func write<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        try write(mayOpenTables: false, body)
    }

    /// The same as ``write(_:)``, and the transaction may open and make tables. While it runs, no other thread of this
    /// process opens one (lmdb.h, `mdb_dbi_open`: "must not be called from multiple concurrent transactions in the same
    /// process").
    public func writeOpeningTables<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        // Before the lock: a thread that is inside may hold it.
        try checkMayWrite()
        tableLock.lock()
        defer { tableLock.unlock() }
        return try write(mayOpenTables: true, body)
    }

    private func write<Result>(
        mayOpenTables: Bool, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> Result {
        try checkMayWrite()
        threadDepth.value += ThreadDepth.write
        defer { threadDepth.value -= ThreadDepth.write }
        return try run(parent: nil, mayOpenTables: mayOpenTables, body)
    }

    /// Runs a part of a write transaction on another thread than the one that began it, which waits meanwhile. A write that begins inside of
    /// it fails as it does on the transaction's own thread.
    package func insideWrite<Result>(_ body: () throws -> Result) rethrows -> Result {
        threadDepth.value += ThreadDepth.write
        defer { threadDepth.value -= ThreadDepth.write }
        return try body()
    }

    /// What a `write` of the calling thread would throw at once.
    ///
    /// - Throws: `.forked`, `.nestedWrite`, `.readOnly`.
    package func checkMayWrite() throws(LMDBError) {
        try checkProcess("write")
        guard threadDepth.value == 0 else { throw LMDBError(.nestedWrite, operation: "write", path: path) }
        guard !options.isReadOnly else { throw LMDBError(.readOnly, operation: "write", path: path) }
    }

    /// Begins a write transaction, or a child of one, runs the closure in it, and commits.
    fileprivate func run<Result>(
        parent: RawTransaction?, mayOpenTables: Bool, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> Result {
        let begun = try begin(parent: parent?.pointer)
        var growth = parent?.growth?.pointee ?? Growth()
        growth.isAdding = false
        return try withUnsafeMutablePointer(to: &growth) { growth in
            let raw = RawTransaction(begun, growth: growth)
            if parent != nil { growth.pointee.start = raw.pageCount }
            var transaction = WriteTransaction(raw, self, mayOpenTables: mayOpenTables)
            let result: Result
            do {
                result = try body(&transaction)
                try raw.checkGrowth()
            } catch {
                mdb_txn_abort(begun)
                throw error
            }
            if parent == nil {
                do { try checkFiles("commit") } catch {
                    mdb_txn_abort(begun)
                    throw error
                }
            }
            // Whatever it returns, the transaction has ended: a failed commit aborts (mdb.c, `mdb_txn_commit`).
            try check(mdb_txn_commit(begun), "commit", path: path)
            if parent == nil { freeSlotsOfDeadReadersAfterGrowth() }
            return result
        }
    }

    private func begin(parent: OpaquePointer?) throws(LMDBError) -> OpaquePointer {
        var begun: OpaquePointer?
        if let parent {
            try check(mdb_txn_begin(env, parent, 0, &begun), "begin", path: path)
        } else {
            try turn?.take { () throws(LMDBError) in try check(mdb_txn_begin(env, nil, 0, &begun), "begin", path: path) }
        }
        guard let begun else { throw LMDBError(.other, operation: "begin", path: path) }
        if parent == nil {
            do throws(LMDBError) { try checkFiles("begin") } catch {
                mdb_txn_abort(begun)
                throw error
            }
        }
        return begun
    }

    /// Opens existing tables; nil for one that is not there. The handles are valid from then on.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same environment.
    public func existingTables(_ names: [String]) throws(LMDBError) -> [Table?] {
        try openingTables { (raw: RawTransaction) throws(LMDBError) in
            var tables: [Table?] = []
            for name in names {
                do throws(LMDBError) {
                    tables.append(try openTable(name, in: raw, flags: 0))
                } catch {
                    guard error.kind == .noSuchTable else { throw error }
                    tables.append(nil)
                }
            }
            return tables
        }
    }

    /// The names of all tables, in byte order.
    ///
    /// - Throws: `LMDBError`: `.nestedWrite` at once if this thread is inside a `write` of the same environment.
    public func tableNames() throws(LMDBError) -> [String] {
        try openingTables { (raw: RawTransaction) throws(LMDBError) in
            var handle = MDB_dbi(), names: [String] = []
            try check(mdb_dbi_open(raw.pointer, nil, 0, &handle), "open table", path: path)
            let cursor = try raw.cursor(Table(handle: handle))
            defer { cursor.close() }
            var entry = try cursor.first()
            while let (key, _) = entry {
                names.append(String(decoding: key, as: UTF8.self))
                entry = try cursor.next()
            }
            return names
        }
    }

    private func openingTables<Result>(
        _ body: (RawTransaction) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        try checkProcess("open table")
        // Whoever holds the lock may be waiting for the writer, which this thread would be.
        guard !threadDepth.isInsideWrite else { throw LMDBError(.nestedWrite, operation: "open table", path: path) }
        tableLock.lock()
        defer { tableLock.unlock() }
        var begun: OpaquePointer?
        try check(mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &begun), "begin", path: path)
        guard let begun else { throw LMDBError(.other, operation: "begin", path: path) }
        let result: Result
        do throws(LMDBError) {
            result = try body(RawTransaction(begun))
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        // A handle opened in a read transaction is valid elsewhere only after that transaction commits.
        try check(mdb_txn_commit(begun), "commit", path: path)
        return result
    }

    func openTable(_ name: String, in transaction: RawTransaction, flags: UInt32) throws(LMDBError) -> Table {
        var handle = MDB_dbi()
        try check(mdb_dbi_open(transaction.pointer, name, flags, &handle), "open table", path: path)
        return Table(handle: handle)
    }
}
