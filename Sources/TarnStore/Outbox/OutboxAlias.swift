internal import LMDB

/// The server's key of a record that had a temporary one, a system row of the table `outbox`.
struct OutboxAlias: Sendable, Hashable {
    /// The time for which an alias is kept, in microseconds: 30 days.
    static let lifetime: Int64 = 30 * 86_400 * 1_000_000
    /// The longest chain of aliases that is followed: one for each owner in a key.
    static let longestChain = 32

    /// The server's key.
    var key: RecordKey
    /// The time of the adoption.
    var at: Timestamp

    private enum ID {
        static let key: UInt16 = 1, at: UInt16 = 2
    }

    init(_ key: RecordKey, at time: Timestamp) {
        self.key = key
        at = time
    }

    init?(_ row: EncodedRow) {
        guard let key = row.rawBytes(ID.key).flatMap({ RecordKey(tuple: $0) }), let at = row.date(ID.at) else {
            return nil
        }
        self.init(key, at: at)
    }

    func store(_ raw: RawTransaction, _ table: Table, _ key: Bytes, sequence: UInt64) throws {
        var row = SystemRowBuilder(), bytes = ByteWriter()
        bytes.append(self.key.tuple)
        row.field(ID.key, raw: bytes)
        row.field(ID.at, at)
        try row.store(raw, table, key, sequence: sequence)
    }
}
