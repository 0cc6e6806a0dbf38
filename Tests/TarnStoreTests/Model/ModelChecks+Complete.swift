// Compares all that a store holds with the oracle: records, indexes, relationships from both ends,
// long lists, counts.

import Foundation
import LMDB

@testable import TarnStore

extension ModelChecks {
    static func compareAll(_ reader: StoreReader, _ oracle: Oracle) throws {
        let sequence = try reader.sequence
        guard sequence == oracle.sequence else {
            throw fail("the commit sequence is \(sequence), not \(oracle.sequence)")
        }
        for root in ModelKind.roots { try compareRecords(reader, oracle, root) }
        for entity in reader.catalog.entities {
            let count = try reader.count(entity.name), wanted = oracle.rows(entity.name).count
            guard count == wanted else { throw fail("there are \(count) \(entity.name), not \(wanted)") }
            try compareIndexes(reader, oracle, entity)
            try compareMembers(reader, oracle, entity)
        }
        for relation in ModelSchema.relations { try compareInverse(reader, oracle, relation) }
        try compareLongLists(reader)
        let count = try log(reader, after: 0).count
        guard count == oracle.logCount else { throw fail("the log has \(count) changes, not \(oracle.logCount)") }
    }

    private static func compareRecords(_ reader: StoreReader, _ oracle: Oracle, _ root: String) throws {
        let wanted = oracle.rows(root)
        var position = 0
        try reader.forEach(root) { record in
            guard position < wanted.count else { throw fail("there is a \(root) \(record.key)") }
            try compare(record, wanted[position].row, Place(root: root, key: wanted[position].key), oracle)
            position += 1
            return true
        }
        guard position == wanted.count else { throw fail("there are \(position) \(root), not \(wanted.map(\.key))") }
    }

    /// Every index that an entity has: its records in the order of their values, each once, and no
    /// other entry.
    private static func compareIndexes(_ reader: StoreReader, _ oracle: Oracle, _ entity: Catalog.Entity) throws {
        let kind = ModelKind.named(entity.name), access = reader.access, pool = ModelKeys.pool(kind.root)
        let rules = try access.state.rules(of: entity.id), rows = oracle.rows(entity.name)
        for index in kind.indexes where index.entity == entity.name {
            guard let compiled = rules.indexes.first(where: { $0.name == index.name }) else {
                throw fail("there is no index \(index.name)")
            }
            var wanted: [Int: [IndexedValue]] = [:]
            for (key, row) in rows { wanted[key] = oracle.values(row, index) }
            let entries = try access.keys(of: access.state.index(compiled.id))
            var last: (key: Int, values: [IndexedValue])?, seen: Set<Int> = []
            for entry in entries {
                guard let key = entry.withUnsafeBytes({ compiled.owner(in: $0).flatMap { pool.positions[Array($0)] } }),
                    let values = wanted[key], seen.insert(key).inserted
                else { throw fail("\(entity.name).\(index.name) has an entry that no record gives it: \(entry)") }
                if let last {
                    let order = ModelOrder.compare(last.values, values)
                    let isOrdered = order < 0 || order == 0 && pool.rank[last.key] < pool.rank[key]
                    guard isOrdered || ModelOrder.mayBeCut(last.values, values) else {
                        throw fail("\(entity.name).\(index.name): \(last) stands before \(key): \(values)")
                    }
                }
                last = (key, values)
            }
            guard seen.count == wanted.count else {
                throw fail(
                    "\(entity.name).\(index.name) has entries of \(seen.sorted()), not of \(wanted.keys.sorted())")
            }
        }
    }

    /// The index of the records of a special kind.
    private static func compareMembers(_ reader: StoreReader, _ oracle: Oracle, _ entity: Catalog.Entity) throws {
        guard let members = entity.members else { return }
        let pool = ModelKeys.pool(ModelKind.named(entity.name).root)
        let found = try reader.access.keys(of: reader.access.state.index(members)).map { pool.positions[$0] ?? -1 }
        let wanted = oracle.rows(entity.name).map(\.key)
        guard found == wanted else { throw fail("the members of \(entity.name) are \(found), not \(wanted)") }
    }

    /// The derived side of a relationship, for every possible key, and that there are no others.
    private static func compareInverse(_ reader: StoreReader, _ oracle: Oracle, _ relation: ModelRelation) throws {
        let access = reader.access, destination = ModelKind.named(relation.to)
        let pool = ModelKeys.pool(destination.root), owners = ModelKeys.pool(ModelKind.named(relation.owner).root)
        guard let entity = reader.catalog.entity(relation.to),
            let derived = reader.catalog.relationship(relation.inverse, of: entity),
            let field = reader.catalog.entity(relation.owner)?.field(relation.field), let index = field.index
        else { throw fail("there is no \(relation.to).\(relation.inverse)") }
        let rows = oracle.rows(relation.owner)
        var wanted: [Int: [(key: Int, position: UInt32)]] = [:], count = 0
        for (key, row) in rows {
            let targets = row.references(relation.field)
            for target in Set(targets) {
                wanted[target, default: []].append((key, relation.inverseOrdered ? row.position(relation.field) : 0))
                count += 1
            }
            try compareStored(reader, relation, key, targets)
        }
        for (position, key) in pool.keys.enumerated() {
            let owners = try key.storageKey.withUnsafeBytes { storageKey in
                var found: [Int] = []
                try access.targets(of: storageKey, derived) { target in
                    found.append(owners.positions[Array(target)] ?? -1)
                    return true
                }
                return found
            }
            // By position; among equals in the order of keys, in which they were found.
            let expected = (wanted[position] ?? []).enumerated().sorted {
                ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
            }.map(\.element.key)
            guard owners == expected else {
                throw fail("\(relation.to) \(position).\(relation.inverse) leads to \(owners), not to \(expected)")
            }
        }
        let entries = try access.raw.statistics(access.state.index(index)).entries
        guard entries == count else {
            throw fail("the index of \(relation.owner).\(relation.field) has \(entries) entries, not \(count)")
        }
    }

    private static func compareStored(_ reader: StoreReader, _ relation: ModelRelation, _ key: Int, _ wanted: [Int])
        throws
    {
        let access = reader.access, pool = ModelKeys.pool(ModelKind.named(relation.to).root)
        guard let entity = reader.catalog.entity(relation.owner), let field = entity.field(relation.field) else {
            return
        }
        let storageKey = ModelKeys.keys(ModelKind.named(relation.owner).root)[key].storageKey
        let found = try storageKey.withUnsafeBytes { key in
            try access.lending {
                var found: [Int] = []
                guard let value = try access.records.row(entity, key)?.body.value(of: field.id) else { return found }
                if let target = value.reference { return [pool.positions[Array(target)] ?? -1] }
                try access.forEachReference(value) { target in
                    found.append(pool.positions[Array(target)] ?? -1)
                    return true
                }
                return found
            }
        }
        guard found == wanted else {
            throw fail("\(relation.owner) \(key).\(relation.field) leads to \(found), not to \(wanted)")
        }
    }

    /// Every list in the table belongs to one row, and has the length that the row declares.
    private static func compareLongLists(_ reader: StoreReader) throws {
        let access = reader.access
        var lists: [UInt64: Int] = [:]
        for root in ModelKind.roots {
            guard let entity = reader.catalog.entity(root) else { continue }
            try access.records.scan(entity) { _, row in
                for index in 0..<row.body.count {
                    guard let value = row.body.value(at: index) else { continue }
                    guard value.bytes.count <= EdgeList.longestInRow || value.tag != ValueTag.references else {
                        throw fail("a list of \(value.bytes.count) bytes stands in a row of \(root)")
                    }
                    guard let list = EdgeList(value) else { continue }
                    guard lists.updateValue(Int(list.count), forKey: list.id) == nil else {
                        throw fail("two rows have the list \(list.id)")
                    }
                }
                return true
            }
        }
        var found: [UInt64: Int] = [:]
        for key in try access.keys(of: access.state.edgeTable().table) {
            found[key.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }, default: 0] += 1
        }
        guard found == lists else { throw fail("the table of long lists has \(found), and the rows have \(lists)") }
    }
}
