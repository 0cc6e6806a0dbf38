// Dictionaries in a store: read with the catalog, trained from its rows.

internal import LMDB

extension RowDictionary {
    /// Every dictionary of `meta`: u16 entity id, then the dictionary. One that zstd cannot use is left out; the rows that need
    /// it are named when they are read.
    static func all(_ raw: RawTransaction, _ meta: Table) throws -> [(entity: UInt16, dictionary: RowDictionary)] {
        let cursor = try raw.cursor(meta)
        defer { cursor.close() }
        var list: [(entity: UInt16, dictionary: RowDictionary)] = []
        let prefix = Array(MetaKey.dictionaryPrefix.utf8)
        var entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while let (key, value) = entry, key.starts(with: prefix) {
            if let id = UInt16(String(decoding: key.dropFirst(prefix.count), as: UTF8.self)), value.count > 2,
                let dictionary = RowDictionary(id: id, bytes: Array(value.dropFirst(2)))
            {
                list.append((value.load(0), dictionary))
            }
            entry = try cursor.next()
        }
        return list
    }
}

extension Store {
    /// Trains a dictionary for every compressed entity that has enough rows and none yet: rows that are written from then on are
    /// stored with it. Rows are read, and the training is done, outside the write transaction. `Mirror` calls this by
    /// itself.
    ///
    /// - Returns: the entities that have a dictionary since.
    @discardableResult
    public func trainDictionaries() throws -> [String] {
        var trained: [String] = []
        for entity in catalog.entities where entity.root == entity.id && entity.compression != EntityDefinition.Compression.none {
            guard let dictionary = try trainedDictionary(entity) else { continue }
            if try add(dictionary, for: entity) { trained.append(entity.name) }
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
            // Of a large table every n-th row, so that the samples are from everywhere.
            let stride = max(1, pages * statistics.pageSize / RowCompression.sampleBytes)
            var samples = ByteWriter(capacity: 1 << 20), sizes: [Int] = [], position = 0
            try access.scan(entity) { _, row in
                position += 1
                if position % stride == 0, row.body.bytes.count >= RowCompression.smallestBody {
                    samples.append(row.body.bytes)
                    sizes.append(row.body.bytes.count)
                }
                return samples.count < RowCompression.sampleBytes
            }
            // With fewer, zstd finds nothing that they have in common.
            guard sizes.count >= 50 else { return nil }
            let capacity = min(RowCompression.largestDictionary, max(4096, samples.count / 32))
            return RowDictionary.train(samples, sizes: sizes, capacity: capacity)
        }
    }

    /// False if another process was first.
    private func add(_ dictionary: [UInt8], for entity: Catalog.Entity) throws -> Bool {
        let meta = state.meta
        let isNew = try environment.write { transaction in
            let raw = transaction.raw
            guard !(try RowDictionary.all(raw, meta)).contains(where: { $0.entity == entity.id }) else { return false }
            let id = try raw.number(meta, key: MetaKey.nextDictionary) + 1
            // Ids are 16 bits and never reused.
            guard id <= UInt64(UInt16.max) else { return false }
            var key = ByteWriter(), value = ByteWriter(capacity: dictionary.count + 2)
            key.append(MetaKey.dictionaryPrefix + String(id))
            value.appendLittleEndian(entity.id)
            value.append(dictionary)
            try raw.put(meta, key.bytes, value.bytes)
            try raw.put(meta, key: MetaKey.nextDictionary, number: id)
            try raw.put(meta, key: MetaKey.generation, number: try raw.number(meta, key: MetaKey.generation) + 1)
            return true
        }
        if isNew { try reload() }
        return isNew
    }
}
