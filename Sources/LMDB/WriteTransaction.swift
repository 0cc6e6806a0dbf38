import CLMDB

/// The write transaction of an environment: its changes are committed together or not at all.
public struct WriteTransaction: ~Copyable {
    package let raw: RawTransaction
    let environment: Environment
    private let mayOpenTables: Bool

    init(_ raw: RawTransaction, _ environment: Environment, mayOpenTables: Bool) {
        self.raw = raw
        self.environment = environment
        self.mayOpenTables = mayOpenTables
    }

    /// Returns the current value of a key, or nil. The bytes are valid until the next change.
    @_lifetime(borrow self)
    public func get(_ table: Table, _ key: RawSpan) throws(LMDBError) -> RawSpan? {
        guard let value = try key.withUnsafeBytes({ key throws(LMDBError) in try raw.get(table, key) }) else {
            return nil
        }
        return _overrideLifetime(RawSpan(_unsafeBytes: value), borrowing: self)
    }

    /// Stores a value under a key, and replaces the previous one.
    ///
    /// - Throws: `.badValueSize`, `.mapFull`; `.fileLimit` if the file has reached its limit.
    public mutating func put(_ table: Table, _ key: RawSpan, _ value: RawSpan) throws(LMDBError) {
        try raw.willAdd()
        try key.withUnsafeBytes { key throws(LMDBError) in
            try value.withUnsafeBytes { value throws(LMDBError) in try raw.put(table, key, value) }
        }
    }

    /// Removes a key, and returns whether it existed.
    @discardableResult
    public mutating func delete(_ table: Table, _ key: RawSpan) throws(LMDBError) -> Bool {
        try key.withUnsafeBytes { key throws(LMDBError) in try raw.delete(table, key) }
    }

    /// Opens a cursor on a table.
    @_lifetime(borrow self)
    public func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        _overrideLifetime(Cursor(try raw.cursor(table)), borrowing: self)
    }

    /// Opens a table, and creates it if it does not exist.
    ///
    /// The handle may be used elsewhere after this transaction has committed. Only inside
    /// ``Environment/writeOpeningTables(_:)``; a call elsewhere is a programming error and traps.
    public mutating func table(_ name: String) throws(LMDBError) -> Table {
        precondition(mayOpenTables, "tables must be opened inside writeOpeningTables(_:)")
        return try environment.openTable(name, in: raw, flags: UInt32(MDB_CREATE))
    }

    /// Returns the number of pages and entries of a table.
    public func statistics(_ table: Table) throws(LMDBError) -> TableStatistics { try raw.statistics(table) }

    /// The id under which this transaction commits.
    public var id: Int { raw.id }

    /// Runs the closure in a child transaction.
    ///
    /// If the closure throws, its changes are undone and this transaction continues, also after
    /// `.mapFull` and `.fileLimit`. Otherwise its changes are committed with this transaction.
    ///
    /// A child costs about 10 µs, and memory for its changed pages.
    public mutating func child<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
        try environment.run(parent: raw, mayOpenTables: false, body)
    }
}
