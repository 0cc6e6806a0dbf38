// The upgrade of a store from an earlier format to the current one.

internal import LMDB

extension Store {
    /// Upgrades the store to the format of this version, in one transaction.
    ///
    /// Records, versions, responses, bodies and changes are preserved. Other processes that have
    /// the store open use the new format from their next transaction on. Programs of earlier
    /// versions refuse the store from then on.
    ///
    /// - Returns: whether the store had an earlier format.
    @discardableResult
    func upgradeFormat() throws -> Bool {
        guard state.format < Store.format else { return false }
        var isDone = false
        try inWriteTransaction { transaction, state in
            guard state.format < Store.format else { return }
            try FormatUpgrade(raw: transaction.raw, old: state).run()
            isDone = true
        }
        try reload()
        return isDone
    }
}

extension Store {
    /// Makes the features of this version usable in a store of its format, for rows that are
    /// written from now on. Programs of earlier versions refuse the store then.
    func addFeatures() throws {
        guard state.format == Store.format, !state.features.isSuperset(of: StoreFeature.all) else { return }
        try inWriteTransaction { transaction, state in
            guard state.format == Store.format, !state.features.isSuperset(of: StoreFeature.all) else { return }
            let raw = transaction.raw
            try raw.willAdd()
            try raw.put(
                state.meta, key: MetaKey.features, text: StoreFeature.text(state.features.union(StoreFeature.all)))
            try raw.advanceGeneration(state.meta)
        }
        try reload()
    }
}

/// The upgrade of a store within a write transaction.
private struct FormatUpgrade {
    let raw: RawTransaction
    let old: StoreState

    /// The size of a batch of entries that are read and written together, in bytes.
    private static let batchBytes = 4 << 20

    private func new(_ table: ChecksummedTable) -> ChecksummedTable {
        ChecksummedTable(table.table, table.name, format: Store.format)
    }

    func run() throws {
        try raw.willAdd()
        let bodies = try bodySizes()
        for table in [old.changes, old.edges, old.scans].compactMap(\.self) { try convert(table) }
        try convertRequests()
        for (id, size) in bodies { try convertBody(of: id, size) }
        try convertSettings()
    }

    /// Appends a checksum to every value of a table.
    private func convert(_ table: ChecksummedTable) throws {
        let converted = new(table)
        var last: [UInt8]?
        while true {
            let batch = try entries(of: table.table, after: last)
            guard let end = batch.last else { return }
            for (key, value) in batch { try raw.put(converted, key, value) }
            last = end.key
        }
    }

    private func entries(of table: Table, after last: [UInt8]?) throws -> [(key: [UInt8], value: [UInt8])] {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var batch: [(key: [UInt8], value: [UInt8])] = [], bytes = 0
        var entry = try cursor.seek(last ?? [])
        if let key = entry?.key, let last, key.elementsEqual(last) { entry = try cursor.next() }
        while let (key, value) = entry, bytes < FormatUpgrade.batchBytes {
            batch.append((Array(key), Array(value)))
            bytes += key.count + value.count
            entry = try cursor.next()
        }
        return batch
    }

    /// Rebuilds the table of requests from the responses: keys of format 1 have another form.
    private func convertRequests() throws {
        let requests = new(old.requests)
        try raw.removeAll(old.requests)
        try ResponseTable(raw, old).forEach { view in
            guard let entry = view.entry else { return true }
            try entry.request.digest.withKey(format: Store.format) { digest in
                try withUnsafeBytes(of: view.id.bigEndian) { try raw.put(requests, digest, $0) }
            }
            return true
        }
    }

    private func bodySizes() throws -> [(id: UInt64, size: Int)] {
        guard old.bodies != nil else { return [] }
        var sizes: [(id: UInt64, size: Int)] = []
        try ResponseTable(raw, old).forEach { view in
            if let size = view.bodySize { sizes.append((view.id, size)) }
            return true
        }
        return sizes
    }

    /// Divides a body into new chunks: chunks with a checksum have room for fewer bytes.
    private func convertBody(of id: UInt64, _ size: Int) throws {
        guard let bodies = old.bodies else { return }
        let responses = ResponseTable(raw, old)
        guard let body = try responses.body(of: id, 0..<size) else {
            throw StoreError.damagedEntry(table: TableName.bodies, key: String(id))
        }
        try responses.removeBody(of: id, size: size)
        try ResponseBody.put(body, of: id, new(bodies), format: Store.format, raw)
    }

    private func convertSettings() throws {
        let meta = new(old.meta), generation = try raw.number(old.meta, key: MetaKey.generation)
        var counters: [(StaticString, UInt64)] = []
        for key in MetaKey.counters { counters.append((key, try raw.number(old.meta, key: key))) }
        try convert(old.meta)
        for (key, number) in counters { try raw.put(meta, key: key, number: number) }
        try raw.put(meta, key: MetaKey.generation, number: generation &+ 1)
        try raw.put(meta, key: MetaKey.format, text: String(Store.format))
    }
}
