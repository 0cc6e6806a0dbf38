// A mapping compiled against a catalog: for every entity a tree of JSON keys that leads to slots.

internal import TarnStore

/// The compiled mapping of one entity: turns its JSON objects into drafts.
final class EntityPlan {
    let entity: Catalog.Entity
    /// Stored fields in ascending order of ids, then derived relationships.
    let slots: [Slot]
    let details: [SlotDetails]
    /// Unretained references to the rules of `details`, which own them.
    ///
    /// A rule is read for every value; this avoids the reference counting.
    let rules: [Unmanaged<ValueRule>]
    /// The slots of the key, in the key's order.
    let keySlots: [Int]
    let nodes: NodeList
    private(set) var takers: [Taker] = []
    /// The sources that the tree of keys cannot find; mostly none.
    private(set) var extras: [ExtraSource] = []
    /// Whether there are extras, extras of the key, and extras that depend on surroundings.
    private(set) var hasExtras = false, hasKeyExtras = false, isContextual = false
    /// Whether its records may be lists, or values without keys; and whether these are values that
    /// are no lists, too.
    private(set) var takesItself = false, takesValue = false
    /// The choice among the plans of descendant entities; nil if this plan always applies.
    private(set) var choice: CompiledChoice?
    private(set) var hasChoice = false
    /// The URLs of the records, and whether they are declared.
    private(set) var url: URLMatcher?
    private(set) var hasURL = false
    /// The URLs of the targets of relationships, by slot, and whether there are any.
    private var referenceURLs: [Int: URLMatcher] = [:]
    private(set) var hasReferenceURLs = false
    /// The JSON keys of a bare key and of a URL in a record that has nothing else.
    var excerptKey: String?, excerptURL: String?
    /// Whether a reference may be to the enclosing record (`@parent`).
    private(set) var takesOwner = false
    /// The number of places to locate: the slots, then the places where extras start.
    private(set) var placeCount: Int
    private let ignored: [JSONPath]
    let policies: EntityPolicies
    /// Whether the entity has a unique index: a record may be dropped because of another one.
    let hasUnique: Bool
    /// Unmapped paths found so far, with their counts.
    private(set) var unmapped: [(path: String, count: Int)] = []
    /// The number of their occurrences since the plan was created.
    private(set) var unmappedTotal = 0
    /// The most unmapped and ignored keys that a node registers: a response may use values as keys.
    private static let unmappedLimit = 200, ignoredLimit = 2000

    /// Creates a plan without sources; they are added one by one.
    init(
        _ entity: Catalog.Entity, _ slots: [Slot], _ details: [SlotDetails], ignored: [JSONPath],
        policies: EntityPolicies
    ) {
        self.policies = policies
        self.entity = entity
        hasUnique = entity.fields.contains(where: \.isUnique) || entity.indexes.contains(where: \.isUnique)
        self.slots = slots
        self.details = details
        rules = details.map { Unmanaged.passUnretained($0.rule) }
        self.ignored = ignored
        nodes = NodeList()
        placeCount = slots.count
        keySlots = entity.key.compactMap { id in slots.firstIndex { $0.field == id } }
    }

    /// Creates a plan for an importer of another one, which must not change from then on.
    ///
    /// It shares what an import only reads. An import notes unmapped keys, and the parts of URLs.
    init(copying other: EntityPlan) {
        entity = other.entity
        slots = other.slots
        details = other.details
        rules = other.rules
        keySlots = other.keySlots
        nodes = NodeList(sharing: other.nodes)
        takers = other.takers
        let url = other.url.map { URLMatcher(copying: $0) }
        self.url = url
        hasURL = other.hasURL
        extras = other.extras.map { $0.with(url) }
        hasExtras = other.hasExtras
        hasKeyExtras = other.hasKeyExtras
        isContextual = other.isContextual
        takesItself = other.takesItself
        takesValue = other.takesValue
        choice = other.choice.map { CompiledChoice(copying: $0, url: url) }
        hasChoice = other.hasChoice
        referenceURLs = other.referenceURLs.mapValues { URLMatcher(copying: $0) }
        hasReferenceURLs = other.hasReferenceURLs
        excerptKey = other.excerptKey
        excerptURL = other.excerptURL
        takesOwner = other.takesOwner
        placeCount = other.placeCount
        ignored = other.ignored
        policies = other.policies
        hasUnique = other.hasUnique
    }

    /// Adds a source that consists of keys of the record.
    func add(keys: [String], to place: Int, rank: Int, isKey: Bool) {
        var node = 0
        for (depth, key) in keys.enumerated() {
            let position = entry(key, in: node)
            if depth == keys.count - 1 {
                let next = nodes[node].entries[position].taker
                nodes[node].entries[position].taker = Int32(takers.count)
                takers.append(Taker(place: place, rank: rank, isKey: isKey, next: next))
            } else if nodes[node].entries[position].child >= 0 {
                node = Int(nodes[node].entries[position].child)
            } else {
                let child = nodes.append()
                nodes[child].path = nodes[node].path + [key]
                nodes[node].entries[position].child = Int32(child)
                node = child
            }
        }
    }

    private func entry(_ key: String, in node: Int) -> Int {
        var bytes = Array(key.utf8)
        if let found = bytes.withUnsafeBytes({ nodes[node].table.find($0) }) { return found }
        let position = nodes[node].entries.count
        bytes.withUnsafeMutableBytes { nodes[node].table.insert(Bytes($0), position) }
        nodes[node].entries.append(KeyNode.Entry())
        return position
    }

    /// Adds a place that keys of the record lead to, and where an extra starts.
    func addPlace(_ keys: [String], isKey: Bool) -> Int {
        placeCount += 1
        add(keys: keys, to: placeCount - 1, rank: 0, isKey: isKey)
        return placeCount - 1
    }

    func set(_ choice: CompiledChoice) {
        self.choice = choice
        hasChoice = true
    }

    func set(_ url: URLMatcher) {
        self.url = url
        hasURL = true
    }

    func set(_ url: URLMatcher, ofReference slot: Int) {
        referenceURLs[slot] = url
        hasReferenceURLs = true
    }

    /// Returns the URLs of a relationship's targets; nil if they are those of the target's entity.
    func url(ofReference slot: Int) -> URLMatcher? { referenceURLs[slot] }

    func add(_ extra: ExtraSource) {
        extras.append(extra)
        hasExtras = true
        hasKeyExtras = hasKeyExtras || extra.isKey
        isContextual = isContextual || extra.isContextual
        takesItself = takesItself || extra.takesItself
        takesValue = takesValue || extra.takesValue
        if case .owner = extra.kind { takesOwner = true }
    }

    /// Returns whether the first alternate of every component of the key was found.
    func hasBestKey(_ found: borrowing PlaceList) -> Bool {
        for slot in keySlots where found[slot].rank != 0 { return false }
        return true
    }

    /// Marks the nodes below a slot's path as covered, as a slot takes a whole object, and those
    /// whose keys are all ignored.
    ///
    /// Covered nodes report no unmapped keys. Call this after all sources are added.
    func coverNodes() {
        // An ignored path that covers every key of an object covers the empty one, too.
        nodes[0].isCovered = ignores(.empty, in: 0)
        var pending = [0]
        while let node = pending.popLast() {
            for entry in nodes[node].entries where entry.child >= 0 {
                let child = Int(entry.child)
                nodes[child].isCovered =
                    nodes[node].isCovered || entry.taker >= 0 || ignores(.empty, in: child)
                pending.append(child)
            }
        }
    }

    /// Registers an unmapped key at its first occurrence.
    ///
    /// - Parameter prefix: the keys above it.
    func meet(_ key: Bytes, in node: Int, prefix: [String]) {
        guard !nodes[node].isCovered, nodes[node].unmappedCount < EntityPlan.unmappedLimit else { return }
        let path = JSONPath(keys: prefix + [String(decoding: key, as: UTF8.self)])
        var entry = KeyNode.Entry()
        if ignored.contains(where: { $0.covers(path) }) {
            guard nodes[node].ignoredCount < EntityPlan.ignoredLimit else { return }
            nodes[node].ignoredCount += 1
            entry.unmapped = KeyNode.Entry.none
        } else {
            nodes[node].unmappedCount += 1
            if policies.rest != EntityPolicies.noField {
                entry.unmapped = KeyNode.Entry.kept
            } else {
                entry.unmapped = Int32(unmapped.count)
                unmapped.append(
                    (key.count > 200 ? JSONPath(keys: prefix + [Tape.excerpt(key)]).description : path.description, 1))
                unmappedTotal += 1
            }
        }
        nodes[node].table.insert(key, nodes[node].entries.count)
        nodes[node].entries.append(entry)
    }

    /// Returns whether a key that a node has not registered is ignored.
    func ignores(_ key: Bytes, in node: Int) -> Bool {
        guard !ignored.isEmpty else { return false }
        if nodes[node].isCovered { return true }
        let path = JSONPath(keys: nodes[node].path + [String(decoding: key, as: UTF8.self)])
        return ignored.contains { $0.covers(path) }
    }

    func countUnmapped(_ index: Int) {
        unmapped[index].count += 1
        unmappedTotal += 1
    }

    /// Returns the counts since the last call, and resets them.
    func takeUnmapped() -> [(path: String, count: Int)] {
        defer { for index in unmapped.indices { unmapped[index].count = 0 } }
        return unmapped.filter { $0.count > 0 }
    }
}
