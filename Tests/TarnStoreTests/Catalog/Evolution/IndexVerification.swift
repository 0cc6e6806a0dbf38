// Compares every index of a store with its rows: complete ones exactly, others up to their
// progress.

import LMDB

@testable import TarnStore

enum IndexVerification {
    /// Returns the problem of the indexes; nil if there is none.
    ///
    /// - Parameter completely: whether an index that is not complete is a problem.
    static func problem(in store: Store, completely: Bool = true) throws -> String? {
        try store.read { reader in
            let access = reader.access, catalog = access.catalog
            let marks = try IndexMark.all(access.raw, access.state.meta)
            if completely, let id = marks.keys.min() {
                return "the index \(catalog.name(ofIndex: id)) is not complete: \(marks)"
            }
            for root in catalog.entities where root.root == root.id {
                // Entry → the key of the row that makes it.
                var expected: [UInt32: [[UInt8]: [UInt8]]] = [:], values: [UInt32: Set<[UInt8]>] = [:]
                var twice: String?, scratch = ByteWriter(), broken: String?
                try access.records.scan(root) { key, row in
                    guard row.hasValidChecksum(table: UInt32(root.id), key: key), row.body.isWellFormed else {
                        broken = "\(root.name) \(access.describe(key)) is damaged"
                        return false
                    }
                    let rules = try access.state.rules(of: row.entity)
                    for index in rules.indexes {
                        IndexEntry.forEach(index, row.body, owner: key, scratch: &scratch) { entry, unique in
                            expected[index.id, default: [:]][Array(entry)] = Array(key)
                            guard unique > 0, unique <= IndexEntry.longestValue, marks[index.id] == nil else { return }
                            if !values[index.id, default: []].insert(Array(entry.slice(0..<unique))).inserted {
                                twice = index.name
                            }
                        }
                        guard case .field(let field) = index.source, case .reference(let reference) = field.kind,
                            let value = row.body.value(of: field.id), value.tag == ValueTag.edges
                        else { continue }
                        try access.forEachReference(value) { target in
                            scratch.removeAll()
                            IndexEntry.append(target, IndexEntry.Targets(reference), key, to: &scratch)
                            expected[index.id, default: [:]][Array(scratch.bytes)] = Array(key)
                            return true
                        }
                    }
                    for members in rules.members { expected[members, default: [:]][Array(key)] = Array(key) }
                    return true
                }
                if let broken { return broken }
                if let twice { return "the unique index \(twice) has a value twice" }
                let tree = catalog.entities.filter { $0.root == root.id }
                let ids = Set(
                    tree.flatMap {
                        $0.fields.compactMap(\.index) + $0.indexes.map(\.id) + [$0.members].compactMap(\.self)
                    })
                for id in ids {
                    let found = try access.keys(of: access.state.index(id)), wanted = expected[id] ?? [:]
                    let name = "the index \(root.name).\(catalog.name(ofIndex: id)) (\(id))"
                    if let extra = found.first(where: { wanted[$0] == nil }) {
                        return "\(name) has an entry of no row: \(extra)"
                    }
                    if let mark = marks[id], mark.phase == .building {
                        let there = Set(found)
                        for (entry, owner) in wanted
                        where !there.contains(entry) && !mark.key.lexicographicallyPrecedes(owner) {
                            return "\(name) has come to \(mark.key) and lacks the entry of \(owner)"
                        }
                    } else if found.count != wanted.count {
                        return "\(name) has \(found.count) entries of \(wanted.count)"
                    }
                }
            }
            return nil
        }
    }
}
