import CLMDB

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
