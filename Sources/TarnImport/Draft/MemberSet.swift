// Detection of duplicates within one to-many list.

internal import TarnStore

/// The records that a to-many list has so far. A relationship has each of them once.
struct MemberSet {
    private var count = 0
    /// The keys of the list; only for lists that are too long to compare with every element.
    private var known: Set<[UInt8]> = []
    private static let scanned = 16

    /// Inserts a key. Returns false if the list has it already.
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
