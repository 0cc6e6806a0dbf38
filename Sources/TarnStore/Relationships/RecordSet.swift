// A compact set of many records, in the order in which they were found.

/// A set of records, identified by root entity and storage key.
struct RecordSet: ~Copyable {
    struct Member {
        var root: UInt16
        /// The concrete entity.
        var entity: UInt16
        /// The position of the member that led to this one. The first member's own position.
        var origin: Int32
        var length: UInt8
        var offset: Int
        /// The version of its row when it was found.
        var version: UInt64
        var hash: UInt64
    }

    private var members: [Member] = []
    private var keys = ByteWriter(capacity: 1024)
    private var slots: [Int32] = Array(repeating: -1, count: 64)
    private let hasher = KeyedHash()

    var count: Int { members.count }

    subscript(position: Int) -> Member { members[position] }

    /// Returns the storage key of a member. Valid until the next `add`.
    func key(at position: Int) -> Bytes {
        let member = members[position]
        return keys.bytes(member.offset..<member.offset + Int(member.length))
    }

    /// Returns the position of a record. Nil if it is not in the set.
    func find(_ root: UInt16, _ key: Bytes) -> Int? {
        let slot = slots[slot(root, key, hash(root, key))]
        return slot < 0 ? nil : Int(slot)
    }

    /// Adds a record that is not in the set yet.
    mutating func add(_ root: UInt16, _ key: Bytes, entity: UInt16, origin: Int, version: UInt64) {
        let hash = hash(root, key), slot = slot(root, key, hash)
        guard slots[slot] < 0 else { return }
        slots[slot] = Int32(members.count)
        members.append(
            Member(
                root: root, entity: entity, origin: Int32(origin), length: UInt8(key.count), offset: keys.count,
                version: version, hash: hash))
        keys.append(key)
        if members.count * 2 > slots.count { grow() }
    }

    private func hash(_ root: UInt16, _ key: Bytes) -> UInt64 { hasher.hash(key, kind: UInt64(root)) }

    /// Returns the slot of a record: the one that refers to it, or the free one for it.
    private func slot(_ root: UInt16, _ key: Bytes, _ hash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot]), member = members[position]
            if member.hash == hash, member.root == root, Bytes.equal(self.key(at: position), key) { break }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private mutating func grow() {
        slots = Array(repeating: -1, count: slots.count * 4)
        for position in members.indices {
            var slot = Int(truncatingIfNeeded: members[position].hash) & (slots.count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(position)
        }
    }
}
