// What a unit says of relationships whose references stand in the other records: lists, and their members, in flat memory. A response may
// have as many lists as records, so none of them is an object of its own.

internal import TarnStore

/// Bytes that are kept as long as the unit.
struct KeptBytes {
    var start = 0
    var count = 0

    var isEmpty: Bool { count == 0 }
}

/// What a response says about the other end of a relationship that is stored there: applied when the unit is merged.
struct DerivedList {
    /// Of the record that has the relationship, and the relationship among its slots.
    var plan: Int32
    var slot: Int32
    /// The record that has the relationship.
    var target: KeptBytes
    /// The records that it leads to, among the members of all lists; those that came as objects are in the drafts.
    var members = 0..<0
    /// Whether members that are not listed stay.
    var keepsOthers: Bool
    /// Whether references have to be set when the drafts are stored.
    var hasUnset = false
    /// The path of the listed record that it stands in, and how that leads to it; only where somebody may ask.
    var record = KeptBytes()
    var path = KeptBytes()
    /// Of the record and the relationship.
    var hash: UInt64 = 0
}

/// A record that a derived list leads to.
struct DerivedMember {
    var key: KeptBytes
    /// Whether its reference has to be set when the drafts are stored: it came as a bare key, or its reference stands in a list, to which a
    /// draft cannot add.
    var isUnset: Bool
    /// Of the relationship and the record.
    var hash: UInt64
    var list: Int32
}

struct DerivedLists: ~Copyable {
    private(set) var lists: [DerivedList] = []
    private(set) var members: [DerivedMember] = []
    private var arena = ByteWriter(capacity: 1 << 12)
    private let hasher = KeyedHash()

    var count: Int { lists.count }
    var isEmpty: Bool { lists.isEmpty }

    mutating func removeAll() {
        lists.removeAll(keepingCapacity: true)
        members.removeAll(keepingCapacity: true)
        arena.removeAll()
    }

    /// Valid until more is kept.
    func bytes(_ kept: KeptBytes) -> Bytes { arena.bytes(kept.start..<kept.start + kept.count) }

    func text(_ kept: KeptBytes) -> String { String(decoding: bytes(kept), as: UTF8.self) }

    mutating func keep(_ bytes: Bytes) -> KeptBytes {
        let start = arena.count
        arena.append(bytes)
        return KeptBytes(start: start, count: bytes.count)
    }

    mutating func keep(_ bytes: [UInt8]) -> KeptBytes { bytes.withUnsafeBytes { keep($0) } }

    /// Keeps what the closure writes.
    mutating func keep(_ write: (inout ByteWriter) -> Void) -> KeptBytes {
        let start = arena.count
        write(&arena)
        return KeptBytes(start: start, count: arena.count - start)
    }

    /// Adds a member of the list that is next.
    mutating func addMember(_ key: Bytes, isUnset: Bool, seed: UInt64) {
        members.append(
            DerivedMember(key: keep(key), isUnset: isUnset, hash: hasher.hash(key, kind: seed), list: Int32(lists.count)))
    }

    /// Forgets the members of a list that cannot be used.
    mutating func dropMembers(from first: Int) { members.removeSubrange(first...) }

    /// - Parameter seed: of the relationship, the same for all that stand for it.
    mutating func add(_ list: DerivedList, seed: UInt64) {
        var list = list
        list.hash = hasher.hash(bytes(list.target), kind: seed)
        lists.append(list)
    }
}

/// A hash table of positions in a list that somebody else has.
struct PositionTable: ~Copyable {
    private var slots: [Int32]

    /// - Parameter count: how many positions there may be.
    init(count: Int) {
        var size = 16
        while size < count * 2 { size *= 2 }
        slots = Array(repeating: -1, count: size)
    }

    /// Puts a position in unless an equal one is there.
    ///
    /// - Parameter isEqual: whether what stands at a position that has perhaps the same hash is the same.
    /// - Returns: the position that is there; nil if it is the new one.
    mutating func insert(_ position: Int, hash: UInt64, isEqual: (Int) -> Bool) -> Int? {
        let place = place(hash, isEqual)
        if slots[place] >= 0 { return Int(slots[place]) }
        slots[place] = Int32(position)
        return nil
    }

    /// The same, in the place of an equal one.
    mutating func replace(with position: Int, hash: UInt64, isEqual: (Int) -> Bool) {
        slots[place(hash, isEqual)] = Int32(position)
    }

    private func place(_ hash: UInt64, _ isEqual: (Int) -> Bool) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
        while slots[place] >= 0, !isEqual(Int(slots[place])) { place = (place + 1) & mask }
        return place
    }
}
