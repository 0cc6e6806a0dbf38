internal import LMDB

/// Collects the targets of a relationship of many records, then reads each once, in key order.
@usableFromInline
final class RelatedKeys {
    let access: StoreAccess
    private let relationship: Catalog.Relationship
    let destination: Catalog.Entity
    /// The field of a stored relationship; nil for a derived one.
    private let field: UInt16?
    // No access overlaps another: one thread fills an instance, and no closure that it calls comes
    // back to it. Checked at run time, that took a twentieth of a query.
    /// Every target once, in the order of discovery.
    @exclusivity(unchecked) private var keys = ByteWriter(capacity: 1024)
    @exclusivity(unchecked) private var keyEnds: [Int32] = []
    @exclusivity(unchecked) private var slots: [Int32] = Array(repeating: -1, count: 128)
    private let hasher = KeyedHash()
    /// The positions of targets, owner by owner, and the end of each owner's part.
    @exclusivity(unchecked) private var targets: [Int32] = []
    @exclusivity(unchecked) private var ends: [Int32] = []

    init(_ access: StoreAccess, _ entity: Catalog.Entity, _ name: String) throws(StoreError) {
        guard let relationship = access.catalog.relationship(name, of: entity),
            let destination = access.catalog.entity(id: relationship.destination)
        else {
            throw .unknownField(
                entity: entity.name, name: name, known: access.catalog.relationships(of: entity).map(\.name))
        }
        self.access = access
        self.relationship = relationship
        self.destination = destination
        field = relationship.isStored ? relationship.field : nil
    }

    /// Adds the next owner, with its row.
    func add(_ storageKey: Bytes, _ row: EncodedRow) throws {
        if let field {
            if let value = row.body.value(of: field), !value.isNull {
                if let target = value.reference {
                    insert(target)
                } else {
                    let isComplete = try access.forEachReference(value) { target in
                        insert(target)
                        return true
                    }
                    guard isComplete else {
                        throw StoreError.damagedRow(entity: destination.name, key: access.describe(storageKey))
                    }
                }
            }
        } else {
            try access.targets(of: storageKey, relationship) { target in
                insert(target)
                return true
            }
        }
        ends.append(Int32(targets.count))
    }

    /// Adds owners by their keys. An owner that no longer exists has no targets.
    func add(_ owners: StorageKeys, _ entity: Catalog.Entity) throws {
        let cursor = try access.raw.cursor(access.state.records(of: entity.root))
        defer { cursor.close() }
        for position in 0..<owners.count {
            try owners.with(position) { key in
                try access.lending {
                    guard let entry = try cursor.find(key) else { return ends.append(Int32(targets.count)) }
                    try add(key, access.records.view(entry.value, entity, key))
                }
            }
        }
    }

    private func key(_ position: Int) -> Bytes {
        keys.bytes((position == 0 ? 0 : Int(keyEnds[position - 1]))..<Int(keyEnds[position]))
    }

    private func insert(_ target: Bytes) {
        var slot = slot(target)
        if slots[slot] < 0 {
            keys.append(target)
            keyEnds.append(Int32(keys.count))
            slots[slot] = Int32(keyEnds.count - 1)
            if keyEnds.count * 2 > slots.count {
                grow()
                slot = self.slot(target)
            }
        }
        targets.append(slots[slot])
    }

    /// Returns the slot of a target, or the free slot for it.
    private func slot(_ target: Bytes) -> Int {
        var slot = Int(truncatingIfNeeded: hasher.hash(target)) & (slots.count - 1)
        while slots[slot] >= 0, !Bytes.equal(key(Int(slots[slot])), target) { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private func grow() {
        slots = Array(repeating: -1, count: slots.count * 2)
        for position in keyEnds.indices { slots[slot(key(position))] = Int32(position) }
    }

    /// Reads the targets with one cursor, in the order of their keys.
    ///
    /// - Parameter body: called with each row that exists. It returns false if the record is
    ///   partial and lacks a required value.
    func load(_ body: (Bytes, EncodedRow) throws -> Bool) throws -> IncludedPlaces {
        let order = keyEnds.indices.sorted { Bytes.compare(key($0), key($1)) < 0 }
        let raw = access.raw, cursor = try raw.cursor(access.state.records(of: destination.root))
        defer { cursor.close() }
        var missing = IncludedPlaces.Others(), partial = IncludedPlaces.Others(), found = StorageKeys(),
            count: Int32 = 0
        // The place of a returned record is its position. The place of any other is the complement
        // of twice its position among the others, plus 1 if it is partial.
        var places = [Int32](repeating: 0, count: order.count)
        for position in order {
            let key = key(position), mark = access.rowMark
            defer { access.release(to: mark) }
            if let entry = try cursor.find(key) {
                let row = try access.records.view(entry.value, destination, key)
                if try access.records.isOf(destination, row) {
                    if try body(key, row) {
                        places[position] = count
                        count += 1
                        found.append(key)
                    } else {
                        places[position] = ~(Int32(partial.keys.count) * 2 + 1)
                        partial.keys.append(RecordKey(reference: key))
                    }
                    continue
                }
            }
            places[position] = ~(Int32(missing.keys.count) * 2)
            missing.keys.append(RecordKey(reference: key))
        }
        guard !missing.keys.isEmpty || !partial.keys.isEmpty else {
            return IncludedPlaces(
                targets: targets.map { places[Int($0)] }, ends: ends, missing: missing, partial: partial, keys: found)
        }
        var present: [Int32] = [], presentEnds: [Int32] = [], next = 0
        for end in ends {
            while next < Int(end) {
                let place = places[Int(targets[next])]
                if place >= 0 {
                    present.append(place)
                } else if ~place & 1 == 0 {
                    missing.targets.append(~place / 2)
                } else {
                    partial.targets.append(~place / 2)
                }
                next += 1
            }
            presentEnds.append(Int32(present.count))
            missing.endOwner()
            partial.endOwner()
        }
        return IncludedPlaces(targets: present, ends: presentEnds, missing: missing, partial: partial, keys: found)
    }

    /// The entry point of inlined code.
    @usableFromInline
    func load(_ plan: Unmanaged<RowPlan>, _ body: (RowView) throws -> Bool) throws -> IncludedPlaces {
        try load { key, view in try body(access.records.lent(view, plan, key)) }
    }
}
