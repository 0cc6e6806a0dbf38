// The table of local changes.

internal import LMDB

/// The table of the marks of local changes in a transaction.
package struct LocalChangeTable {
    private let raw: RawTransaction
    private let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// Whether any record is marked: without marks, all other checks are skipped.
    package var hasMarks: Bool {
        get throws { try state.local.map { try raw.statistics($0).entries > 0 } ?? false }
    }

    private func key(_ root: UInt16, _ storageKey: Bytes) -> [UInt8] {
        withUnsafeBytes(of: root.bigEndian) { Array($0) } + Array(storageKey)
    }

    package func mark(_ root: UInt16, _ storageKey: Bytes) throws -> LocalMark? {
        guard let table = state.local else { return nil }
        return try key(root, storageKey).withUnsafeBytes { key in
            try raw.systemRow(of: key, in: table, "local").map { try decoded($0, key) }
        }
    }

    /// Decodes a mark. One that cannot be read is an error: without it, a response would overwrite
    /// the local values.
    private func decoded(_ row: EncodedRow, _ key: Bytes) throws(StoreError) -> LocalMark {
        guard key.count > 2, let mark = LocalMark(row) else {
            throw .damagedEntry(table: TableName.local, key: RecordKey.describe(storageKey: key))
        }
        return mark
    }

    func put(_ mark: LocalMark, _ root: UInt16, _ storageKey: Bytes, sequence: UInt64) throws {
        let table = try state.localTable()
        try key(root, storageKey).withUnsafeBytes { try mark.store(raw, table, $0, sequence: sequence) }
    }

    func remove(_ root: UInt16, _ storageKey: Bytes) throws -> Bool {
        guard let table = state.local else { return false }
        return try raw.delete(table, key(root, storageKey))
    }

    /// Removes the marks of an entity that is removed; of a root, those of its whole tree.
    func removeAll(of entity: Catalog.Entity) throws {
        guard let table = state.local else { return }
        let prefix = withUnsafeBytes(of: entity.root.bigEndian) { Array($0) }, cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.seek(prefix)
        while let (key, value) = entry, key.starts(with: prefix) {
            let isOfEntity =
                try entity.root == entity.id
                || decoded(raw.systemRow(value, "local", key), key).entity == entity.id
            if isOfEntity { try cursor.delete() }
            entry = try cursor.next()
        }
    }

    func forEach(_ body: (LocalChange) throws -> Bool) throws {
        guard let table = state.local else { return }
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            let mark = try decoded(raw.systemRow(value, "local", key), key)
            if let change = mark.change(key.slice(2..<key.count), state.catalog), try !body(change) { return }
            entry = try cursor.next()
        }
    }

    /// Whether a listed record has local changes that have not reached the server.
    package func contains(_ listed: ListedRecord) throws -> Bool {
        try listed.storageKey.withUnsafeBytes { try mark(listed.entity, $0) != nil }
    }
}

extension StoreAccess {
    /// The mark of a record; nil if it has no local changes.
    func mark(of record: ListedRecord) throws -> LocalMark? {
        try record.storageKey.withUnsafeBytes { try localChanges.mark(record.entity, $0) }
    }
}
