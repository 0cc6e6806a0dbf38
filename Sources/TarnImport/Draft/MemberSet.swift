// Duplicates within one to-many list.

internal import TarnStore

/// Which records a to-many list has so far: a relationship has each of them once.
struct MemberSet {
    private var count = 0
    /// Only for lists that are long enough to be worth it.
    private var known: Set<[UInt8]> = []
    private static let scanned = 16

    /// False if the key is in the list already.
    mutating func insert(_ key: Bytes, among listed: borrowing ByteWriter) -> Bool {
        if count < MemberSet.scanned {
            var isNew = true
            EncodedValue(listed.bytes).forEachReference { isNew = isNew && !Bytes.equal($0, key) }
            if isNew { count += 1 }
            return isNew
        }
        if known.isEmpty { EncodedValue(listed.bytes).forEachReference { known.insert(Array($0)) } }
        return known.insert(Array(key)).inserted
    }
}
