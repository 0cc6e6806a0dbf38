internal import TarnStore

/// A list of keys with their entities, as compact as an import can make it.
///
/// Keys are decoded when they are read.
struct KeyList: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        /// The position of the entity's name, and the end of the storage key.
        var name: Int32
        var end: Int32
    }

    private var names: [String] = []
    private var entries: [Entry] = []
    private var bytes: [UInt8] = []
    /// The keys that are too long for their storage keys, by position.
    private var long: [Int: RecordKey] = [:]

    var count: Int { entries.count }

    /// Appends a key.
    ///
    /// - Parameter whole: returns the whole key of a storage key that is a digest, if it is known.
    mutating func append(_ storageKey: Bytes, of entity: String, whole: () -> RecordKey? = { nil }) {
        if StorageKey.isDigest(storageKey), let key = whole() { long[entries.count] = key }
        bytes.append(contentsOf: storageKey)
        entries.append(Entry(name: number(of: entity), end: Int32(bytes.count)))
    }

    /// Appends the keys of another list, up to a limit.
    mutating func append(_ other: KeyList, limit: Int) {
        guard !other.entries.isEmpty, count < limit else { return }
        // Most lists have the keys of one entity.
        var known: (theirs: Int32, own: Int32)?, start = 0
        for (position, entry) in other.entries.prefix(limit - count).enumerated() {
            let own = known?.theirs == entry.name ? known?.own : nil
            let name = own ?? number(of: other.names[Int(entry.name)])
            known = (entry.name, name)
            if let key = other.long[position] { long[entries.count] = key }
            bytes.append(contentsOf: other.bytes[start..<Int(entry.end)])
            entries.append(Entry(name: name, end: Int32(bytes.count)))
            start = Int(entry.end)
        }
    }

    /// Removes keys.
    mutating func remove(_ keys: Set<ImportedKey>) {
        guard !keys.isEmpty else { return }
        let all = self.keys
        self = KeyList()
        for key in all where !keys.contains(key) {
            key.key.storageKey.withUnsafeBytes { append($0, of: key.entity) { key.key } }
        }
    }

    private mutating func number(of name: String) -> Int32 {
        if let last = entries.last, names[Int(last.name)] == name { return last.name }
        if let known = names.firstIndex(of: name) { return Int32(known) }
        names.append(name)
        return Int32(names.count - 1)
    }

    /// The keys, decoded.
    var keys: [ImportedKey] {
        var start = 0
        return entries.enumerated().compactMap { position, entry in
            defer { start = Int(entry.end) }
            let key = long[position] ?? bytes[start..<Int(entry.end)].withUnsafeBytes { RecordKey(reference: $0) }
            return key.map { ImportedKey(entity: names[Int(entry.name)], key: $0) }
        }
    }
}

/// The keys of an import's records by outcome.
struct OutcomeKeys: Sendable, Hashable {
    var created = KeyList()
    var updated = KeyList()
    var deleted = KeyList()

    mutating func add(_ other: OutcomeKeys, limit: Int) {
        created.append(other.created, limit: limit)
        updated.append(other.updated, limit: limit)
        deleted.append(other.deleted, limit: limit)
    }
}
