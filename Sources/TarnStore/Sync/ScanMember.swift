// Scan members: for scans with orphan rules, the scan that has listed each record last.

/// The knowledge about one record from the scans of one endpoint.
///
/// The members of all scans are stored in one table, each with the number of the scan that listed
/// it last. Members of the current scan have its number. Members of earlier scans keep theirs until
/// the scan is complete and they are decided about.
package struct ScanMember: Sendable, Hashable {
    package var record: ListedRecord
    /// The scan that listed the record last; 0 if none did.
    package var lastListed: UInt64
    /// The complete scan that has last decided about the record as unlisted; 0 if none has.
    package var decided: UInt64
    /// The number of complete scans in a row that did not list it.
    package var misses: UInt64

    package init(_ record: ListedRecord, lastListed: UInt64, decided: UInt64 = 0, misses: UInt64 = 0) {
        self.record = record
        self.lastListed = lastListed
        self.decided = decided
        self.misses = misses
    }

    /// Decodes an entry of the table; nil if it is none.
    package init?(_ key: Bytes, _ value: Bytes) {
        guard key.count > ScanMember.identitySize + 2, value.count == 24 else { return nil }
        let entity = key.loadBigEndian(ScanMember.identitySize, UInt16.self)
        record = ListedRecord(entity: entity, storageKey: Array(key[(ScanMember.identitySize + 2)...]))
        lastListed = value.load(0)
        decided = value.load(8)
        misses = value.load(16)
    }

    /// Whether another member of the record knows more: a later scan has listed it, or decided
    /// about it.
    func precedes(_ other: ScanMember) -> Bool {
        (lastListed, decided) < (other.lastListed, other.decided)
    }

    /// The size of the identity's digest in the keys of the table, in bytes.
    static let identitySize = 16

    /// Returns the entity of the record in a key of the table; nil if it is none.
    static func root(inKey key: Bytes) -> UInt16? {
        key.count > identitySize + 2 ? key.loadBigEndian(identitySize, UInt16.self) : nil
    }

    package static func prefix(_ identity: String) -> [UInt8] {
        var identity = identity
        return Array(identity.withUTF8 { SHA256.digest(Bytes($0)) }.prefix(identitySize))
    }

    static func key(_ prefix: [UInt8], _ record: ListedRecord, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(prefix)
        writer.appendBigEndian(record.entity)
        writer.append(record.storageKey)
    }

    func appendValue(to writer: inout ByteWriter) {
        writer.removeAll()
        writer.appendLittleEndian(lastListed)
        writer.appendLittleEndian(decided)
        writer.appendLittleEndian(misses)
    }
}
