// The rows of the entities: every path to the bytes of a row.

internal import LMDB

/// The tables of the entities' rows in a transaction. An inheritance tree shares one table.
package struct RecordTable {
    let raw: RawTransaction
    let state: StoreState
    /// Nil if the store has no dictionaries.
    private let context: RowContext?
    /// The context for views that must avoid reference counting. The transaction retains it.
    let rows: Unmanaged<RowContext>?
    let verification: RowVerification

    init(_ raw: RawTransaction, _ state: StoreState, _ context: RowContext?, _ verification: RowVerification) {
        self.verification = verification
        self.raw = raw
        self.state = state
        self.context = context
        rows = context.map(Unmanaged.passUnretained)
    }

    private var catalog: Catalog { state.catalog }

    func describe(_ key: Bytes) -> String { RecordKey.describe(storageKey: key) }

    /// Runs a closure. Rows that it reads are valid until it returns.
    /// Every step of an iteration and every single operation needs one. Otherwise decompressed rows
    /// accumulate until the transaction ends.
    func lending<Result>(_ body: () throws -> Result) rethrows -> Result {
        let mark = rowMark
        defer { release(to: mark) }
        return try body()
    }

    /// The mark for mutating functions, which cannot use `lending`.
    /// Rows that are read after taking it are valid until `release`.
    var rowMark: Int { rows?._withUnsafeGuaranteedRef { $0.mark } ?? 0 }
    func release(to mark: Int) { rows?._withUnsafeGuaranteedRef { $0.release(to: mark) } }

    /// Compresses a body with the dictionary of its entity, as small as possible, and appends it.
    /// Nil if the body stays uncompressed; nothing is appended then.
    func compress(_ body: RowBody, of entity: Catalog.Entity, into writer: inout ByteWriter) -> (
        form: UInt8, dictionary: UInt16
    )? {
        !entity.isCompressed
            ? nil : compress(body, ofRoot: entity.root, from: RowCompression.smallestBody, .thorough, into: &writer)
    }

    /// Compresses the body of a row that is being written, for an entity known to be compressed.
    func compressWritten(_ body: RowBody, ofRoot root: UInt16, into writer: inout ByteWriter) -> (
        form: UInt8, dictionary: UInt16
    )? {
        compress(body, ofRoot: root, from: RowCompression.smallestWritten, .quick, into: &writer)
    }

    private func compress(
        _ body: RowBody, ofRoot root: UInt16, from smallest: Int, _ effort: RowDictionary.Effort,
        into writer: inout ByteWriter
    ) -> (form: UInt8, dictionary: UInt16)? {
        guard body.bytes.count >= smallest, let context, let dictionary = state.currentDictionary(ofRoot: root)
        else { return nil }
        let form = context.compress(body, dictionary, effort, isPacking: state.packsDirectories, into: &writer)
        return form.map { ($0, dictionary.id) }
    }

    /// Returns the row of a record. Nil if there is none, or if it is of another entity.
    /// Valid until the enclosing `lending` closure returns.
    ///
    /// - Throws: `.damagedRow` if the stored bytes are no row.
    package func row(_ entity: Catalog.Entity, _ key: Bytes) throws -> EncodedRow? {
        guard let bytes = try stored(key, in: state.records(of: entity.root), root: entity.root) else { return nil }
        let row = try view(bytes, entity, key)
        return try isOf(entity, row) ? row : nil
    }

    /// Returns the stored bytes of a row; nil if there is none.
    ///
    /// If a snapshot looks many rows up one by one, they are found along the pages.
    func stored(_ key: Bytes, in table: Table, root: UInt16) throws(LMDBError) -> Bytes? {
        try raw.get(table, key, name: TableName.records(root))
    }

    /// Returns whether a row of the root's table belongs to an entity or to one of its descendants.
    ///
    /// - Throws: `.damagedRow` if its entity does not belong to this table.
    @inline(__always)
    func isOf(_ entity: Catalog.Entity, _ row: EncodedRow) throws(StoreError) -> Bool {
        if row.entity == entity.id { return true }
        return try isOfAnotherKind(entity, row)
    }

    private func isOfAnotherKind(_ entity: Catalog.Entity, _ row: EncodedRow) throws(StoreError) -> Bool {
        guard catalog.entity(id: row.entity)?.root == entity.root else {
            throw .damagedRow(
                entity: entity.name, key: row.body.key(of: entity)?.description ?? "with an unreadable key")
        }
        return catalog.isKind(row.entity, of: entity.id)
    }

    /// Returns whether a record of an entity has a value of a field.
    func hasValues(of field: UInt16, _ entity: Catalog.Entity) throws -> Bool {
        var isFound = false
        try scan(entity, from: []) { _, row in
            isFound = row.body.value(of: field).map { !$0.isNull } ?? false
            return !isFound
        }
        return isFound
    }

    /// Verifies the checksum of a row, if this access verifies rows of this kind.
    ///
    /// - Parameter borrowed: Whether the row is borrowed instead of copied.
    /// - Returns: False if the row is damaged.
    @inline(__always)
    func isSound(_ bytes: Bytes, root: UInt16, _ key: Bytes, borrowed: Bool = false) -> Bool {
        !(borrowed ? verification.borrowed : verification.copied)
            || EncodedRow.hasValidChecksum(bytes, table: UInt32(root), key: key)
    }

    /// Returns a row with its whole body.
    ///
    /// - Throws: `.damagedRow`, `.damagedDictionary`.
    func view(_ bytes: Bytes, _ entity: Catalog.Entity, _ key: Bytes) throws(StoreError) -> EncodedRow {
        do throws(RowDamage) {
            guard isSound(bytes, root: entity.root, key) else { throw .row }
            return try uncheckedView(bytes)
        } catch {
            throw error.storeError(entity.name, key)
        }
    }

    private func uncheckedView(_ bytes: Bytes) throws(RowDamage) -> EncodedRow {
        if let row = EncodedRow(bytes) { return row }
        guard let body = try lend(bytes).pointee.whole(), let row = EncodedRow(bytes, body: body) else { throw .row }
        return row
    }

    /// Returns a row whose long values are decompressed on first access, if it is divided.
    /// If decompression fails, the long values appear absent and `RowBody.isDamaged` is true.
    /// Callers that need the whole row use `view`.
    @inline(__always)
    func dividedView(
        _ bytes: Bytes, root: UInt16, _ key: Bytes, borrowed: Bool = false
    ) throws(RowDamage) -> EncodedRow {
        guard isSound(bytes, root: root, key, borrowed: borrowed) else { throw .row }
        return try checkedDividedView(bytes)
    }

    /// Returns a row as `dividedView` does, without verifying its checksum again.
    @inline(__always)
    func checkedDividedView(_ bytes: Bytes) throws(RowDamage) -> EncodedRow {
        if let row = EncodedRow(bytes) { return row }
        return try compressedView(bytes)
    }

    /// Returns a row as `checkedDividedView` does, if nothing of it has to be decompressed now;
    /// otherwise, or if it is damaged, nil.
    @inline(__always)
    func lazyView(_ bytes: Bytes) -> EncodedRow? {
        if let row = EncodedRow(bytes) { return row }
        guard bytes.count > RowFormat.headerSize, RowFormat.isDivided(form: bytes[2]) else { return nil }
        return try? compressedView(bytes)
    }

    @inline(never)
    private func compressedView(_ bytes: Bytes) throws(RowDamage) -> EncodedRow {
        guard bytes.count > RowFormat.headerSize, RowFormat.isDivided(form: bytes[2]) else {
            return try uncheckedView(bytes)
        }
        let lent = try lend(bytes)
        guard let row = EncodedRow(bytes, body: bytes.slice(RowFormat.headerSize..<bytes.count), lent: lent) else {
            throw .row
        }
        return row
    }

    private func lend(_ bytes: Bytes) throws(RowDamage) -> UnsafeMutablePointer<DecompressedBody> {
        guard let id = EncodedRow.dictionary(of: bytes) else { throw .row }
        guard let rows, let dictionary = state.dictionary(id) else { throw .dictionary(id) }
        return rows._withUnsafeGuaranteedRef { $0.lend(row: bytes, dictionary) }
    }

    /// Returns the number of records of an entity.
    package func count(_ entity: Catalog.Entity) throws -> Int {
        try raw.statistics(entity.members.map { try state.index($0) } ?? state.records(of: entity.root)).entries
    }

    /// Iterates over the rows of an entity in key order, until the closure returns false.
    ///
    /// - Parameter start: The storage key at or after which the iteration begins.
    package func scan(
        _ entity: Catalog.Entity, from start: [UInt8] = [], _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        let source = try EntityCursor(self, entity)
        defer { source.close() }
        var entry = start.isEmpty ? try source.cursor.first() : try start.withUnsafeBytes { try source.cursor.seek($0) }
        while let (key, value) = entry {
            guard try lending({ try body(key, view(source.row(key, value), entity, key)) }) else { return }
            entry = try source.cursor.next()
        }
    }
}
