// Dictionaries in a store: loaded with the catalog, trained from its rows.

internal import LMDB

extension RowDictionary {
    /// Reads every dictionary from `meta`. Layout of a value: u16 entity id, dictionary.
    /// A dictionary that zstd cannot use is left out. Rows that need it fail when they are read,
    /// with its id in the error.
    static func all(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [(
        entity: UInt16, dictionary: RowDictionary
    )] {
        var list: [(entity: UInt16, dictionary: RowDictionary)] = []
        try forEach(raw, meta) { id, value in
            guard value.count > 2, let dictionary = RowDictionary(id: id, bytes: Array(value.dropFirst(2))) else {
                return
            }
            list.append((value.load(0), dictionary))
        }
        return list
    }

    /// Returns the ids of an entity's dictionaries without loading them.
    static func ids(_ raw: RawTransaction, _ meta: ChecksummedTable, of entity: UInt16) throws -> [UInt16] {
        var ids: [UInt16] = []
        try forEach(raw, meta) { id, value in
            if value.count >= 2, value.load(0, UInt16.self) == entity { ids.append(id) }
        }
        return ids
    }

    /// Returns the ids of the dictionaries of all entities.
    static func ids(_ raw: RawTransaction, _ meta: ChecksummedTable) throws -> [UInt16] {
        var ids: [UInt16] = []
        try forEach(raw, meta) { id, _ in ids.append(id) }
        return ids
    }

    private static func forEach(_ raw: RawTransaction, _ meta: ChecksummedTable, _ body: (UInt16, Bytes) throws -> Void)
        throws
    {
        let cursor = try raw.cursor(meta.table)
        defer { cursor.close() }
        let prefix = Array(MetaKey.dictionaryPrefix.utf8)
        var entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while let (key, value) = entry, key.starts(with: prefix) {
            // If the value is damaged, only the id is known.
            if let id = UInt16(String(decoding: key.dropFirst(prefix.count), as: UTF8.self)) {
                try body(id, meta.content(value, key: key) ?? .empty)
            }
            entry = try cursor.next()
        }
    }

    /// Stores a dictionary, which becomes the current one.
    /// The generation changes, so every process loads the dictionary before its next transaction.
    ///
    /// - Returns: The id of the dictionary; nil if all ids are used up.
    static func add(_ dictionary: [UInt8], of entity: UInt16, _ raw: RawTransaction, _ meta: ChecksummedTable) throws
        -> UInt16?
    {
        // Ids have 16 bits and are never reused.
        guard let id = UInt16(exactly: try raw.nextNumber(meta, key: MetaKey.nextDictionary)) else { return nil }
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
    /// Trains a dictionary for every compressed entity that has enough rows and no dictionary yet.
    ///
    /// Rows that are written afterwards are compressed with it. Reading rows and training happen
    /// outside the write transaction. `APIMirror` calls this method automatically.
    ///
    /// - Returns: The names of the entities for which this call stored a dictionary.
    /// - Throws: The errors of `write`, including `StoreWriteError.storeFull`.
    @discardableResult
    public func trainDictionaries() throws -> [String] {
        var trained: [String] = []
        for entity in catalog.entities where entity.root == entity.id && entity.isCompressed {
            guard let dictionary = try trainedDictionary(entity) else { continue }
            do {
                if try add(dictionary, for: entity) { trained.append(entity.name) }
            } catch {
                // The failure is not due to the rows, so the next call trains again.
                untrainable.withLock { $0[entity.id] = nil }
                throw error
            }
        }
        return trained
    }

    /// The number of rows that an import should commit first, so that the others are compressed
    /// with a dictionary.
    ///
    /// - Returns: nil if the rows are not compressed, or have a dictionary.
    package func rowsToTrain(of entity: String) throws -> Int? {
        try read { reader in
            let access = reader.access, catalog = access.catalog
            guard let root = catalog.entity(entity).flatMap({ catalog.entity(id: $0.root) }), root.isCompressed,
                access.state.currentDictionary(of: root) == nil
            else { return nil }
            return RowCompression.rowsToTrain
        }
    }

    /// Whether this much suffices for an entity's first dictionary.
    package static func isEnoughToTrain(rows: Int, bytes: Int) -> Bool {
        rows >= RowCompression.rowsToTrain || bytes >= RowCompression.bytesToTrain
    }

    /// The roots of the entities whose rows are compressed, and have no dictionary yet.
    package func rootsToTrain() throws -> [UInt16] {
        try read { reader in
            let access = reader.access
            return access.catalog.entities.filter { entity in
                entity.root == entity.id && entity.isCompressed && access.state.currentDictionary(of: entity) == nil
            }.map(\.id)
        }
    }

    /// Trains a dictionary from rows that are about to be written, if they suffice: alone, or
    /// beside others that do.
    ///
    /// - Parameters:
    ///   - root: the id of an entity without a parent.
    ///   - count: the number of the rows.
    ///   - bytes: their total size.
    ///   - body: returns the body of a row; nil if it is not of the entity.
    /// - Returns: whether this call stored a dictionary.
    package func trainDictionary(
        ofRoot root: UInt16, count: Int, bytes: Int, body: (Int) -> RowBody?
    ) throws -> Bool {
        let isEnoughBesideOthers =
            count >= RowCompression.rowsToTrainBesideOthers && bytes >= RowCompression.bytesToTrainBesideOthers
        guard isEnoughBesideOthers || Store.isEnoughToTrain(rows: count, bytes: bytes),
            let entity = catalog.entity(id: root)
        else { return false }
        var sample = RowSample()
        for index in 0..<count where sample.wantsNext() {
            if let body = body(index) { sample.add(body) }
        }
        guard let dictionary = sample.dictionary(.quick) else { return false }
        return try add(dictionary, for: entity)
    }

    private func trainedDictionary(_ entity: Catalog.Entity) throws -> [UInt8]? {
        try read { reader in
            let access = reader.access
            guard access.state.currentDictionary(of: entity) == nil else { return nil }
            let statistics = try access.raw.statistics(access.state.records(of: entity.root))
            let pages = statistics.leafPages + statistics.overflowPages
            guard
                statistics.entries >= RowCompression.rowsToTrain
                    || pages * statistics.pageSize >= RowCompression.bytesToTrain,
                // Training failed for lack of common content: wait until the entity has twice as
                // many rows.
                untrainable.withLock({ statistics.entries >= 2 * ($0[entity.id] ?? 0) })
            else { return nil }
            defer { untrainable.withLock { $0[entity.id] = statistics.entries } }
            return try access.records.sample(of: entity).dictionary(.quick)
        }
    }

    /// Stores a dictionary. Returns false if another process stored one first.
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
