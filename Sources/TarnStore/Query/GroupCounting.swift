// Counting records by a value: from an index alone where one has the groups side by side, else from rows.

internal import LMDB

struct GroupCounting {
    let run: QueryRun
    let place: Int

    /// Groups by the whole value as a tuple element.
    private struct Groups {
        private var places: [[UInt8]: Int] = [:]
        private var groups: [(tuple: [UInt8], value: Value, count: Int)] = []
        private var held = 0

        var result: [(value: Value, count: Int)] {
            groups.sorted { $0.tuple.lexicographicallyPrecedes($1.tuple) }.map { ($0.value, $0.count) }
        }

        mutating func add(_ tuple: [UInt8], _ count: Int, _ entity: String, _ value: () throws -> Value) throws {
            if let group = places[tuple] {
                groups[group].count += count
                return
            }
            held += tuple.count * 2 + 64
            if held > SortBuffer.limit { throw StoreError.sortTooLarge(entity: entity, bytes: SortBuffer.limit) }
            places[tuple] = groups.count
            groups.append((tuple, try value(), count))
        }
    }

    /// Reads the rows of the result.
    func count() throws -> [(value: Value, count: Int)] {
        var groups = Groups(), writer = ByteWriter(capacity: 256)
        try run.forEachUnordered { key, row in
            try add(key, row, to: &groups, &writer)
            return true
        }
        return groups.result
    }

    private func add(_ key: Bytes, _ row: RowView, to groups: inout Groups, _ writer: inout ByteWriter) throws {
        writer.removeAll()
        try run.evaluation.appendTuple(place, key, row.body, to: &writer)
        try groups.add(Array(writer.bytes), 1, run.query.entity.name) {
            try run.decodedValue(at: place, key, row.body) ?? .null
        }
    }

    /// Walks over the entries of an index; one row for each group, and those whose values the index has cut.
    func count(along path: AccessPath) throws -> [(value: Value, count: Int)] {
        let access = run.access
        let rows = try access.state.records(of: run.query.entity.root)
        let cursor = try access.raw.cursor(path.source.table(run.query.entity, access.state))
        defer { cursor.close() }
        var groups = Groups(), writer = ByteWriter(capacity: 256)
        var prefix = ByteWriter(capacity: 512), owner = ByteWriter(capacity: 256), valueStart = 0, count = 0
        func finish() throws {
            guard count > 0 else { return }
            let tuple = Array(prefix.bytes.slice(valueStart..<prefix.count))
            try groups.add(tuple, count, run.query.entity.name) {
                try access.lending {
                    run.evaluation.begin()
                    let row = try access.view(run.row(owner.bytes, rows), run.query.entity, owner.bytes)
                    return try run.decodedValue(at: place, owner.bytes, row.body) ?? .null
                }
            }
            count = 0
        }
        for span in path.spans {
            try cursor.forEachKey(in: span) { key in
                if count > 0, IndexEntry.begins(key, with: prefix.bytes) {
                    count += 1
                    return true
                }
                try finish()
                guard let found = path.source.owner(in: key) else { return true }
                guard let value = path.value(path.fixedCount, in: key) else {
                    try access.lending {
                        guard let row = try run.admitted(found, run.row(found, rows)) else { return }
                        try add(found, row, to: &groups, &writer)
                    }
                    return true
                }
                prefix.removeAll()
                prefix.append(key.slice(0..<value.upperBound))
                owner.removeAll()
                owner.append(found)
                valueStart = value.lowerBound
                count = 1
                return true
            }
            try finish()
        }
        return groups.result
    }
}

extension AccessPath {
    /// Where a component stands in an entry. Nil if it was cut.
    func value(_ component: Int, in entry: Bytes) -> Range<Int>? {
        let isCut = entry.count > IndexEntry.longestValue && source.valuesLength(in: entry) > IndexEntry.longestValue
        var reader = TupleReader(isCut ? entry.slice(0..<IndexEntry.longestValue) : entry)
        for _ in 0..<component { guard reader.skip() else { return nil } }
        let start = reader.offset
        guard reader.skip() else { return nil }
        // A NUL whose second half was cut away looks like the end of a text.
        return isCut && reader.offset == IndexEntry.longestValue ? nil : start..<reader.offset
    }
}
