// A range of keys as bytes, and the one walk over a table between them, in both directions.

internal import LMDB

/// The bytes between which the storage keys of a range lie.
struct KeyBounds {
    /// Included.
    private(set) var lower: [UInt8] = []
    /// Excluded; nil for no bound.
    private(set) var upper: [UInt8]?
    /// Bounds that are longer than what a storage key shows of a key: rows of long keys with the same beginning are compared
    /// by their whole keys.
    private var exactLower: [UInt8]?, exactUpper: (bytes: [UInt8], isIncluded: Bool)?

    init(_ range: KeyRange, _ entity: Catalog.Entity) throws(StoreError) {
        if let key = range.lower {
            let bytes = try KeyBounds.encode(key, entity)
            lower = Array(bytes.prefix(StorageKey.longest))
            if bytes.count > StorageKey.longest { exactLower = bytes }
        }
        switch range.upper {
        case .none: break
        case .excluded(let key): try setUpper(KeyBounds.encode(key, entity), isIncluded: false)
        case .included(let key): try setUpper(KeyBounds.encode(key, entity), isIncluded: true)
        }
    }

    private mutating func setUpper(_ bytes: [UInt8], isIncluded: Bool) {
        guard bytes.count > StorageKey.longest else {
            // No element begins with FF: what goes on with it is a text that goes on with an escaped NUL.
            upper = isIncluded ? bytes + [0xFF] : bytes
            return
        }
        upper = KeyBounds.successor(Array(bytes.prefix(StorageKey.longest)))
        exactUpper = (bytes, isIncluded)
    }

    private static func encode(_ key: RecordKey, _ entity: Catalog.Entity) throws(StoreError) -> [UInt8] {
        let types = entity.keyTypes
        let fits = key.components.count <= types.count && zip(types, key.components).allSatisfy { type, component in
            switch (type, component) {
            case (.int, .int), (.string, .string), (.uuid, .uuid): true
            default: false
            }
        }
        guard fits else { throw .wrongKey(entity: entity.name, expected: entity.keyForm, found: key.description) }
        return wholeEncoding(key)
    }

    private static func wholeEncoding(_ key: RecordKey) -> [UInt8] {
        var writer = ByteWriter()
        for component in key.components { writer.appendTuple(component) }
        return Array(writer.bytes)
    }

    /// The least bytes that are greater than everything that begins with these; nil if there are none.
    private static func successor(_ bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        while let last = result.popLast() {
            if last < 0xFF { return result + [last + 1] }
        }
        return nil
    }

    func isBeforeUpper(_ key: Bytes) -> Bool {
        upper.map { upper in upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 } } ?? true
    }

    func isFromLower(_ key: Bytes) -> Bool { lower.withUnsafeBytes { Bytes.compare(key, $0) >= 0 } }

    /// Whether a bound is longer than what a storage key shows.
    var compareWholeKeys: Bool { exactLower != nil || exactUpper != nil }

    /// Whether only the whole key of a row can tell if it is in the range.
    func needsWholeKey(_ storageKey: Bytes) -> Bool {
        guard exactLower != nil || exactUpper != nil, StorageKey.isDigest(storageKey) else { return false }
        let start = storageKey.slice(0..<StorageKey.longest)
        return [exactLower, exactUpper?.bytes].contains { $0?.starts(with: start) ?? false }
    }

    func contains(_ key: RecordKey) -> Bool {
        let bytes = KeyBounds.wholeEncoding(key)
        func order(_ bound: [UInt8]) -> Int { bytes.withUnsafeBytes { a in bound.withUnsafeBytes { Bytes.compare(a, $0) } } }
        if let exactLower, order(exactLower) < 0 { return false }
        if let exactUpper {
            return order(exactUpper.isIncluded ? exactUpper.bytes + [0xFF] : exactUpper.bytes) < 0
        }
        return true
    }
}

extension StoreAccess {
    /// Every row of an entity whose key is in the range, in key order or against it, until the closure returns false.
    func scan(
        _ entity: Catalog.Entity, in range: KeyRange, reversed: Bool, _ body: (Bytes, RowView) throws -> Bool
    ) throws {
        try walk(entity, in: range, reversed: reversed) { key, value in
            try lending { try body(key, view(value(), entity, key)) }
        }
    }

    /// The number of records of an entity whose key is in the range. Walks over them, except for `.all`.
    func count(_ entity: Catalog.Entity, in range: KeyRange) throws -> Int {
        if range == .all { return try count(entity) }
        var count = 0
        try walk(entity, in: range, reversed: false) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// The rows of an entity whose key is in the range, in key order or against it, several at a time, until the closure returns false.
    ///
    /// Rows are looked at together and handed over afterwards: the processor waits for the memory of all of them at once, and a row that is
    /// copied as soon as it was put together would wait for itself.
    func forEachRow(
        _ plan: Unmanaged<RowPlan>, in range: KeyRange, reversed: Bool, _ body: (UnsafeBufferPointer<LentRow>) throws -> Bool
    ) throws {
        let (bounds, hasOwnTree) = try plan._withUnsafeGuaranteedRef { try (KeyBounds(range, $0.entity), $0.entity.members == nil) }
        /// A row that is compressed, damaged, or of another entity of the tree.
        func alone(_ key: Bytes, _ value: Bytes) throws -> Bool {
            try lending {
                let entity = plan._withUnsafeGuaranteedRef { $0.entity }
                let row = try dividedView(value, entity, key)
                guard try row.entity == entity.id || isOf(entity, row) else { return true }
                return try withUnsafePointer(to: lent(row, plan, key)) { try body(UnsafeBufferPointer(start: $0, count: 1)) }
            }
        }
        guard !reversed, hasOwnTree, !bounds.compareWholeKeys else {
            let entity = plan._withUnsafeGuaranteedRef { $0.entity }
            return try walk(entity, bounds, reversed: reversed) { key, value in try alone(key, value()) }
        }
        let context = LentContext(raw: raw, plan: plan, rows: self.rows)
        let (id, table, root) = plan._withUnsafeGuaranteedRef { ($0.entityID, $0.table, $0.entity.root) }
        try withUnsafeTemporaryAllocation(of: LentRow.self, capacity: StoreAccess.rowsAtOnce) { rows in
            try forEachEntry(table, root, bounds) { entries in
                var count = 0
                for (key, value) in entries {
                    if let row = RowView(value), row.entity == id, let lent = LentRow(row, context) {
                        rows.initializeElement(at: count, to: lent)
                        count += 1
                        continue
                    }
                    guard try count == 0 || body(UnsafeBufferPointer(rebasing: rows[..<count])) else { return false }
                    count = 0
                    guard try alone(key, value) else { return false }
                }
                return try count == 0 || body(UnsafeBufferPointer(rebasing: rows[..<count]))
            }
        }
    }

    /// Entries of a tree from the lower bound to the upper one: a few first, for who wants no more, then more at a time.
    private func forEachEntry(
        _ table: Table, _ root: UInt16, _ bounds: KeyBounds, _ body: (Slice<UnsafeMutableBufferPointer<RawCursor.Entry>>) throws -> Bool
    ) throws {
        // Along pages: looking at the next row is then cheaper than asking liblmdb for it.
        var pages = try ForwardScan(raw, table, name: TableName.records(root))
        try bounds.lower.withUnsafeBytes { try pages.seek($0) }
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: StoreAccess.rowsAtOnce) { batch in
            var size = StoreAccess.rowsAtFirst
            while true {
                let count = try pages.fill(UnsafeMutableBufferPointer(rebasing: batch[..<size]))
                guard count > 0 else { return }
                var inside = count
                while inside > 0, !bounds.isBeforeUpper(batch[inside - 1].key) { inside -= 1 }
                guard try body(batch[..<inside]), inside == count else { return }
                size = min(2 * size, StoreAccess.rowsAtOnce)
            }
        }
    }

    private static let rowsAtFirst = 4, rowsAtOnce = 32

    private func walk(
        _ entity: Catalog.Entity, in range: KeyRange, reversed: Bool, _ body: (Bytes, () throws -> Bytes) throws -> Bool
    ) throws {
        try walk(entity, KeyBounds(range, entity), reversed: reversed, body)
    }

    private func walk(
        _ entity: Catalog.Entity, _ bounds: KeyBounds, reversed: Bool, _ body: (Bytes, () throws -> Bytes) throws -> Bool
    ) throws {
        let source = try EntityCursor(self, entity), cursor = source.cursor
        defer { source.close() }
        var entry = try reversed ? last(cursor, bounds) : first(cursor, bounds)
        while let (key, value) = entry {
            guard reversed ? bounds.isFromLower(key) : bounds.isBeforeUpper(key) else { return }
            if try !bounds.needsWholeKey(key) || isInside(bounds, entity, key, source.row(key, value)) {
                guard try body(key, { try source.row(key, value) }) else { return }
            }
            entry = try reversed ? cursor.previous() : cursor.next()
        }
    }

    private func first(_ cursor: RawCursor, _ bounds: KeyBounds) throws -> RawCursor.Entry? {
        if bounds.lower.isEmpty { return try cursor.first() }
        return try bounds.lower.withUnsafeBytes { try cursor.seek($0) }
    }

    /// The last entry before the upper bound.
    private func last(_ cursor: RawCursor, _ bounds: KeyBounds) throws -> RawCursor.Entry? {
        guard let upper = bounds.upper else { return try cursor.last() }
        let behind = try upper.withUnsafeBytes { try cursor.seek($0) }
        return behind == nil ? try cursor.last() : try cursor.previous()
    }

    private func isInside(_ bounds: KeyBounds, _ entity: Catalog.Entity, _ key: Bytes, _ value: Bytes) throws -> Bool {
        try lending {
            guard let whole = try view(value, entity, key).body.key(of: entity) else {
                throw StoreError.damagedRow(entity: entity.name, key: describe(key))
            }
            return bounds.contains(whole)
        }
    }
}
