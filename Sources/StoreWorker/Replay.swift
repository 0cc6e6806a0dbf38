// A replay of a store's change log: each commit is compared with the transaction that wrote it.

import TarnStore

struct Replay {
    private let entities: [UInt16: String]
    /// The records after the replayed commits: storage key → version, by entity.
    private(set) var live: [String: [[UInt8]: UInt64]] = [:]
    /// The progress of each stream according to the log.
    private(set) var progress: [Int: Int] = [:]
    private(set) var sequence: UInt64 = 0
    private var ordinal: UInt32 = 0
    private var commit: [Workload.Change] = []
    private var tags: Set<[UInt8]> = []

    init(_ catalog: Catalog) {
        entities = Dictionary(uniqueKeysWithValues: catalog.entities.map { ($0.id, $0.name) })
    }

    /// Adds an entry of the change log.
    ///
    /// Key = commit sequence (u64, big-endian) ++ ordinal (u32, big-endian); value = operation
    /// (u8), entity (u16, little-endian), storage key; or operation + 64, entity, and for each
    /// change the length (u8) and the storage key.
    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard key.count == 12, value.count > 3 else { throw Problem("an entry of the change log has another form") }
        let sequence = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
        let ordinal = UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        if sequence != self.sequence {
            try finishCommit()
            guard sequence == self.sequence + 1 else {
                throw Problem("the change log jumps from \(self.sequence) to \(sequence)")
            }
            self.sequence = sequence
        }
        guard ordinal == self.ordinal else { throw Problem("change \(self.ordinal) of commit \(sequence) is missing") }
        let id = UInt16(littleEndian: value.loadUnaligned(fromByteOffset: 1, as: UInt16.self))
        guard let entity = entities[id] else { throw Problem("commit \(sequence) names the entity \(id)") }
        guard value[0] & 64 != 0 else { return try add(value[0], entity, Array(value.dropFirst(3))) }
        var keys = value.dropFirst(3)
        while let length = keys.popFirst() {
            guard length > 0, keys.count >= Int(length) else { throw Problem("a group of changes is cut off") }
            try add(value[0] & ~64, entity, Array(keys.prefix(Int(length))))
            keys = keys.dropFirst(Int(length))
        }
    }

    private mutating func add(_ operation: UInt8, _ entity: String, _ key: [UInt8]) throws {
        ordinal += 1
        let change = Workload.Change(operation, entity: entity, key: key)
        let isThere = live[entity]?[change.key] != nil
        guard isThere == (change.operation != Workload.Change.create) else {
            throw Problem(
                "commit \(sequence) does \(change.operation) with a \(entity) that is \(isThere ? "" : "not ")there")
        }
        live[entity, default: [:]][change.key] = change.operation == Workload.Change.delete ? nil : sequence
        commit.append(change)
    }

    /// Compares the last commit with its expected transaction: the next one of its stream.
    mutating func finishCommit() throws {
        defer {
            commit.removeAll(keepingCapacity: true)
            ordinal = 0
        }
        guard sequence > 0 else { return }
        let streams = commit.compactMap { change -> Int? in
            guard change.entity == "Counter",
                case .int(let stream)? = change.key.withUnsafeBytes({ RecordKey(storageKey: $0) })?.components.first,
                stream != Workload.shared
            else { return nil }
            return Int(stream)
        }
        guard streams.count == 1, let stream = streams.first else {
            throw Problem("commit \(sequence) is of the streams \(streams)")
        }
        let number = progress[stream, default: 0] + 1
        progress[stream] = number
        let workload = Workload(stream: stream)
        var expected = workload.changes(number)
        let shared = Workload.Item("Counter", RecordKey(Workload.shared), [:])
        expected.append(Workload.Change(sequence == 1 ? Workload.Change.create : Workload.Change.update, shared))
        // A tag is created by the first stream that names it, and never changes afterwards.
        if number == 1 {
            let tag = Workload.Change(Workload.Change.create, workload.counters(at: 1)[1])
            if tags.insert(tag.key).inserted { expected.append(tag) }
        }
        guard expected.count == commit.count, Set(expected) == Set(commit) else {
            throw Problem("commit \(sequence) is not transaction \(number) of stream \(stream)")
        }
    }
}
