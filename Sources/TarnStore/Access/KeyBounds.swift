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

    /// The bytes of every row of an entity whose key is in the range, in key order or against it, until the closure returns false.
    func forEachRow(
        _ entity: Catalog.Entity, in range: KeyRange, reversed: Bool, _ body: (Bytes, Bytes) throws -> Bool
    ) throws {
        let bounds = try KeyBounds(range, entity)
        guard !reversed, entity.members == nil, !bounds.compareWholeKeys else {
            return try walk(entity, bounds, reversed: reversed) { key, value in try lending { try body(key, value()) } }
        }
        // Pages at a time: looking at the next row is then cheaper than asking liblmdb for it.
        var pages = try ForwardScan(raw, state.records(of: entity.root), name: TableName.records(entity.root))
        try bounds.lower.withUnsafeBytes { try pages.seek($0) }
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: 32) { batch in
            while true {
                let count = try pages.fill(batch)
                guard count > 0 else { return }
                let isLast = !bounds.isBeforeUpper(batch[count - 1].key)
                for index in 0..<count {
                    let (key, row) = batch[index]
                    if isLast, !bounds.isBeforeUpper(key) { return }
                    let mark = rowMark
                    defer { release(to: mark) }
                    guard try body(key, row) else { return }
                }
                if isLast { return }
            }
        }
    }

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
