internal import TarnStore

/// The distinct records of a body besides the listed ones, in the form of an ``ImportedBody``.
struct NestedRecords: ~Copyable {
    private(set) var bytes = ByteWriter(capacity: 1024)
    /// The offset of each record's key in `bytes`, its length and its root entity.
    private var places: [(offset: Int, length: Int, root: UInt16)] = []
    private var slots: [Int32] = Array(repeating: -1, count: 64)
    private let hasher = KeyedHash()

    /// Returns the position of a record, which is added if it is new.
    mutating func position(of root: UInt16, _ key: Bytes) -> Int32 {
        var slot = slot(root, key)
        while slots[slot] >= 0 {
            let place = places[Int(slots[slot])]
            if place.root == root, Bytes.equal(bytes.bytes(place.offset..<place.offset + place.length), key) {
                return slots[slot]
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        let position = Int32(places.count)
        slots[slot] = position
        ListedRecord.append(root, key, to: &bytes)
        places.append((bytes.count - key.count, key.count, root))
        if places.count * 2 > slots.count { grow() }
        return position
    }

    private func slot(_ root: UInt16, _ key: Bytes) -> Int {
        Int(truncatingIfNeeded: hasher.hash(key, kind: UInt64(root))) & (slots.count - 1)
    }

    private mutating func grow() {
        slots = Array(repeating: -1, count: slots.count * 2)
        for (position, place) in places.enumerated() {
            var slot = slot(place.root, bytes.bytes(place.offset..<place.offset + place.length))
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(position)
        }
    }
}
