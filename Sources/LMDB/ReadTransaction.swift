import CLMDB

/// A snapshot of the environment. It does not change and blocks no other transaction.
///
/// It is a borrowed view: neither it nor its bytes can leave the closure.
public struct ReadTransaction: ~Escapable {
    package let raw: RawTransaction

    @_lifetime(borrow owner)
    init<T: ~Copyable>(_ raw: RawTransaction, owner: borrowing T) {
        self.raw = raw
    }

    /// Returns the value of a key, or nil. The bytes are those of the map: nothing is copied.
    @_lifetime(copy self)
    public func get(_ table: Table, _ key: RawSpan) throws(LMDBError) -> RawSpan? {
        guard let value = try key.withUnsafeBytes({ key throws(LMDBError) in try raw.get(table, key) }) else {
            return nil
        }
        return _overrideLifetime(RawSpan(_unsafeBytes: value), copying: self)
    }

    /// Opens a cursor on a table.
    @_lifetime(copy self)
    public func cursor(_ table: Table) throws(LMDBError) -> Cursor {
        _overrideLifetime(Cursor(try raw.cursor(table)), copying: self)
    }

    /// Returns the number of pages and entries of a table.
    public func statistics(_ table: Table) throws(LMDBError) -> TableStatistics { try raw.statistics(table) }

    /// The id of the last transaction that this snapshot contains.
    public var id: Int { raw.id }
}
