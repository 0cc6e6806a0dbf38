// The lists of derived relationships of a unit and their members, in flat memory. A response may
// have as many lists as records, so no list is an object of its own.

internal import TarnStore

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

    /// Returns kept bytes, valid until more bytes are kept.
    func bytes(_ kept: KeptBytes) -> Bytes { arena.bytes(kept.start..<kept.start + kept.count) }

    func text(_ kept: KeptBytes) -> String { String(decoding: bytes(kept), as: UTF8.self) }

    mutating func keep(_ bytes: Bytes) -> KeptBytes {
        let start = arena.count
        arena.append(bytes)
        return KeptBytes(start: start, count: bytes.count)
    }

    mutating func keep(_ bytes: [UInt8]) -> KeptBytes { bytes.withUnsafeBytes { keep($0) } }

    /// Keeps the bytes that the closure writes.
    mutating func keep(_ write: (inout ByteWriter) -> Void) -> KeptBytes {
        let start = arena.count
        write(&arena)
        return KeptBytes(start: start, count: arena.count - start)
    }

    /// Adds a member of the next list.
    mutating func addMember(_ key: Bytes, isUnset: Bool, isNested: Bool, seed: UInt64) {
        members.append(
            DerivedMember(
                key: keep(key), isUnset: isUnset, isNested: isNested, hash: hasher.hash(key, kind: seed),
                list: Int32(lists.count)))
    }

    /// Marks the lists from a position on: another occurrence of their record takes precedence.
    mutating func lose(from first: Int) {
        for number in lists.indices.dropFirst(first) { lists[number].loses = true }
    }

    /// Removes the members of an unusable list.
    mutating func dropMembers(from first: Int) { members.removeSubrange(first...) }

    /// Adds a list.
    ///
    /// - Parameter seed: the identity of the relationship, shared by all entities that inherit it.
    mutating func add(_ list: DerivedList, seed: UInt64) {
        var list = list
        list.hash = hasher.hash(bytes(list.target), kind: seed)
        lists.append(list)
    }
}
