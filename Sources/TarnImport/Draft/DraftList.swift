// The drafts of a unit: one per record, however often the record occurs.

internal import TarnStore

/// The drafts of a unit: (root entity, storage key) → a body with the fields that are present.
struct DraftList: ~Copyable {
    struct Draft {
        var plan: Int32
        /// The plan of the tree's topmost entity.
        var root: Int32
        /// Whether a response lists the record, or a nested object has all required fields.
        var isComplete: Bool
        var isWide: Bool
        var keyLength: UInt8
        var key: Int
        var body: Int
        var bodyLength: Int
        /// The number of bytes at `body` that are the draft's.
        var bodyRoom: Int
        /// Whether the body has outgrown its first place.
        var hasMoved = false
        /// The first eight bytes of the key, which decide most comparisons.
        var prefix: UInt64
        var hash: UInt64
        /// The index of the kept JSON that is equivalent to the body; -1 if there is none.
        var excerpt: Int32 = -1
        /// The record's location in a document, for diagnostics of the merge.
        var location = DraftLocation()
        /// Whether the response reports the record as deleted.
        var isDeleted = false
        /// Whether a rule chooses exactly the plan's entity.
        var isExact = false
        /// The last element that has the record.
        var element: Int32 = 0
    }

    private(set) var drafts: [Draft] = []
    /// The inheritance trees. A record belongs to a tree, whatever its concrete entity.
    var kinds = PlanKinds()
    var plans: [EntityPlan] = []
    /// The location of drafts that are added from now on.
    var location = DraftLocation()
    private var arena = ByteWriter(capacity: 1 << 20)
    private var slots: [Int32] = Array(repeating: -1, count: 1 << 12)
    private let hasher = KeyedHash()
    private var merged = BodyBuilder()
    /// Kept JSON, each with the offset of the body that it is equivalent to.
    private var excerpts: [(json: Excerpt, body: Int)] = []
    /// The number of repeated records with a different value for the same field.
    private(set) var conflicts = 0
    /// Whether a repeated record was of different entities.
    private(set) var hasMixedKinds = false
    /// The number of the element whose records are noted; 0 for none.
    private var element: Int32 = 0
    /// The drafts of the records that the element has, in the order of their first occurrence.
    private(set) var noted: [Int32] = []

    var count: Int { drafts.count }
    /// The number of bytes that are kept.
    var byteCount: Int { arena.count }
    /// The number of bytes that were written: those that are kept, and those of merged bodies in
    /// the places of earlier ones.
    var writtenCount: Int { arena.count + overwritten }
    private var overwritten = 0

    func key(_ draft: Draft) -> Bytes { arena.bytes(draft.key..<draft.key + Int(draft.keyLength)) }

    func body(_ draft: Draft) -> RowBody? {
        RowBody(arena.bytes(draft.body..<draft.body + draft.bodyLength), isWide: draft.isWide)
    }

    mutating func removeAll() {
        drafts.removeAll(keepingCapacity: true)
        excerpts.removeAll()
        arena.removeAll()
        overwritten = 0
        for index in slots.indices { slots[index] = -1 }
        conflicts = 0
        hasMixedKinds = false
        endElement()
    }

    // MARK: The records of an element

    /// Begins to note the records of an element.
    ///
    /// - Parameter number: another one for each element of the unit, and not 0.
    mutating func beginElement(_ number: Int) {
        element = Int32(truncatingIfNeeded: number)
        noted.removeAll(keepingCapacity: true)
    }

    mutating func endElement() { beginElement(0) }

    /// Notes that the element has a record.
    @inline(__always)
    private mutating func note(_ index: Int) {
        guard element != 0, drafts[index].element != element else { return }
        drafts[index].element = element
        noted.append(Int32(truncatingIfNeeded: index))
    }

    /// Notes that the element has a record again.
    mutating func noteKnown(_ index: Int) { note(index) }

    /// Returns the draft of a record in the plan's tree.
    func find(_ plan: Int, _ key: Bytes) -> Int? {
        let root = kinds.root(of: plan)
        return find(root, key, hash(root, key))
    }

    private func find(_ root: Int32, _ key: Bytes, _ hash: UInt64) -> Int? {
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while slots[position] >= 0 {
            let index = Int(slots[position])
            if drafts[index].hash == hash, drafts[index].root == root, Bytes.equal(self.key(drafts[index]), key) {
                return index
            }
            position = (position + 1) & mask
        }
        return nil
    }

    /// Adds an object's body. If the record has a draft, both are united: the later value wins.
    ///
    /// - Parameters:
    ///   - knownWins: whether the earlier value wins.
    ///   - deletion: whether the object reports the record as deleted (true) or present (false);
    ///     nil for neither.
    /// - Returns: the index of the existing draft if the body is equal to it.
    mutating func add(
        _ plan: Int, _ key: Bytes, body: Bytes, isWide: Bool, isComplete: Bool, isExact: Bool = false,
        knownWins: Bool = false,
        deletion: Bool? = nil
    ) -> Int? {
        let root = kinds.root(of: plan), hash = hash(root, key)
        guard let index = find(root, key, hash) else {
            let keyOffset = arena.count
            arena.append(key)
            let bodyOffset = arena.count
            arena.append(body)
            insert(
                Draft(
                    plan: Int32(plan), root: root, isComplete: isComplete, isWide: isWide, keyLength: UInt8(key.count),
                    key: keyOffset,
                    body: bodyOffset, bodyLength: body.count, bodyRoom: body.count, prefix: key.prefix64, hash: hash,
                    location: location, isDeleted: deletion ?? false, isExact: isExact))
            note(drafts.count - 1)
            return nil
        }
        note(index)
        drafts[index].isComplete = drafts[index].isComplete || isComplete
        if let deletion { drafts[index].isDeleted = deletion }
        let draft = drafts[index]
        let known = arena.bytes(draft.body..<draft.body + draft.bodyLength)
        var dropped: Set<UInt16> = [], isSameKind = true
        if draft.plan != Int32(plan) || (isExact && !draft.isExact) {
            (hasMixedKinds, isSameKind) = (true, false)
            dropped = changeKind(index, to: plan, isExact: isExact, knownWins: knownWins)
        } else if Bytes.equal(known, body) {
            return index
        }
        guard let old = RowBody(known, isWide: draft.isWide), let new = RowBody(body, isWide: isWide) else {
            return nil
        }
        // A reference to a large record need not copy it.
        if isSameKind, DraftList.contains(old, new) { return nil }
        if DraftList.contradict(old, new) { conflicts += 1 }
        if knownWins {
            merged.merge(old: new, new: old, dropping: dropped)
        } else {
            merged.merge(old: old, new: new, dropping: dropped)
        }
        replaceBody(of: index, isSameKind: isSameKind)
        return nil
    }

    /// Gives a draft the merged body.
    ///
    /// It takes the place of the known one if it fits there. A large record that a response repeats
    /// with other values would otherwise be kept as often as it occurs.
    private mutating func replaceBody(of index: Int, isSameKind: Bool) {
        let draft = drafts[index], end = arena.count
        merged.finish(into: &arena)
        let length = arena.count - end
        if isSameKind,
            Bytes.equal(arena.bytes(draft.body..<draft.body + draft.bodyLength), arena.bytes(end..<arena.count))
        {
            overwritten += length
            return arena.truncate(to: end)
        }
        drafts[index].bodyLength = length
        drafts[index].isWide = merged.isWide
        guard length > draft.bodyRoom else {
            // The kept JSON is equivalent to the known body, not to this one.
            drafts[index].excerpt = -1
            overwritten += length
            (arena.base + draft.body).copyMemory(from: arena.base + end, byteCount: length)
            return arena.truncate(to: end)
        }
        // A quarter more than the body needs: all places of a body that grows and grows have a few
        // times its size.
        if draft.hasMoved { arena.append([UInt8](repeating: 0, count: length / 4)) }
        drafts[index].body = end
        drafts[index].bodyRoom = arena.count - end
        drafts[index].hasMoved = true
    }

    /// Changes the plan of a draft to the entity of a repeated object, if that entity wins.
    ///
    /// If one of the two entities descends from the other, the more specific one wins, unless a
    /// rule chose only the other one exactly. Otherwise, the entity of the winning values wins.
    ///
    /// - Returns: the fields of the losing entity that the winning one does not have.
    private mutating func changeKind(_ index: Int, to plan: Int, isExact: Bool, knownWins: Bool) -> Set<UInt16> {
        let known = Int(drafts[index].plan)
        if kinds.isKind(known, of: plan), drafts[index].isExact || !isExact || known == plan {
            drafts[index].isExact = drafts[index].isExact || isExact && known == plan
            return []
        }
        if kinds.isKind(plan, of: known), !drafts[index].isExact || isExact {
            drafts[index].plan = Int32(plan)
            drafts[index].isExact = isExact
            return []
        }
        if !knownWins {
            drafts[index].plan = Int32(plan)
            drafts[index].isExact = isExact
        }
        let loser = plans[knownWins ? plan : known].entity, winner = plans[knownWins ? known : plan].entity
        return Set(loser.fields.map(\.id)).subtracting(winner.fields.map(\.id))
    }

    /// Keeps the JSON of an object that is equivalent to a draft, to recognize it when repeated.
    mutating func keep(_ tape: Tape, _ object: Int, for index: Int) {
        let kept = Int(drafts[index].excerpt)
        // One per body. Otherwise, values that the body does not contain could fill the memory.
        guard kept < 0 || excerpts[kept].body != drafts[index].body,
            let json = Excerpt(tape, object, into: &arena)
        else { return }
        drafts[index].excerpt = Int32(excerpts.count)
        excerpts.append((json, drafts[index].body))
    }

    /// Returns whether an object of a plan is known to be equivalent to a draft.
    ///
    /// As a record of another entity, equal JSON has other fields, and may change the entity of the
    /// draft.
    func isKnown(_ tape: Tape, _ object: Int, of plan: Int, isExact: Bool, for index: Int) -> Bool {
        let kept = Int(drafts[index].excerpt)
        // A draft whose entity changes has another body.
        guard kept >= 0, excerpts[kept].body == drafts[index].body, drafts[index].plan == Int32(plan),
            drafts[index].isExact || !isExact
        else { return false }
        return excerpts[kept].json.matches(tape, object, in: arena.bytes)
    }

    /// Returns the indexes of all drafts by entity and key: the order of the tables.
    func sorted() -> [Int] {
        drafts.indices.sorted { a, b in
            let x = drafts[a], y = drafts[b]
            if x.root != y.root { return x.root < y.root }
            if x.prefix != y.prefix { return x.prefix < y.prefix }
            return Bytes.compare(key(x), key(y)) < 0
        }
    }

    private mutating func insert(_ draft: Draft) {
        drafts.append(draft)
        if drafts.count * 2 > slots.count {
            slots = Array(repeating: -1, count: slots.count * 2)
            for index in drafts.indices { place(index) }
        } else {
            place(drafts.count - 1)
        }
    }

    private mutating func place(_ index: Int) {
        var position = Int(truncatingIfNeeded: drafts[index].hash) & (slots.count - 1)
        while slots[position] >= 0 { position = (position + 1) & (slots.count - 1) }
        slots[position] = Int32(index)
    }

    /// Returns whether a body has all fields of another one, with the same values.
    private static func contains(_ a: RowBody, _ b: RowBody) -> Bool {
        var i = 0
        for j in 0..<b.count {
            let id = b.id(at: j)
            while i < a.count, a.id(at: i) < id { i += 1 }
            guard i < a.count, a.id(at: i) == id, let known = a.value(at: i), let value = b.value(at: j),
                value.isContained(in: known)
            else { return false }
        }
        return true
    }

    private static func contradict(_ a: RowBody, _ b: RowBody) -> Bool {
        var i = 0, j = 0
        while i < a.count, j < b.count {
            let x = a.id(at: i), y = b.id(at: j)
            if x == y, let p = a.value(at: i), let q = b.value(at: j), !p.isContained(in: q), !q.isContained(in: p) {
                return true
            }
            if x <= y { i += 1 }
            if y <= x { j += 1 }
        }
        return false
    }

    private func hash(_ root: Int32, _ key: Bytes) -> UInt64 {
        hasher.hash(key, kind: UInt64(truncatingIfNeeded: root))
    }

    /// The sum of the distances of all drafts from the slots of their hashes.
    ///
    /// It is the number of probes, beyond one per draft, for finding every draft once.
    var displacement: Int {
        slots.indices.reduce(0) { sum, slot in
            slots[slot] < 0
                ? sum : sum + (slot - Int(truncatingIfNeeded: drafts[Int(slots[slot])].hash)) & (slots.count - 1)
        }
    }
}
