// A mapping compiled against a catalog: for every entity a tree of JSON keys that leads to slots.

internal import TarnStore

/// What one attribute or relationship of an entity takes from JSON. A plain value: one is looked at for every value of
/// every object, and nothing of it is counted.
struct Slot {
    enum Kind {
        /// The type is in the slot's details.
        case attribute
        /// A reference that is stored in this entity.
        case toOne(destination: Int)
        case toMany(destination: Int)
        /// A relationship whose references are stored in the records that it leads to; more is in the slot's details.
        case derived
    }

    /// The stored field; 0 for a derived relationship.
    var field: UInt16
    var kind: Kind
    var isOptional: Bool
    var isKey = false
    /// Null says nothing.
    var ignoresNull = false
    /// What is absent in a listed record is null.
    var clearsAbsent = false
    /// Of a to-many relationship.
    var toMany = ToManyPolicy.replace
}

/// The rest of what is known about a slot.
struct SlotDetails {
    var name: String
    /// For an attribute.
    var rule = SlotDetails.text
    /// For a derived relationship.
    var derived: Derived?

    /// Stands in for what is no attribute.
    private static let text = ValueRule(.string)

    struct Derived {
        /// The entity whose records hold the references, and the field.
        var owner: Int
        var field: Catalog.Field
        var reference: Catalog.Reference
        /// Seen from here.
        var isToMany: Bool
    }
}

/// A node of the tree of keys.
struct KeyNode: ~Copyable {
    /// JSON key → entry.
    var table = KeyTable()
    var entries: [Entry] = []
    var unmappedCount = 0
    /// Whether a slot takes an object as a whole whose keys these are: then none of them is unmapped.
    var isCovered = false

    /// A plain value, as a slot is; -1 stands for nothing.
    struct Entry {
        /// The first of the slots that take the value of this key, in the plan's takers.
        var taker: Int32 = -1
        /// The node below, for paths that go on.
        var child: Int32 = -1
        /// For keys that the description neither takes nor ignores: where they are counted, or that they are kept.
        var unmapped = Entry.none

        static let none: Int32 = -1, kept: Int32 = -2
    }
}

/// A slot that takes the value of a key.
struct Taker {
    var slot: Int
    /// Among the slot's alternates: less is better.
    var rank: Int
    /// The next one of the same key, or -1.
    var next: Int32
}

/// How JSON objects of one entity become drafts.
final class EntityPlan {
    let entity: Catalog.Entity
    /// Stored fields in ascending order of ids, then derived relationships.
    let slots: [Slot]
    let details: [SlotDetails]
    /// The rules of the details, which hold them: one is looked at for every value, and not counted.
    let rules: [Unmanaged<ValueRule>]
    /// Slots of the key, in its order.
    let keySlots: [Int]
    let nodes = NodeList()
    private(set) var takers: [Taker] = []
    private let ignored: [KeyPath]
    let policies: EntityPolicies
    /// Unmapped paths that were met, with their counts.
    private(set) var unmapped: [(path: String, count: Int)] = []
    /// How many there were in all.
    private(set) var unmappedTotal = 0
    /// A response that uses values as keys would otherwise be listed key by key.
    private static let unmappedLimit = 200

    /// - Parameter paths: for each slot the paths of its value, best first.
    init(_ entity: Catalog.Entity, _ slots: [Slot], _ details: [SlotDetails], paths: [[KeyPath]], ignored: [KeyPath],
        policies: EntityPolicies) {
        self.policies = policies
        self.entity = entity
        self.slots = slots
        self.details = details
        rules = details.map { Unmanaged.passUnretained($0.rule) }
        self.ignored = ignored
        keySlots = entity.key.compactMap { id in slots.firstIndex { $0.field == id } }
        for (slot, paths) in paths.enumerated() { add(paths, for: slot) }
        coverNodes()
    }

    private func add(_ paths: [KeyPath], for slot: Int) {
        for (rank, path) in paths.enumerated() {
            var node = 0
            for (depth, key) in path.keys.enumerated() {
                let isLast = depth == path.keys.count - 1
                var bytes = Array(key.utf8)
                let found = bytes.withUnsafeBytes { nodes[node].table.find($0) }
                let position: Int
                if let found {
                    position = found
                } else {
                    position = nodes[node].entries.count
                    bytes.withUnsafeMutableBytes { nodes[node].table.insert(Bytes($0), position) }
                    nodes[node].entries.append(KeyNode.Entry())
                }
                if isLast {
                    let next = nodes[node].entries[position].taker
                    nodes[node].entries[position].taker = Int32(takers.count)
                    takers.append(Taker(slot: slot, rank: rank, next: next))
                } else if nodes[node].entries[position].child >= 0 {
                    node = Int(nodes[node].entries[position].child)
                } else {
                    let child = nodes.append()
                    nodes[node].entries[position].child = Int32(child)
                    node = child
                }
            }
        }
    }

    /// Whether the first alternate of every component of the key was found.
    func hasBestKey(_ found: borrowing PlaceList) -> Bool {
        for slot in keySlots where found[slot].rank != 0 { return false }
        return true
    }

    /// What a slot takes as a whole has no unmapped keys.
    private func coverNodes() {
        var pending = [0]
        while let node = pending.popLast() {
            for entry in nodes[node].entries where entry.child >= 0 {
                let child = Int(entry.child)
                nodes[child].isCovered = nodes[node].isCovered || entry.taker >= 0
                pending.append(child)
            }
        }
    }

    /// Registers a key that was met for the first time and is not mapped.
    ///
    /// - Parameter prefix: the keys above it.
    func meet(_ key: Bytes, in node: Int, prefix: [String]) {
        guard !nodes[node].isCovered, nodes[node].unmappedCount < EntityPlan.unmappedLimit else { return }
        nodes[node].unmappedCount += 1
        let path = KeyPath(keys: prefix + [String(decoding: key, as: UTF8.self)])
        var entry = KeyNode.Entry()
        if ignored.contains(where: { $0.covers(path) }) {
            entry.unmapped = KeyNode.Entry.none
        } else if policies.rest != EntityPolicies.noField {
            entry.unmapped = KeyNode.Entry.kept
        } else {
            entry.unmapped = Int32(unmapped.count)
            unmapped.append((path.description, 1))
            unmappedTotal += 1
        }
        nodes[node].table.insert(key, nodes[node].entries.count)
        nodes[node].entries.append(entry)
    }

    func countUnmapped(_ index: Int) {
        unmapped[index].count += 1
        unmappedTotal += 1
    }

    /// Takes the counts since the last call.
    func takeUnmapped() -> [(path: String, count: Int)] {
        defer { for index in unmapped.indices { unmapped[index].count = 0 } }
        return unmapped.filter { $0.count > 0 }
    }
}

/// Nodes are not copyable, so they live in memory of their own.
final class NodeList {
    private var nodes: UnsafeMutablePointer<KeyNode>
    private var count = 1
    private var capacity = 4

    init() {
        nodes = .allocate(capacity: capacity)
        nodes.initialize(to: KeyNode())
    }

    deinit {
        nodes.deinitialize(count: count)
        nodes.deallocate()
    }

    subscript(index: Int) -> KeyNode {
        _read {
            precondition(index < count)
            yield nodes[index]
        }
        _modify {
            precondition(index < count)
            yield &nodes[index]
        }
    }

    func append() -> Int {
        if count == capacity {
            let larger = UnsafeMutablePointer<KeyNode>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: nodes, count: count)
            nodes.deallocate()
            nodes = larger
            capacity *= 2
        }
        (nodes + count).initialize(to: KeyNode())
        count += 1
        return count - 1
    }
}

extension KeyPath {
    /// Whether this pattern (`*` stands for any run of characters in a key) matches a path or something above it. A pattern
    /// that ends in `.*` covers the whole object: below a key that nothing maps, its keys are not looked at one by one.
    func covers(_ path: KeyPath) -> Bool {
        var keys = keys[...]
        while keys.count > 1, keys.last == "*" { keys.removeLast() }
        return keys.count <= path.keys.count
            && zip(keys, path.keys).allSatisfy { KeyPath.glob(Array($0.utf8), Array($1.utf8)) }
    }

    static func glob(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var p = 0, t = 0, lastStar: Int?, resume = 0
        while t < text.count {
            if p < pattern.count, pattern[p] == star {
                lastStar = p
                resume = t
                p += 1
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let star = lastStar {
                p = star + 1
                resume += 1
                t = resume
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == star { p += 1 }
        return p == pattern.count
    }
}

/// The plans of all entities.
struct ImportPlan {
    let plans: [EntityPlan]

    /// - Throws: `.unknownEntity` or `.unknownField` if the mapping names what the catalog does not have.
    init(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) {
        for (name, entityMapping) in mapping.entities {
            guard let entity = catalog.entity(name) else { throw .unknownEntity(name) }
            if let version = entityMapping.version, entity.field(version) == nil { throw .unknownField(entity: name, field: version) }
            if let rest = entityMapping.rest, entity.field(rest) == nil { throw .unknownField(entity: name, field: rest) }
            for (field, rules) in entityMapping.fields {
                for transformer in rules.transformers ?? [] where mapping.transformer(transformer) == nil {
                    throw .unknownTransformer(entity: name, field: field, name: transformer)
                }
            }
            let fields =
                entityMapping.paths.keys.sorted() + entityMapping.epochs.keys.sorted() + entityMapping.fields.keys.sorted()
                + entityMapping.declared.sorted()
            for field in fields {
                guard entity.field(field) != nil || catalog.relationship(field, of: entity) != nil else {
                    throw .unknownField(entity: name, field: field)
                }
            }
        }
        let positions = Dictionary(uniqueKeysWithValues: catalog.entities.enumerated().map { ($1.id, $0) })
        plans = catalog.entities.map { entity in
            let entityMapping = mapping.entities[entity.name] ?? EntityMapping()
            var slots: [Slot] = [], details: [SlotDetails] = [], slotPaths: [[KeyPath]] = []
            func add(_ slot: Slot, _ slotDetails: SlotDetails) {
                let own = mapping.naming.jsonKeys(for: slotDetails.name).map { KeyPath(keys: [$0]) }
                let declared = entityMapping.paths[slotDetails.name] ?? []
                slots.append(slot)
                details.append(slotDetails)
                // What keeps the rest takes nothing of its own.
                slotPaths.append(slotDetails.name == entityMapping.rest ? [] : declared + own.filter { !declared.contains($0) })
            }
            for field in entity.fields {
                var slot = Slot(field: field.id, kind: .attribute, isOptional: field.isOptional)
                var slotDetails = SlotDetails(name: field.name)
                switch field.kind {
                case .attribute(let type):
                    let rules = mapping.rules(of: entityMapping, field.name)
                    // A key is read before its record is, and always in the same way.
                    slotDetails.rule = entity.key.contains(field.id) ? ValueRule(type) : ValueRule(
                        type, rules.coercion ?? .lenient, dates: rules.dates ?? [], fallback: rules.fallback,
                        transformers: (rules.transformers ?? []).compactMap(mapping.transformer))
                case .reference(let reference):
                    guard let destination = positions[reference.destination] else { continue }
                    slot.kind = reference.isToMany ? .toMany(destination: destination) : .toOne(destination: destination)
                }
                slot.isKey = entity.key.contains(field.id)
                let rules = mapping.rules(of: entityMapping, field.name)
                slot.ignoresNull = rules.nulls == .ignore
                slot.clearsAbsent = rules.absent == .clear && field.isOptional && !slot.isKey
                slot.toMany = rules.toMany ?? .replace
                add(slot, slotDetails)
            }
            for relationship in catalog.relationships(of: entity) where !relationship.isStored {
                // A derived side takes part only if the description says where its JSON is, or declares it.
                guard entityMapping.paths[relationship.name] != nil || entityMapping.declared.contains(relationship.name),
                    let owner = positions[relationship.owner],
                    let field = catalog.entities[owner].field(id: relationship.field),
                    case .reference(let reference) = field.kind
                else { continue }
                var slotDetails = SlotDetails(name: relationship.name)
                slotDetails.derived = SlotDetails.Derived(
                    owner: owner, field: field, reference: reference, isToMany: relationship.isToMany)
                let rules = mapping.rules(of: entityMapping, relationship.name)
                var slot = Slot(field: 0, kind: .derived, isOptional: true)
                slot.ignoresNull = rules.nulls == .ignore
                slot.toMany = rules.toMany ?? .replace
                add(slot, slotDetails)
            }
            return EntityPlan(
                entity, slots, details, paths: slotPaths, ignored: entityMapping.ignored,
                policies: EntityPolicies(mapping, entityMapping, entity, slots))
        }
    }

    func position(of entity: String) -> Int? { plans.firstIndex { $0.entity.name == entity } }
}
