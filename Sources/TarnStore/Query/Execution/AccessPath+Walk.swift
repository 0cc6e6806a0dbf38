// Walks along an access path: entries in the order of the query, forwards or backwards.

internal import LMDB

extension AccessPath {
    /// Calls a closure with the storage key of each record of the path, until it returns false.
    ///
    /// The second argument is the row's bytes, if the walk has read them.
    ///
    /// - Parameter sort: sorts storage keys whose order the index does not know, since their values
    ///   were cut.
    func walk(
        _ access: StoreAccess, _ entity: Catalog.Entity, from start: WalkStart?,
        sorting sort: ([[UInt8]]) throws -> [[UInt8]], _ body: (Bytes, Bytes?) throws -> Bool
    ) throws {
        if isPoints { return try walkPoints(access, entity, body) }
        let cursor = try access.raw.cursor(source.table(entity, access.state))
        defer { cursor.close() }
        let scan = PathScan(path: self, cursor: cursor)
        switch direction {
        case .forward:
            for span in spans { guard try scan.forward(span, start, sort, body) else { return } }
        case .backward, .backwardByValue:
            for span in spans.reversed() { guard try scan.backward(span, start, sort, body) else { return } }
        }
    }

    private func walkPoints(
        _ access: StoreAccess, _ entity: Catalog.Entity, _ body: (Bytes, Bytes?) throws -> Bool
    ) throws {
        let table = try access.state.records(of: entity.root)
        for span in direction == .forward ? spans : spans.reversed() {
            let goesOn = try span.lower.withUnsafeBytes { key in
                guard let row = try access.records.stored(key, in: table, root: entity.root) else { return true }
                return try body(key, row)
            }
            guard goesOn else { return }
        }
    }
}

/// A walk over the table of a path.
private struct PathScan {
    let path: AccessPath
    let cursor: RawCursor
    private let isRows: Bool
    /// Whether the walk sorts entries whose values were cut.
    private let sortsCut: Bool

    init(path: AccessPath, cursor: RawCursor) {
        self.path = path
        self.cursor = cursor
        isRows = if case .rows = path.source { true } else { false }
        sortsCut = path.isOrdered && path.orderedCount > 0
    }

    private func seek(_ key: [UInt8]) throws -> RawCursor.Entry? {
        key.isEmpty ? try cursor.first() : try key.withUnsafeBytes { try cursor.seek($0) }
    }

    private func isBelow(_ key: Bytes, _ upper: [UInt8]?) -> Bool {
        guard let upper else { return true }
        return upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 }
    }

    private func give(_ entry: RawCursor.Entry, _ body: (Bytes, Bytes?) throws -> Bool) throws -> Bool {
        if isRows { return try body(entry.key, entry.value) }
        guard let owner = path.source.owner(in: entry.key) else { throw damaged }
        return try body(owner, nil)
    }

    private var damaged: StoreError {
        switch path.source {
        case .index(let index), .references(let index, _, _):
            .damagedCatalog(path: "", detail: "malformed entry in \(TableName.index(index.id))")
        case .members(let id): .damagedCatalog(path: "", detail: "malformed entry in \(TableName.index(id))")
        case .rows: .damagedCatalog(path: "", detail: "a row without a key")
        }
    }

    /// Returns the length of an entry's prefix if the index does not know its order, else 0.
    ///
    /// The prefix is the part that it shares with all others whose order is not known.
    private func cutLength(_ key: Bytes) -> Int {
        switch path.source {
        case .rows, .members: return StorageKey.isDigest(key) ? StorageKey.longest + 1 : 0
        case .references: return 0
        case .index:
            guard key.count > IndexEntry.longestValue + 1, key[IndexEntry.longestValue] == 0xFF,
                path.source.valuesLength(in: key) == IndexEntry.longestValue + 1
            else { return 0 }
            return IndexEntry.longestValue + 1
        }
    }

    // MARK: Forwards

    /// Walks over a span forwards.
    ///
    /// - Returns: false if the closure returned false.
    func forward(
        _ span: KeySpan, _ start: WalkStart?, _ sort: ([[UInt8]]) throws -> [[UInt8]],
        _ body: (Bytes, Bytes?) throws -> Bool
    ) throws -> Bool {
        var lower = span.lower
        if let start {
            let first = startKey(start, in: span).bytes
            if lower.lexicographicallyPrecedes(first) { lower = first }
        }
        var entry = try seek(lower)
        let upper = span.upper ?? [], isBounded = span.upper != nil
        return try upper.withUnsafeBytes { upper in
            while let found = entry, !isBounded || Bytes.compare(found.key, upper) < 0 {
                if sortsCut {
                    let cut = cutLength(found.key)
                    if cut > 0 {
                        let (group, behind) = try group(found, cut, span)
                        guard try give(sort(group), body) else { return false }
                        entry = behind
                        continue
                    }
                }
                guard try give(found, body) else { return false }
                entry = try cursor.next()
            }
            return true
        }
    }

    /// Returns the storage keys of the entries with the same prefix, and the entry behind them.
    private func group(
        _ first: RawCursor.Entry, _ length: Int, _ span: KeySpan
    ) throws -> (owners: [[UInt8]], behind: RawCursor.Entry?) {
        let prefix = first.key.slice(0..<length)
        var owners: [[UInt8]] = [], entry: RawCursor.Entry? = first
        while let found = entry, found.key.hasPrefix(prefix), isBelow(found.key, span.upper) {
            guard let owner = path.source.owner(in: found.key) else { throw damaged }
            owners.append(Array(owner))
            entry = try cursor.next()
        }
        return (owners, entry)
    }

    private func give(_ owners: [[UInt8]], _ body: (Bytes, Bytes?) throws -> Bool) throws -> Bool {
        for owner in owners { guard try owner.withUnsafeBytes({ try body($0, nil) }) else { return false } }
        return true
    }

    /// Returns the key of the entry at which a walk starts, or a prefix before it.
    ///
    /// The entry has the span's fixed values, the start's values and the start's storage key.
    private func startKey(_ start: WalkStart, in span: KeySpan) -> (bytes: [UInt8], isCut: Bool) {
        switch path.source {
        case .rows, .members:
            // The rows know the order among keys with the same prefix.
            if sortsCut, start.storageKey.count == StorageKey.digestLength {
                return (Array(start.storageKey.prefix(StorageKey.longest + 1)), true)
            }
            return (start.storageKey, false)
        case .references: return (span.lower + start.storageKey, false)
        case .index: break
        }
        let fixed = fixedValues(of: span), key = fixed + start.values
        // A cut entry is located behind the prefix, in an order that only the rows know. The fixed
        // values of a span were cut to the same length, so they may be as long without being whole.
        if key.count > IndexEntry.longestValue || fixed.count == IndexEntry.longestValue {
            return (Array(key.prefix(IndexEntry.longestValue)), true)
        }
        return (key + start.storageKey, false)
    }

    /// Returns the values of the components that have a single value: every span begins with them.
    private func fixedValues(of span: KeySpan) -> [UInt8] {
        span.lower.withUnsafeBytes { bytes in
            var reader = TupleReader(bytes)
            for _ in 0..<path.fixedCount { guard reader.skip() else { return Array(bytes) } }
            return Array(bytes.slice(0..<reader.offset))
        }
    }

    // MARK: Backwards

    func backward(
        _ span: KeySpan, _ start: WalkStart?, _ sort: ([[UInt8]]) throws -> [[UInt8]],
        _ body: (Bytes, Bytes?) throws -> Bool
    ) throws -> Bool {
        var upper = span.upper
        // The walk starts behind all entries with the start's values: the caller skips those
        // returned before.
        if let start {
            let (first, isCut) = startKey(start, in: span)
            var end = first
            if isCut {
                // This is behind every key with the prefix; a digest may begin with FF.
                end = first + Array(repeating: 0xFF, count: 34)
            } else if path.direction == .backward || path.componentCount == 0 {
                end = first + [0]
            } else {
                end = Array(first.dropLast(start.storageKey.count)) + [0xFF]
            }
            if upper.map({ end.lexicographicallyPrecedes($0) }) ?? true { upper = end }
        }
        let bounded = KeySpan(lower: span.lower, upper: upper)
        var entry = try last(before: upper)
        return try span.lower.withUnsafeBytes { lower in
            while let found = entry, Bytes.compare(found.key, lower) >= 0 {
                let cut = sortsCut ? cutLength(found.key) : 0
                let length =
                    cut > 0 ? cut : path.direction == .backwardByValue ? path.source.valuesLength(in: found.key) : 0
                let previous = try cursor.previous()
                guard length > 0, let before = previous,
                    isSame(before.key, found.key.slice(0..<min(length, found.key.count)), cut > 0),
                    Bytes.compare(before.key, lower) >= 0
                else {
                    guard try give(found, body) else { return false }
                    // The closure may use cursors of its own, but not this one, which is at
                    // `previous`.
                    entry = previous
                    continue
                }
                let prefix = Array(found.key.slice(0..<length))
                guard let first = try seek(prefix) else { return true }
                if cut > 0 {
                    let (owners, _) = try group(first, length, bounded)
                    guard try give(sort(owners), body) else { return false }
                } else {
                    guard try forwardGroup(first, prefix, start, bounded, body) else { return false }
                }
                _ = try seek(prefix)
                entry = try cursor.previous()
            }
            return true
        }
    }

    private func isSame(_ key: Bytes, _ prefix: Bytes, _ isCut: Bool) -> Bool {
        isCut ? key.hasPrefix(prefix) : IndexEntry.begins(key, with: prefix)
    }

    /// Walks over the entries with the same values, in the order of their keys.
    private func forwardGroup(
        _ first: RawCursor.Entry, _ prefix: [UInt8], _ start: WalkStart?, _ span: KeySpan,
        _ body: (Bytes, Bytes?) throws -> Bool
    ) throws -> Bool {
        var entry: RawCursor.Entry? = first
        // In the group of the start, a seek skips the entries returned before.
        if let start {
            let (key, isCut) = startKey(start, in: span)
            if !isCut, key.count > prefix.count, begins(key, with: prefix) { entry = try seek(key) }
        }
        return try prefix.withUnsafeBytes { prefix in
            while let found = entry, IndexEntry.begins(found.key, with: prefix) {
                guard try give(found, body) else { return false }
                entry = try cursor.next()
            }
            return true
        }
    }

    private func begins(_ key: [UInt8], with values: [UInt8]) -> Bool {
        key.withUnsafeBytes { key in values.withUnsafeBytes { IndexEntry.begins(key, with: $0) } }
    }

    private func last(before upper: [UInt8]?) throws -> RawCursor.Entry? {
        guard let upper else { return try cursor.last() }
        return try seek(upper) == nil ? cursor.last() : cursor.previous()
    }
}
