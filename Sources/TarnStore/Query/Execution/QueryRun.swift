// Execution of a compiled query along its chosen access path.

internal import LMDB

/// A run of a query.
///
/// It is a class, since closures capture it and its many fields are reference-counted.
final class QueryRun {
    let access: StoreAccess
    let query: CompiledQuery
    let chosen: QueryAccess
    let evaluation: QueryEvaluation
    private let isUnfiltered: Bool
    /// The ids of the descendant entities, whose records belong to the query's entity, too.
    private let kinds: [UInt16]

    convenience init(_ access: StoreAccess, _ query: CompiledQuery, for purpose: QueryPlanner.Purpose = .records) throws
    {
        let planner = try QueryPlanner(access, query, for: purpose)
        try self.init(access, planner.query, planner.choose())
    }

    init(_ access: StoreAccess, _ query: CompiledQuery, _ chosen: QueryAccess) throws {
        self.access = access
        self.query = query
        self.chosen = chosen
        let catalog = access.catalog, id = query.entity.id
        kinds = catalog.entities.indices.compactMap { index in
            guard catalog.entities[index].root == query.entity.root, catalog.entities[index].id != id,
                catalog.isKind(catalog.entities[index].id, of: id)
            else { return nil }
            return catalog.entities[index].id
        }
        let filter = QueryFilter(chosen.residual, query.places)
        isUnfiltered = filter.isEmpty
        evaluation = QueryEvaluation(access, query.places, filter)
    }

    /// Calls a closure with the storage key and the row of each record of the result, in its order.
    ///
    /// It stops when the closure returns false.
    func forEach(_ body: (Bytes, EncodedRow) throws -> Bool) throws {
        guard query.limit > 0 else { return }
        switch chosen.form {
        case .nothing: return
        case .path(let path) where chosen.isOrdered: try forEachOrdered(path, body)
        default: try forEachSorted(body)
        }
    }

    /// Returns the row of a record if it is in the result.
    ///
    /// The row is valid until the `lending` closure around the call returns.
    @inline(__always)
    func admitted(_ key: Bytes, _ bytes: Bytes) throws -> EncodedRow? {
        // This check comes first: the decision to skip a row reads its header.
        guard bytes.count >= RowFormat.headerSize, access.records.isSound(bytes, root: query.entity.root, key) else {
            throw damaged(key)
        }
        if query.partials != .included, (bytes[1] & RowFormat.partial != 0) != (query.partials == .only) { return nil }
        // The header is never compressed, so rows of other entities are skipped without
        // decompression.
        let kind = bytes.load(6, UInt16.self)
        if kind != query.entity.id, !kinds.contains(kind) {
            guard access.catalog.entity(id: kind)?.root == query.entity.root else { throw damaged(key) }
            return nil
        }
        let row: EncodedRow
        do {
            row = try access.records.checkedDividedView(bytes)
        } catch {
            throw error.storeError(query.entity.name, key)
        }
        evaluation.begin()
        let isMet = try isUnfiltered || evaluation.admits(key, row.body)
        if row.body.isDamaged { throw damaged(key) }
        return isMet ? row : nil
    }

    /// Passes a row to a closure that may read any of its values.
    @inline(__always)
    func visit(_ key: Bytes, _ row: EncodedRow, _ body: (Bytes, EncodedRow) throws -> Bool) throws -> Bool {
        let goesOn = try body(key, row)
        // A value that failed to decompress would seem to be absent.
        if row.body.isDamaged { throw damaged(key) }
        return goesOn
    }

    private func damaged(_ key: Bytes) -> StoreError {
        .damagedRow(entity: query.entity.name, key: access.describe(key))
    }

    /// Returns the bytes of the row that an index entry refers to.
    func row(_ key: Bytes, _ table: Table) throws -> Bytes {
        guard let row = try access.records.stored(key, in: table, root: query.entity.root) else { throw leadsNowhere }
        return row
    }

    private var leadsNowhere: StoreError {
        .damagedCatalog(path: "", detail: "an entry in an index of \(query.entity.name) refers to a missing record")
    }

    /// Calls a closure with each record along the path that meets the condition, in path order.
    func walk(_ path: AccessPath, from start: WalkStart? = nil, _ body: (Bytes, EncodedRow) throws -> Bool) throws {
        let table = try access.state.records(of: query.entity.root)
        if start == nil, path.isPlainScan { return try scan(path.spans, table, body) }
        let lookup = try PageLookup(access.raw, table, name: TableName.records(query.entity.root))
        var ahead = RowsAhead(access.raw.isSnapshot ? query.reach : 1, lookup)
        var goesOn = true
        func give() throws {
            guard try ahead.find() else { throw leadsNowhere }
            var index = 0
            while goesOn, index < ahead.count {
                let (key, bytes) = ahead[index]
                goesOn = try access.lending {
                    guard let row = try admitted(key, bytes) else { return true }
                    ahead.given += 1
                    return try visit(key, row, body)
                }
                index += 1
            }
            ahead.removeAll()
        }
        try path.walk(access, query.entity, from: start, sorting: { try sorted($0) }) { key, bytes in
            ahead.append(key, bytes)
            if ahead.isFull { try give() }
            return goesOn
        }
        if goesOn { try give() }
    }

    /// Sorts records whose order the index does not know into the order of the query.
    private func sorted(_ keys: [[UInt8]]) throws -> [[UInt8]] {
        guard keys.count > 1 else { return keys }
        let table = try access.state.records(of: query.entity.root)
        var buffer = SortBuffer(keeping: .max, entity: query.entity.name)
        for key in keys {
            try key.withUnsafeBytes { key in
                try access.lending {
                    let view = try access.records.view(row(key, table), query.entity, key)
                    evaluation.begin()
                    try buffer.add { try evaluation.appendPosition(query.order, key, view.body, to: &$0) }
                }
            }
        }
        buffer.sort()
        return (0..<buffer.count).map { Array(buffer.storageKey($0)) }
    }

    /// Counts the records of the result, without offset, and may stop at a bound.
    ///
    /// If the index answers the condition, no row is read.
    func count(upTo bound: Int) throws -> Int {
        var count = 0
        if case .path(let path) = chosen.form, query.after == nil, path.isExact(query) {
            let cursor = try access.raw.cursor(path.source.table(query.entity, access.state))
            defer { cursor.close() }
            for span in path.spans where count < bound { count += try cursor.count(in: span, upTo: bound - count) }
            return count
        }
        guard query.after == nil else {
            // The records after a position are known only in the order of the result.
            try forEach { _, _ in
                count += 1
                return true
            }
            return count
        }
        try forEachUnordered { _, _ in
            count += 1
            return count < bound
        }
        return count
    }

    // MARK: In the order of the path

    private func forEachOrdered(_ path: AccessPath, _ body: (Bytes, EncodedRow) throws -> Bool) throws {
        var skipped = query.offset, left = query.limit
        if skipped > 0, chosen.isExact(query) { return try forEachBehind(path, body) }
        let place = position, seen = try replacedKey
        var isPast = place == nil
        var writer = ByteWriter(capacity: 256)
        try walk(path, from: walkStart(path)) { key, row in
            if let seen, seen.withUnsafeBytes({ Bytes.equal($0, key) }) { return true }
            if !isPast {
                writer.removeAll()
                _ = try evaluation.appendPosition(query.order, key, row.body, to: &writer)
                guard place?.withUnsafeBytes({ Bytes.compare(writer.bytes, $0) > 0 }) ?? true else { return true }
                isPast = true
            }
            if skipped > 0 {
                skipped -= 1
                return true
            }
            left -= 1
            guard try body(key, row) else { return false }
            return left > 0
        }
    }

    /// Skips the offset without reading rows, then calls the closure with the records after it.
    private func forEachBehind(_ path: AccessPath, _ body: (Bytes, EncodedRow) throws -> Bool) throws {
        var skipped = query.offset, left = query.limit
        let table = try access.state.records(of: query.entity.root)
        try path.walk(access, query.entity, from: nil, sorting: { try sorted($0) }) { key, bytes in
            if skipped > 0 {
                skipped -= 1
                return true
            }
            left -= 1
            return try access.lending {
                guard let row = try admitted(key, bytes ?? row(key, table)) else { return true }
                return try visit(key, row, body)
            } && left > 0
        }
    }

    /// The position of the query's token: the result begins after it.
    private var position: [UInt8]? { query.after.map { Array($0.position) } }

    /// The present key of the token's record, if the token has a temporary key that was replaced.
    ///
    /// The record was on an earlier page, so it is not on a later one under its new key.
    private var replacedKey: [UInt8]? {
        get throws {
            guard let after = query.after else { return nil }
            return try Array(after.position.dropFirst(after.sortKeyLength)).withUnsafeBytes {
                try access.outbox.replacement(query.entity.root, $0)
            }
        }
    }

    /// Returns the start in the path's table that corresponds to the position.
    private func walkStart(_ path: AccessPath) -> WalkStart? {
        guard let after = query.after else { return nil }
        let position = Array(after.position), sortKey = Array(position.prefix(after.sortKeyLength))
        var start = WalkStart(values: [], storageKey: Array(position.dropFirst(after.sortKeyLength)))
        var offset = 0, taken = 0
        for part in query.order {
            // Each part is a tuple element and 00, complemented if the order descends.
            var bytes = Array(sortKey.dropFirst(offset))
            if part.isDescending { for index in bytes.indices { bytes[index] = ~bytes[index] } }
            let length = bytes.withUnsafeBytes { bytes -> Int? in
                var reader = TupleReader(bytes)
                return reader.skip() ? reader.offset : nil
            }
            guard let length else { return nil }
            if !path.skippedOrder.contains(taken), start.count < path.orderedCount {
                start.values += bytes.prefix(length)
                start.count += 1
            }
            taken += 1
            offset += length + 1
        }
        return start
    }

    // MARK: Sorted in memory

    private func forEachSorted(_ body: (Bytes, EncodedRow) throws -> Bool) throws {
        var buffer = SortBuffer(keeping: query.reach, entity: query.entity.name)
        let place = position, seen = try replacedKey
        var writer = ByteWriter(capacity: 256)
        try forEachUnordered { key, row in
            if let seen, seen.withUnsafeBytes({ Bytes.equal($0, key) }) { return true }
            if let place {
                writer.removeAll()
                _ = try evaluation.appendPosition(query.order, key, row.body, to: &writer)
                guard place.withUnsafeBytes({ Bytes.compare(writer.bytes, $0) > 0 }) else { return true }
            }
            try buffer.add { try evaluation.appendPosition(query.order, key, row.body, to: &$0) }
            return true
        }
        buffer.sort()
        let table = try access.state.records(of: query.entity.root)
        guard query.offset < buffer.count else { return }
        for index in query.offset..<min(buffer.count, query.reach) {
            let key = buffer.storageKey(index)
            let goesOn = try access.lending {
                try body(key, access.records.view(row(key, table), query.entity, key))
            }
            guard goesOn else { return }
        }
    }

    /// Calls a closure with each record of the result once, in any order, without limit and offset.
    func forEachUnordered(_ body: (Bytes, EncodedRow) throws -> Bool) throws {
        switch chosen.form {
        case .nothing: return
        case .path(let path): try walk(path, body)
        case .union(let paths):
            let table = try access.state.records(of: query.entity.root)
            var buffer = SortBuffer(keeping: .max, entity: query.entity.name)
            for path in paths {
                try path.walk(access, query.entity, from: nil, sorting: { $0 }) { key, _ in
                    try buffer.add { writer in
                        writer.append(key)
                        return 0
                    }
                    return true
                }
            }
            buffer.sort()
            for index in 0..<buffer.count {
                let key = buffer.storageKey(index)
                if index > 0, Bytes.equal(key, buffer.storageKey(index - 1)) { continue }
                let goesOn = try access.lending {
                    guard let row = try admitted(key, row(key, table)) else { return true }
                    return try visit(key, row, body)
                }
                guard goesOn else { return }
            }
        }
    }
}

extension RawCursor {
    /// Counts the entries of a span, up to a bound.
    func count(in span: KeySpan, upTo bound: Int) throws -> Int {
        try span.lower.withUnsafeBytes { lower in
            guard let upper = span.upper else { return try count(from: lower, to: nil, upTo: bound) }
            return try upper.withUnsafeBytes { try count(from: lower, to: $0, upTo: bound) }
        }
    }
}
