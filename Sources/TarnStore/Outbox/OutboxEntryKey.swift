// The keys of the table `outbox`. The first byte is the kind of the entry.
//
//   00                                            the counters
//   01 ++ u64 id                                  an operation
//   02 ++ u16 root ++ storage key ++ u64 id       the operations of a record
//   03 ++ u16 root ++ storage key ++ u64 id       the operations that refer to a record
//   04 ++ u16 root ++ temporary storage key       an alias
//   05 ++ u64 time ++ key of the alias            the aliases by age
//   06 ++ u64 revision ++ u64 time ++ u16 root ++ storage key
//                                                 a record whose operation reached the server
//
// Numbers are big-endian. Entries of the kinds 02, 03, 05 and 06 have no value.

/// The key of an entry of the table `outbox`.
package enum OutboxEntryKey {
    /// The first byte of a key.
    package enum Kind: UInt8 {
        case counters = 0, operation, own, reference, alias, aliasTime, settled
    }

    package static let counters: [UInt8] = [Kind.counters.rawValue]

    package static func operation(_ id: UInt64) -> [UInt8] {
        withUnsafeBytes(of: id.bigEndian) { [Kind.operation.rawValue] + Array($0) }
    }

    /// The key of an alias, and the beginning of the keys of a record's operations.
    package static func record(_ kind: Kind, _ record: ListedRecord) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(record.storageKey.count + 11)
        key.append(kind.rawValue)
        key.append(UInt8(truncatingIfNeeded: record.entity >> 8))
        key.append(UInt8(truncatingIfNeeded: record.entity))
        key += record.storageKey
        return key
    }

    package static func record(_ kind: Kind, _ record: ListedRecord, _ id: UInt64) -> [UInt8] {
        self.record(kind, record) + withUnsafeBytes(of: id.bigEndian) { Array($0) }
    }

    static func aliasTime(_ time: Timestamp, _ alias: [UInt8]) -> [UInt8] {
        // A time before 1970 sorts as the oldest.
        let sortable = UInt64(clamping: time.microseconds)
        return withUnsafeBytes(of: sortable.bigEndian) { [Kind.aliasTime.rawValue] + Array($0) } + alias
    }

    /// Returns the id in the key of an operation.
    package static func operationID(_ key: Bytes) -> UInt64? {
        guard key.count == 9, key[0] == Kind.operation.rawValue else { return nil }
        return key.loadBigEndian(1, UInt64.self)
    }
}
