// Dictionaries in a store: read with the catalog, trained from its rows.

internal import LMDB

extension RowDictionary {
    /// Every dictionary of `meta`: u16 entity id, then the dictionary. One that zstd cannot use is left out; the rows that need
    /// it are named when they are read.
    static func all(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [(entity: UInt16, dictionary: RowDictionary)] {
        var list: [(entity: UInt16, dictionary: RowDictionary)] = []
        try forEach(raw, meta) { id, value in
            guard value.count > 2, let dictionary = RowDictionary(id: id, bytes: Array(value.dropFirst(2))) else { return }
            list.append((value.load(0), dictionary))
        }
        return list
    }

    /// The ids of an entity's dictionaries, without reading them.
    static func ids(_ raw: RawTransaction, _ meta: ChecksummedTable, of entity: UInt16) throws -> [UInt16] {
        var ids: [UInt16] = []
        try forEach(raw, meta) { id, value in
            if value.count >= 2, value.load(0, UInt16.self) == entity { ids.append(id) }
        }
        return ids
    }

    /// The ids of all dictionaries, of whatever entity.
    static func ids(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [UInt16] {
        var ids: [UInt16] = []
        try forEach(raw, meta) { id, _ in ids.append(id) }
        return ids
    }

    private static func forEach(_ raw: RawTransaction, _ meta: ChecksummedTable, _ body: (UInt16, Bytes) throws -> Void) throws {
        let cursor = try raw.cursor(meta.table)
        defer { cursor.close() }
        let prefix = Array(MetaKey.dictionaryPrefix.utf8)
        var entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while let (key, value) = entry, key.starts(with: prefix) {
            // Of a damaged one there is nothing but its id.
            if let id = UInt16(String(decoding: key.dropFirst(prefix.count), as: UTF8.self)) {
                try body(id, meta.content(value, key: key) ?? .empty)
            }
            entry = try cursor.next()
        }
    }

    /// Stores a dictionary, which is current from then on. Every process reads it before its next transaction, since the
    /// generation changes.
    ///
    /// - Returns: its id; nil if there are no ids left.
    static func add(_ dictionary: [UInt8], of entity: UInt16, _ raw: RawTransaction, _ meta: ChecksummedTable) throws -> UInt16? {
        // Ids are 16 bits and never reused.
        guard let id = UInt16(exactly: try raw.number(meta, key: MetaKey.nextDictionary) + 1) else { return nil }
        try raw.willAdd()
        var value = ByteWriter(capacity: dictionary.count + 2)
        value.appendLittleEndian(entity)
        value.append(dictionary)
        try key(id).withUnsafeBytes { try raw.put(meta, $0, value.bytes) }
        try raw.put(meta, key: MetaKey.nextDictionary, number: UInt64(id))
        try raw.advanceGeneration(meta)
        return id
    }

    static func key(_ id: UInt16) -> [UInt8] { Array((MetaKey.dictionaryPrefix + String(id)).utf8) }
}

extension Store {
    /// Trains a dictionary for every compressed entity that has enough rows and none yet: rows that are written from then on are
    /// stored with it. Rows are read, and the training is done, outside the write transaction. `Mirror` calls this by
    /// itself.
    ///
    /// - Returns: the entities that have a dictionary since.
    /// - Throws: what a `write` throws, `StoreError.storeFull` among it.
    @discardableResult
    public func trainDictionaries() throws -> [String] {
        var trained: [String] = []
        for entity in catalog.entities where entity.root == entity.id && entity.isCompressed {
            guard let dictionary = try trainedDictionary(entity) else { continue }
            do {
                if try add(dictionary, for: entity) { trained.append(entity.name) }
            } catch {
                // The rows are not to blame: the next call tries again.
                untrainable.withLock { $0[entity.id] = nil }
                throw error
            }
        }
        return trained
    }

    private func trainedDictionary(_ entity: Catalog.Entity) throws -> [UInt8]? {
        try read { reader in
            let access = reader.access
            guard access.state.currentDictionary(of: entity) == nil else { return nil }
            let statistics = try access.raw.statistics(access.state.records(of: entity.root))
            let pages = statistics.leafPages + statistics.overflowPages
            guard statistics.entries >= RowCompression.rowsToTrain || pages * statistics.pageSize >= RowCompression.bytesToTrain,
                // Rows that had too little in common are not looked at again before there are twice as many.
                untrainable.withLock({ statistics.entries >= 2 * ($0[entity.id] ?? 0) })
            else { return nil }
            defer { untrainable.withLock { $0[entity.id] = statistics.entries } }
            return try access.sample(of: entity).dictionary(.quick)
        }
    }

    /// False if another process was first.
    private func add(_ dictionary: [UInt8], for entity: Catalog.Entity) throws -> Bool {
        let isNew = try write(alone: true) { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            return try RowDictionary.ids(raw, meta, of: entity.id).isEmpty
                && RowDictionary.add(dictionary, of: entity.id, raw, meta) != nil
        }
        if isNew { try reload() }
        return isNew
    }
}
