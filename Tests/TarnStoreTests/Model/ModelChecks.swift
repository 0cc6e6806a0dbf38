// Compares the view of a transaction with the oracle: one record with all of its relationships, and
// the log.

import Foundation

@testable import TarnStore

enum ModelChecks {
    static func fail(_ text: String) -> ModelFailure { ModelFailure(text) }

    /// One record, two of its relationships, and two of its indexes: others with another salt.
    static func compare(_ reader: StoreReader, _ oracle: Oracle, _ place: Place, salt: Int) throws {
        let key = ModelKeys.keys(place.root)[place.key], row = oracle[place]
        let record = try reader.record(place.root, key)
        try compare(record, row, place, oracle)
        let kind = ModelKind.named(row?.kind ?? place.root)
        for offset in 0..<min(2, kind.seen.count) {
            try compareRelated(reader, oracle, place, kind.seen[(salt + offset) % kind.seen.count], of: kind.name)
        }
        guard let row else { return }
        for offset in 0..<min(2, kind.indexes.count) {
            try compareFound(reader, oracle, row, kind, kind.indexes[(salt * 2 + offset) % kind.indexes.count], salt)
        }
    }

    static func compare(_ record: Record?, _ row: Oracle.Row?, _ place: Place, _ oracle: Oracle) throws {
        guard let record, let row else {
            guard record == nil, row == nil else { throw fail("\(place) is \(record == nil ? "not there" : "there")") }
            return
        }
        let pool = ModelKeys.pool(place.root)
        guard record.key == pool.keys[place.key] else { throw fail("\(place) has the key \(record.key)") }
        guard record.entity == row.kind else { throw fail("\(place) is a \(record.entity), not a \(row.kind)") }
        guard record.isPartial == row.isPartial else { throw fail("\(place) is partial: \(record.isPartial)") }
        guard record.version == row.version else {
            throw fail("\(place) has the version \(record.version), not \(row.version)")
        }
        let relations = ModelKind.named(row.kind).relations
        var found = 0
        for field in record.fields {
            guard let cell = row.cells[field.name] else { throw fail("\(place) has a \(field.name): \(field.value)") }
            found += 1
            switch cell {
            case .value(let value):
                guard ModelOrder.areSame(field.value, value) else {
                    throw fail("\(place).\(field.name) is \(field.value), not \(value)")
                }
            case .references(let keys, _):
                guard let relation = relations[field.name] else { throw fail("\(place).\(field.name) is a reference") }
                let pool = ModelKeys.pool(ModelKind.named(relation.to).root)
                let wanted = keys.map {
                    pool.isLong[$0] && oracle.row(relation.to, $0) == nil ? pool.keys[$0].asReference : pool.keys[$0]
                }
                let isSame =
                    switch field.value {
                    case .reference(let key): !relation.many && [key] == wanted
                    case .references(let keys): relation.many && keys == wanted
                    default: false
                    }
                guard isSame else { throw fail("\(place).\(field.name) is \(field.value), not \(wanted)") }
            }
        }
        guard found == row.cells.count else {
            throw fail("\(place) has \(record.fields.map(\.name)), not \(row.cells.keys.sorted())")
        }
    }

    /// The targets of a relationship, and the missing ones.
    private static func compareRelated(
        _ reader: StoreReader, _ oracle: Oracle, _ place: Place, _ seen: SeenRelation, of kind: String
    ) throws {
        let pool = ModelKeys.pool(ModelKind.named(seen.destination).root)
        let wanted = oracle.targets(place, seen, of: kind)
        var position = 0
        try reader.forEachRelated(kind, ModelKeys.keys(place.root)[place.key], seen.name) { target in
            guard position < wanted.count else { throw fail("\(place).\(seen.name) leads to \(target) as well") }
            let key = wanted[position], row = oracle.row(seen.destination, key)
            position += 1
            let name = row == nil ? pool.keys[key].asReference : pool.keys[key]
            guard target.key == name, (target.record == nil) == (row == nil), target.record?.version == row?.version
            else {
                throw fail("\(place).\(seen.name) leads to \(target), not to \(pool.keys[key]), as number \(position)")
            }
            return true
        }
        guard position == wanted.count else {
            throw fail("\(place).\(seen.name) leads to \(position) records, not to \(wanted)")
        }
    }

    /// The records that have the values of one record in an index, or the first of them.
    private static func compareFound(
        _ reader: StoreReader, _ oracle: Oracle, _ row: Oracle.Row, _ kind: ModelKind, _ index: ModelIndex, _ salt: Int
    ) throws {
        let components = Array(index.components.prefix(1 + salt % index.components.count))
        let values = components.map { component -> Value in
            guard let relation = kind.relations[component.field] else { return row.value(component.field) ?? .null }
            let target = row.references(component.field).first
            return target.map { .reference(ModelKeys.keys(ModelKind.named(relation.to).root)[$0]) } ?? .null
        }
        var every = index
        every.conditions = []
        guard let sought = oracle.values(row, every)?.prefix(components.count) else { return }
        var wanted: Set<Int> = []
        for (key, other) in oracle.rows(kind.name) {
            guard let values = oracle.values(other, index) else { continue }
            if ModelOrder.compare(Array(values.prefix(components.count)), Array(sought)) == 0 { wanted.insert(key) }
        }
        var found: [RecordKey] = []
        try reader.forEach(kind.name, index: index.name, equalTo: values) { record in
            found.append(record.key)
            return true
        }
        let keys = ModelKeys.keys(kind.root)
        guard found.count == wanted.count, Set(found) == Set(wanted.map { keys[$0] }) else {
            throw fail("\(kind.name).\(index.name) finds \(found) with \(values), not \(wanted.map { keys[$0] })")
        }
    }

    // MARK: Ranges

    static func scan(
        _ reader: StoreReader, _ oracle: Oracle, _ kind: String, _ from: Int?, _ to: Int?, _ reversed: Bool
    ) throws {
        let keys = ModelKeys.keys(ModelKind.named(kind).root)
        var low = from.map { keys[$0] }, high = to.map { keys[$0] }
        if let a = low, let b = high, b < a { (low, high) = (high, low) }
        let range =
            switch (low, high) {
            case (let low?, let high?): KeyRange(low..<high)
            case (let low?, nil): KeyRange(low...)
            case (nil, let high?): KeyRange(...high)
            case (nil, nil): KeyRange.all
            }
        var wanted = oracle.rows(kind).map(\.key).filter { key in
            if let low, keys[key] < low { return false }
            guard let high else { return true }
            return low == nil ? !(high < keys[key]) : keys[key] < high
        }
        let count = try reader.count(kind, in: range)
        guard count == wanted.count else { throw fail("there are \(count) \(kind) in \(range), not \(wanted)") }
        let some = [wanted.first, from, to].compactMap(\.self)
        let versions = try some.map { try reader.record(kind, keys[$0])?.version }
        guard versions == some.map({ oracle.row(kind, $0)?.version }) else {
            throw fail("\(kind) \(some) have the versions \(versions)")
        }
        if reversed { wanted.reverse() }
        var found: [RecordKey] = []
        try reader.forEach(kind, in: range, reversed: reversed) { record in
            found.append(record.key)
            return true
        }
        guard found == wanted.map({ keys[$0] }) else {
            throw fail("\(kind) in \(range): \(found), not \(wanted.map { keys[$0] })")
        }
    }

    // MARK: The change log

    /// The entries of all commits behind one.
    static func log(_ reader: StoreReader, after sequence: UInt64) throws -> [Oracle.LogEntry] {
        let access = reader.access, cursor = try access.raw.cursor(access.state.changes)
        defer { cursor.close() }
        var start = ByteWriter(), entries: [Oracle.LogEntry] = []
        start.appendBigEndian(sequence + 1)
        var entry = try cursor.seek(start.bytes), last: [UInt8] = []
        while let (key, value) = entry {
            guard key.count == 12, last.lexicographicallyPrecedes(Array(key)) else {
                throw fail("an entry of the log has the key \(Array(key))")
            }
            last = Array(key)
            guard let group = ChangeGroup(key, value) else { throw fail("an entry of the log cannot be read") }
            for change in group {
                guard let kind = reader.catalog.entity(id: change.entity)?.name else {
                    throw fail("an entry of the log has no entity")
                }
                let root = ModelKind.named(kind).root
                guard let position = ModelKeys.pool(root).positions[Array(change.storageKey)] else {
                    throw fail("an entry of the log has a key that no \(root) has")
                }
                entries.append(
                    Oracle.LogEntry(
                        operation: change.operation.rawValue, kind: kind, place: Place(root: root, key: position)))
            }
            entry = try cursor.next()
        }
        return entries
    }

    /// One entry for every change, and none else.
    static func compareLog(_ reader: StoreReader, after sequence: UInt64, _ wanted: [Oracle.LogEntry]) throws {
        let found = try log(reader, after: sequence)
        func counts(_ entries: [Oracle.LogEntry]) -> [Oracle.LogEntry: Int] {
            Dictionary(entries.map { ($0, 1) }, uniquingKeysWith: +)
        }
        guard counts(found) == counts(wanted) else {
            throw fail("the log behind \(sequence) has \(found), not \(wanted)")
        }
    }
}
