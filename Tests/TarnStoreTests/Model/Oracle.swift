// The expected content of the store: dictionaries, and the rules of writing again in their simplest
// form.

import Foundation

@testable import TarnStore

/// The identity of a record.
struct Place: Hashable, Sendable {
    var root: String
    var key: Int
}

struct Oracle: Sendable {
    struct Row: Sendable {
        var kind: String
        var cells: [String: Cell]
        var isPartial: Bool
        var version: UInt64

        /// Null and absent are one for indexes and conditions.
        func value(_ field: String) -> Value? {
            guard case .value(let value)? = cells[field] else { return nil }
            if case .null = value { return nil }
            return value
        }

        func references(_ field: String) -> [Int] {
            if case .references(let keys, _)? = cells[field] { keys } else { [] }
        }

        func position(_ field: String) -> UInt32 {
            if case .references(_, let position?)? = cells[field] { position } else { 0 }
        }

        func isOf(_ kind: String) -> Bool { ModelKind.named(self.kind).lineage.contains(kind) }
    }

    struct LogEntry: Hashable, Sendable {
        var operation: UInt8
        var kind: String
        var place: Place
    }

    enum Deletion: Equatable {
        case missing, denied
        case deleted(Int)
    }

    private(set) var tables: [String: [Int: Row]] = Dictionary(uniqueKeysWithValues: ModelKind.roots.map { ($0, [:]) })
    /// The commit sequence.
    var sequence: UInt64 = 0
    var logCount = 0
    /// The number of denied deletes.
    var denials = 0
    /// The changes of the current transaction so far, and the former records.
    private(set) var log: [LogEntry] = []
    private(set) var before: [Place: Row?] = [:]

    subscript(_ place: Place) -> Row? { tables[place.root]?[place.key] }

    func row(_ kind: String, _ key: Int) -> Row? {
        guard let row = tables[ModelKind.named(kind).root]?[key], row.isOf(kind) else { return nil }
        return row
    }

    /// The version of the record with a key, of any entity of the same tree; 0 if there is none.
    func version(_ kind: String, _ key: Int) -> UInt64 { tables[ModelKind.named(kind).root]?[key]?.version ?? 0 }

    /// The records of an entity, in the order of their keys.
    func rows(_ kind: String) -> [(key: Int, row: Row)] {
        let root = ModelKind.named(kind).root, rank = ModelKeys.pool(root).rank
        return (tables[root] ?? [:]).filter { $0.value.isOf(kind) }.sorted { rank[$0.key] < rank[$1.key] }
            .map { ($0.key, $0.value) }
    }

    // MARK: Transactions

    mutating func begin() {
        log = []
        before = [:]
    }

    /// A write without a net effect is not a change.
    mutating func commit() {
        if !log.isEmpty { sequence += 1 }
        logCount += log.count
    }

    private mutating func set(_ place: Place, _ row: Row?, _ operation: UInt8, _ kind: String) {
        if before[place] == nil { before[place] = .some(self[place]) }
        tables[place.root]?[place.key] = row
        log.append(LogEntry(operation: operation, kind: kind, place: place))
    }

    /// Restores a record to its state before the transaction, as if nothing had been done.
    mutating func restore(_ place: Place) {
        guard let old = before.removeValue(forKey: place) else { return }
        tables[place.root]?[place.key] = old
        log.removeAll { $0.place == place }
    }

    /// For a write whose versions only the store determines.
    mutating func setVersion(_ place: Place, _ version: UInt64) { tables[place.root]?[place.key]?.version = version }

    // MARK: Writing

    mutating func put(
        _ kind: String, _ key: Int, _ fields: [String: Int], isComplete: Bool = true, positions: Bool = false
    ) {
        let entity = ModelKind.named(kind)
        var cells = entity.keyCells(key)
        for (name, code) in fields {
            let cell = entity.cell(name, code)
            if entity.key.contains(name) {
                if case .references(_, let position) = cell, positions, case .references(let owner, _)? = cells[name] {
                    cells[name] = .references(owner, position: position)
                }
            } else if case .references(let keys, _) = cell, !positions {
                cells[name] = .references(keys)
            } else {
                cells[name] = cell
            }
        }
        merge(kind, key, cells, isComplete: isComplete)
    }

    mutating func merge(_ kind: String, _ key: Int, _ said: [String: Cell], isComplete: Bool) {
        let place = Place(root: ModelKind.named(kind).root, key: key)
        let old = self[place]
        // Values given for the parent entity do not change the kind.
        let newKind = old.map { $0.isOf(kind) ? $0.kind : kind } ?? kind
        let entity = ModelKind.named(newKind)
        var cells = old?.cells ?? [:]
        for name in cells.keys where entity.attributes[name] == nil && entity.relations[name] == nil {
            cells[name] = nil
        }
        for (name, cell) in said {
            // A reference to the same record without a position keeps its position.
            if case .references(let keys, nil) = cell, entity.relations[name]?.many == false,
                case .references(let known, _)? = cells[name], known == keys
            {
                continue
            }
            cells[name] = cell
        }
        if isComplete, old?.isPartial ?? true {
            for (name, attribute) in entity.attributes {
                if cells[name] == nil, let value = attribute.defaultValue { cells[name] = .value(value) }
            }
        }
        let lacks = entity.attributes.values.contains { !$0.isOptional && cells[$0.name] == nil }
        let row = Row(
            kind: newKind, cells: cells, isPartial: !isComplete && (old?.isPartial ?? true) && lacks,
            version: sequence + 1)
        if let old, old.kind == row.kind, old.isPartial == row.isPartial, ModelOrder.areSame(old.cells, row.cells) {
            return
        }
        set(place, row, old == nil ? 1 : 2, newKind)
        takeOver(place, old, row)
    }

    /// A target of a one-to-one relationship belongs to the record that got it last.
    private mutating func takeOver(_ place: Place, _ old: Row?, _ row: Row) {
        for (name, relation) in ModelKind.named(row.kind).relations where !relation.many && !relation.inverseMany {
            guard let target = row.references(name).first, old?.references(name).first != target else { continue }
            for (other, holder) in rows(relation.owner)
            where other != place.key && holder.references(name).first == target {
                merge(holder.kind, other, [name: .value(.null)], isComplete: false)
            }
        }
    }

    // MARK: Relationships

    /// The targets of a relationship of a record, in its order.
    func targets(_ place: Place, _ seen: SeenRelation, of kind: String) -> [Int] {
        switch seen.source {
        case .stored(let x): return row(kind, place.key)?.references(x.field) ?? []
        case .derived(let x):
            let referrers = rows(x.owner).filter { $0.row.references(x.field).contains(place.key) }
            guard x.inverseOrdered else { return referrers.map(\.key) }
            let positioned = referrers.enumerated().sorted {
                ($0.element.row.position(x.field), $0.offset) < ($1.element.row.position(x.field), $1.offset)
            }
            return positioned.map(\.element.key)
        case .joined(let own, let theirs):
            guard let value = row(kind, place.key)?.value(own) else { return [] }
            return rows(seen.destination).filter { $0.row.value(theirs).map { ModelOrder.areSame($0, value) } ?? false }
                .map(\.key)
        }
    }

    mutating func delete(_ kind: String, _ key: Int) -> Deletion {
        guard row(kind, key) != nil else { return .missing }
        var members = [Place(root: ModelKind.named(kind).root, key: key)], known = Set(members), next = 0
        func relations(_ place: Place, _ rule: RelationshipDefinition.DeleteRule) -> [(
            SeenRelation, kind: String, root: String
        )] {
            guard let kind = self[place]?.kind else { return [] }
            return ModelKind.named(kind).seen.filter { $0.rule == rule }.map {
                ($0, kind, ModelKind.named($0.destination).root)
            }
        }
        while next < members.count {
            let place = members[next]
            for (seen, kind, root) in relations(place, .cascade) {
                for target in targets(place, seen, of: kind) where row(seen.destination, target) != nil {
                    if known.insert(Place(root: root, key: target)).inserted {
                        members.append(Place(root: root, key: target))
                    }
                }
            }
            next += 1
        }
        for place in members {
            for (seen, kind, root) in relations(place, .deny) {
                for target in targets(place, seen, of: kind) where row(seen.destination, target) != nil {
                    if !known.contains(Place(root: root, key: target)) { return .denied }
                }
            }
        }
        var changes: [Place: Set<String>] = [:]
        for place in members {
            for (seen, kind, root) in relations(place, .nullify) {
                guard case .derived(let relation) = seen.source else { continue }
                for target in targets(place, seen, of: kind) where !known.contains(Place(root: root, key: target)) {
                    changes[Place(root: root, key: target), default: []].insert(relation.field)
                }
            }
        }
        for (place, fields) in changes {
            for field in fields {
                guard let row = self[place], let relation = ModelKind.named(row.kind).relations[field] else { continue }
                let root = ModelKind.named(relation.to).root
                let kept = row.references(field).filter { !known.contains(Place(root: root, key: $0)) }
                merge(
                    row.kind, place.key, [field: relation.many ? .references(kept) : .value(.null)], isComplete: false)
            }
        }
        for place in members { if let kind = self[place]?.kind { set(place, nil, 3, kind) } }
        return .deleted(members.count)
    }

    // MARK: Indexes

    /// The values of a record in an index; nil if the index does not contain it.
    func values(_ row: Row, _ index: ModelIndex) -> [IndexedValue]? {
        guard row.isOf(index.entity), index.conditions.allSatisfy({ meets(row, $0) }) else { return nil }
        let relations = ModelKind.named(row.kind).relations
        return index.components.map { component in
            if let relation = relations[component.field] {
                return row.references(component.field).first.map { .reference(ModelKind.named(relation.to).root, $0) }
                    ?? .null
            }
            guard let value = row.value(component.field) else { return .null }
            if component.ignoresCase, case .string(let text) = value { return .value(.string(ModelOrder.folded(text))) }
            return .value(value)
        }
    }

    private func meets(_ row: Row, _ condition: IndexCondition) -> Bool {
        let value = row.value(condition.attribute)
        if case .null = condition.value { return (value == nil) == (condition.comparison == .equal) }
        guard let value else { return condition.comparison == .notEqual }
        let order = ModelOrder.compare(value, condition.value)
        return switch condition.comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    /// Whether a changed record shares values that must be unique with another one.
    func violatesUniqueness() -> Bool {
        for place in before.keys {
            guard let row = self[place] else { continue }
            for index in ModelKind.named(row.kind).indexes where index.isUnique {
                guard let values = values(row, index), !values.contains(where: \.isNull) else { continue }
                for (key, other) in tables[place.root] ?? [:] where key != place.key {
                    if let others = self.values(other, index), ModelOrder.compare(values, others) == 0 { return true }
                }
            }
        }
        return false
    }
}
