// A walk over a table in key order.

import CLMDB

/// A position in a table. Every step lends the entry's key and value; they cannot outlive the transaction.
public struct Cursor: ~Copyable, ~Escapable {
    private let raw: RawCursor

    @_lifetime(immortal)
    init(_ raw: RawCursor) {
        self.raw = raw
    }

    deinit { raw.close() }

    /// An entry of a table, lent.
    public struct Entry: ~Escapable {
        public let key: RawSpan
        public let value: RawSpan

        @_lifetime(copy key, copy value)
        init(key: RawSpan, value: RawSpan) {
            self.key = key
            self.value = value
        }
    }

    @_lifetime(copy self)
    public func first() throws(LMDBError) -> Entry? { try lend(raw.first()) }

    @_lifetime(copy self)
    public func last() throws(LMDBError) -> Entry? { try lend(raw.last()) }

    @_lifetime(copy self)
    public func next() throws(LMDBError) -> Entry? { try lend(raw.next()) }

    @_lifetime(copy self)
    public func previous() throws(LMDBError) -> Entry? { try lend(raw.previous()) }

    /// The first entry whose key is not less than the one given.
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
