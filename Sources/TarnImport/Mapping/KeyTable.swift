// A hash table from the bytes of JSON keys to small integers. Every key of every object is looked
// up.
//
// The slots are raw memory, since an array would add a check and a reference count to each probe.
// The mask bounds every position, and the offsets are places in `keys`, which only grows.

internal import TarnStore

struct KeyTable: ~Copyable {
    private struct Slot {
        var hash: UInt64
        var offset: Int32
        var length: Int32
        var value: Int32
    }

    private var slots: UnsafeMutableBufferPointer<Slot>
    private var keys = ByteWriter(capacity: 256)
    private var count = 0
    private let hasher = KeyedHash()

    init() {
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(hash: 0, offset: 0, length: 0, value: -1))
    }

    init(copying other: borrowing KeyTable) {
        slots = .allocate(capacity: other.slots.count)
        _ = slots.initialize(fromContentsOf: other.slots)
        count = other.count
        // The slots have offsets in the keys.
        keys.append(other.keys.bytes)
    }

    deinit { slots.deallocate() }

    @inline(__always)
    func find(_ key: Bytes) -> Int? {
        let hash = hasher.hash(key), mask = slots.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while true {
            let slot = slots[position]
            if slot.value < 0 { return nil }
            if slot.hash == hash, Int(slot.length) == key.count,
                Bytes.equal(Bytes(start: keys.base + Int(slot.offset), count: Int(slot.length)), key)
            {
                return Int(slot.value)
            }
            position = (position + 1) & mask
        }
    }

    /// Inserts a key that the table does not contain.
    mutating func insert(_ key: Bytes, _ value: Int) {
        if (count + 1) * 2 > slots.count { grow() }
        place(Slot(hash: hasher.hash(key), offset: Int32(keys.count), length: Int32(key.count), value: Int32(value)))
        keys.append(key)
        count += 1
    }

    private mutating func place(_ slot: Slot) {
        var position = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
        while slots[position].value >= 0 { position = (position + 1) & (slots.count - 1) }
        slots[position] = slot
    }

    private mutating func grow() {
        let old = slots
        slots = .allocate(capacity: old.count * 2)
        slots.initialize(repeating: Slot(hash: 0, offset: 0, length: 0, value: -1))
        for slot in old where slot.value >= 0 { place(slot) }
        old.deallocate()
    }

    /// The sum of the distances of all keys from the slots of their hashes.
    ///
    /// It is the number of probes, beyond one per key, for looking up every key once.
    var displacement: Int {
        var sum = 0
        for (position, slot) in slots.enumerated() where slot.value >= 0 {
            sum += (position - Int(truncatingIfNeeded: slot.hash)) & (slots.count - 1)
        }
        return sum
    }
}
