// Counts of records by a value: from an index if one has the groups side by side, or the targets of
// the references that lead to them; else from rows.

internal import LMDB

struct GroupCounting {
    let run: QueryRun
    let place: Int

    /// The groups by the encoded value, as a whole tuple element.
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
            if held > SortBuffer.limit { throw StoreError.groupsTooLarge(entity: entity, bytes: SortBuffer.limit) }
            places[tuple] = groups.count
            groups.append((tuple, try value(), count))
        }
    }

    /// Counts the groups by reading the rows of the result.
    func count() throws -> [(value: Value, count: Int)] {
        var groups = Groups(), writer = ByteWriter(capacity: 256)
        try run.forEachUnordered { key, row in
            try add(key, row, to: &groups, &writer)
            return true
        }
        return groups.result
    }

    private func add(_ key: Bytes, _ row: EncodedRow, to groups: inout Groups, _ writer: inout ByteWriter) throws {
        writer.removeAll()
        try run.evaluation.appendTuple(place, key, row.body, to: &writer)
        try groups.add(Array(writer.bytes), 1, run.query.entity.name) {
            try run.decodedValue(at: place, key, row.body) ?? .null
        }
    }

    /// Counts the groups by walking over an index.
    ///
    /// It reads one row for each group, and every row whose value was cut in the index.
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
                    let row = try access.records.view(run.row(owner.bytes, rows), run.query.entity, owner.bytes)
                    return try run.decodedValue(at: place, owner.bytes, row.body) ?? .null
                }
            }
            count = 0
        }
        for span in path.spans {
            var entry = try span.lower.isEmpty ? cursor.first() : span.lower.withUnsafeBytes { try cursor.seek($0) }
            while let (key, _) = entry, span.reaches(key) {
                if count > 0, IndexEntry.begins(key, with: prefix.bytes) {
                    count += 1
                    if count == GroupCounting.longGroup {
                        entry = try skip(from: key, in: span, prefix.bytes, cursor, &count)
                    } else {
                        entry = try cursor.next()
                    }
                    continue
                }
                try finish()
                guard let found = path.source.owner(in: key) else { throw malformedEntry }
                if let value = path.value(path.fixedCount, in: key) {
                    prefix.removeAll()
                    prefix.append(key.slice(0..<value.upperBound))
                    owner.removeAll()
                    owner.append(found)
                    valueStart = value.lowerBound
                    count = 1
                } else {
                    try access.lending {
                        guard let row = try run.admitted(found, run.row(found, rows)) else { return }
                        _ = try run.visit(found, row) { found, row in
                            try add(found, row, to: &groups, &writer)
                            return true
                        }
                    }
                }
                entry = try cursor.next()
            }
            try finish()
        }
        return groups.result
    }

    /// Counts the groups of all records by walking over the index of the references with which the
    /// path to the place begins.
    ///
    /// Records with one target have one value: it reads one of their rows.
    func count(alongReferences source: AccessPath.Source) throws -> [(value: Value, count: Int)] {
        guard case .references(_, _, let keyComponents) = source else { return try count() }
        let access = run.access, entity = run.query.entity, rows = try access.state.records(of: entity.root)
        let cursor = try access.raw.cursor(source.table(entity, access.state))
        defer { cursor.close() }
        var groups = Groups(), writer = ByteWriter(capacity: 256)
        var target = ByteWriter(capacity: 256), owner = ByteWriter(capacity: 256), count = 0
        func finish() throws {
            guard count > 0 else { return }
            try access.lending {
                run.evaluation.begin()
                let row = try access.records.view(run.row(owner.bytes, rows), entity, owner.bytes)
                writer.removeAll()
                try run.evaluation.appendTuple(place, owner.bytes, row.body, to: &writer)
                try groups.add(Array(writer.bytes), count, entity.name) {
                    try run.decodedValue(at: place, owner.bytes, row.body) ?? .null
                }
            }
        }
        var left = try access.records.count(entity), entry = try cursor.first()
        while let (key, _) = entry {
            guard let length = StorageKey.length(in: key, components: keyComponents), let found = source.owner(in: key)
            else { throw malformedEntry }
            if count == 0 || !Bytes.equal(key.slice(0..<length), target.bytes) {
                try finish()
                count = 0
                target.removeAll()
                target.append(key.slice(0..<length))
                owner.removeAll()
                owner.append(found)
            }
            count += 1
            left -= 1
            entry = try cursor.next()
        }
        try finish()
        // Records without a target have no entry.
        if left > 0 {
            writer.removeAll()
            writer.appendTupleNull()
            try groups.add(Array(writer.bytes), left, entity.name) { .null }
        }
        return groups.result
    }

    private var malformedEntry: StoreError {
        .damagedCatalog(path: "", detail: "malformed entry in an index of \(run.query.entity.name)")
    }

    /// The number of entries of a group that are read one by one.
    ///
    /// After that it pays to seek to the group's end and to count the entries in between.
    private static let longGroup = 32

    /// Counts the entries of a group after the current one, and returns the entry behind the group.
    private func skip(
        from key: Bytes, in span: KeySpan, _ values: Bytes, _ cursor: RawCursor, _ count: inout Int
    ) throws -> RawCursor.Entry? {
        // No storage key begins with FF. An entry with FF at this position has a longer text.
        var end = Array(values) + [0xFF]
        if let upper = span.upper, upper.lexicographicallyPrecedes(end) { end = upper }
        return try end.withUnsafeBytes { end in
            count += try cursor.count(from: key, to: end) - 1
            return try cursor.seek(end)
        }
    }
}

extension KeySpan {
    /// Returns whether a key that is not below the span is in it.
    @inline(__always)
    func reaches(_ key: Bytes) -> Bool {
        guard let upper else { return true }
        return upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 }
    }
}

extension AccessPath {
    /// Returns the range of a component in an entry; nil if it was cut.
    func value(_ component: Int, in entry: Bytes) -> Range<Int>? {
        let isCut = entry.count > IndexEntry.longestValue && source.valuesLength(in: entry) > IndexEntry.longestValue
        var reader = TupleReader(isCut ? entry.slice(0..<IndexEntry.longestValue) : entry)
        for _ in 0..<component { guard reader.skip() else { return nil } }
        let start = reader.offset
        guard reader.skip() else { return nil }
        // A NUL whose second byte was cut off looks like the end of a text.
        return isCut && reader.offset == IndexEntry.longestValue ? nil : start..<reader.offset
    }
}
