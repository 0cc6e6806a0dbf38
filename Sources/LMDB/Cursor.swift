// Iteration over a table in key order.

import CLMDB

/// A position in a table.
///
/// Every step returns a borrowed key and value, which cannot outlive the transaction.
public struct Cursor: ~Copyable, ~Escapable {
    private let raw: RawCursor

    @_lifetime(immortal)
    init(_ raw: RawCursor) {
        self.raw = raw
    }

    deinit { raw.close() }

    /// A borrowed entry of a table.
    public struct Entry: ~Escapable {
        /// The bytes of the key.
        public let key: RawSpan
        /// The bytes of the value.
        public let value: RawSpan

        @_lifetime(copy key, copy value)
        init(key: RawSpan, value: RawSpan) {
            self.key = key
            self.value = value
        }
    }

    /// Moves to the first entry; nil if the table is empty.
    @_lifetime(copy self)
    public func first() throws(LMDBError) -> Entry? { try lend(raw.first()) }

    /// Moves to the last entry; nil if the table is empty.
    @_lifetime(copy self)
    public func last() throws(LMDBError) -> Entry? { try lend(raw.last()) }

    /// Moves to the next entry; nil at the end of the table.
    @_lifetime(copy self)
    public func next() throws(LMDBError) -> Entry? { try lend(raw.next()) }

    /// Moves to the previous entry; nil at the beginning of the table.
    @_lifetime(copy self)
    public func previous() throws(LMDBError) -> Entry? { try lend(raw.previous()) }

    /// Moves to the first entry whose key is not less than `key`; nil if there is none.
    @_lifetime(copy self)
    public func seek(_ key: RawSpan) throws(LMDBError) -> Entry? {
        try lend(key.withUnsafeBytes { key throws(LMDBError) in try raw.seek(key) })
    }

    @_lifetime(copy self)
    private func lend(_ entry: RawCursor.Entry?) -> Entry? {
        guard let entry else { return nil }
        return _overrideLifetime(
            Entry(key: RawSpan(_unsafeBytes: entry.key), value: RawSpan(_unsafeBytes: entry.value)), copying: self)
    }
}
