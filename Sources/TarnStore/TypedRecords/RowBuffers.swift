import Foundation

/// The buffers of the encoding, reused from record to record, by one encoder of a writer at a time.
@usableFromInline
final class RowBuffers {
    @usableFromInline @exclusivity(unchecked) var values = ValueEncoder()
    /// The start and the end of the value of each slot in `values`; equal for fields that are not
    /// set, since a value has a byte at least.
    @exclusivity(unchecked) private var places = PairList()
    /// The fields of the body.
    ///
    /// If they arrive in ascending order of ids, each once, `values` already is its value part.
    @exclusivity(unchecked) private var body = BodyBuilder()
    @exclusivity(unchecked) private var isInOrder = true
    @exclusivity(unchecked) private var encoded = ByteWriter(capacity: 2048)
    @exclusivity(unchecked) private(set) var storageKey = ByteWriter(capacity: 256)
    /// The fields whose values may have been read from others that they do not represent exactly.
    @exclusivity(unchecked) private var approximate: [(slot: Int, rewritten: ((String) -> String?)?)] = []
    /// The first value that does not fit the catalog.
    private(set) var problem: StoreError?

    func removeAll(fields: Int) {
        values.writer.removeAll()
        body.removeAll()
        encoded.removeAll()
        storageKey.removeAll()
        places.clear(fields)
        isInOrder = true
        if !approximate.isEmpty { approximate.removeAll() }
        if problem != nil { problem = nil }
    }

    /// Refuses a change of a field, unless there is an earlier problem.
    func refuse(_ error: StoreError) { problem = problem ?? error }

    /// Starts the value of a field.
    ///
    /// - Returns: the offset at which the value begins.
    @usableFromInline
    func begin(_ slot: Int, _ plan: RowPlan) -> Int {
        precondition(slot >= 0 && slot < places.count, "the field must be a case of its type")
        values.textTag = plan.tags[slot].text
        return values.writer.count
    }

    @usableFromInline
    func end(_ slot: Int, from start: Int, _ plan: RowPlan) {
        let end = values.writer.count, encoded = EncodedValue(values.writer.bytes(start..<end))
        if encoded.tag != plan.tags[slot].sufficient, !fits(encoded, slot, plan) { return }
        let id = plan.slots[slot].id
        isInOrder = isInOrder && (body.directory.isEmpty || body.directory[body.directory.count - 1].first < id)
        if isInOrder { body.directory.append(UInt32(id), UInt32(end)) }
        places.replace(slot, UInt32(start), UInt32(end))
        guard values.isApproximate else { return }
        approximate.append((slot, values.rewritten))
        (values.isApproximate, values.rewritten) = (false, nil)
    }

    private func fits(_ value: EncodedValue, _ slot: Int, _ plan: RowPlan) -> Bool {
        do throws(StoreError) {
            try plan.state.catalog.check(value, fits: plan.fields[slot], of: plan.entity)
            return true
        } catch {
            // The bytes of the refused value are no part of the body.
            isInOrder = false
            problem = problem ?? error
            return false
        }
    }

    private func place(_ slot: Int) -> Range<Int>? {
        let (start, end) = places[slot]
        return start < end ? Int(start)..<Int(end) : nil
    }

    /// Builds the body of the fields. It is valid until the next change.
    private func complete(_ plan: RowPlan) -> RowBody? {
        let isWide: Bool
        if isInOrder {
            isWide = values.writer.count > RowFormat.narrowLimit
            body.finish(values: values.writer.bytes, into: &encoded)
        } else {
            body.removeAll()
            for slot in plan.ascending {
                guard let place = place(slot) else { continue }
                body.field(plan.slots[slot].id, EncodedValue(values.writer.bytes(place)))
            }
            isWide = body.isWide
            body.finish(into: &encoded)
        }
        return RowBody(encoded.bytes, isWide: isWide)
    }

    /// Builds the body of the fields with the attributes of the key, which a patch need not set.
    ///
    /// - Parameter replacesKey: whether the attributes of the key replace those of the fields.
    /// - Throws: `StoreError.wrongKey` if a field has a value of another key.
    private func complete(
        _ plan: RowPlan, with key: RecordKey, replacesKey: Bool
    ) throws(StoreError) -> RowBody? {
        let said = plan.entity.keyValues(key)
        var scratch = ByteWriter(capacity: 256)
        body.removeAll()
        var pending = said.keys.sorted()[...]
        for slot in plan.ascending {
            guard let place = place(slot) else { continue }
            let id = plan.fields[slot].id
            while let next = pending.first, next < id {
                pending.removeFirst()
                if let value = said[next] { body.field(next) { $0.appendValue(value) } }
            }
            let value = EncodedValue(values.writer.bytes(place))
            if let known = said[id] {
                pending = pending.drop { $0 == id }
                scratch.removeAll()
                scratch.appendValue(known)
                if replacesKey {
                    body.field(id, EncodedValue(scratch.bytes))
                    continue
                }
                guard Bytes.equal(scratch.bytes, value.bytes) else {
                    throw .wrongKey(
                        entity: plan.entity.name, expected: "the record's key \(key), which cannot be changed",
                        found: value.typeName)
                }
            }
            body.field(id, value)
        }
        for id in pending { if let value = said[id] { body.field(id) { $0.appendValue(value) } } }
        let isWide = body.isWide
        body.finish(into: &encoded)
        return RowBody(encoded.bytes, isWide: isWide)
    }

    /// Builds the body of the row, and its storage key in `storageKey`.
    ///
    /// Both are valid until the next change.
    ///
    /// - Parameter key: the key of the record; nil to take it from the fields.
    /// - Throws: the first problem of a field; `StoreError.wrongKey` if the fields do not have the
    ///   whole key.
    func finish(_ plan: RowPlan, _ access: StoreAccess, key: RecordKey?) throws -> RowBody {
        if let problem { throw problem }
        let row = try completeWithKey(plan, access, key: key)
        return approximate.isEmpty ? row : try keepingExactValues(row, plan, access)
    }

    /// Builds the body and the storage key once more, with a key that has replaced the fields' own.
    func finish(_ plan: RowPlan, _ access: StoreAccess, replacingKeyBy key: RecordKey) throws -> RowBody {
        encoded.removeAll()
        storageKey.removeAll()
        let row = try completeWithKey(plan, access, key: key, replacesKey: true)
        return approximate.isEmpty ? row : try keepingExactValues(row, plan, access)
    }

    /// Replaces values that were read from the stored record by those that they were read from.
    ///
    /// Otherwise a struct that is read and put back would change what it cannot represent.
    private func keepingExactValues(_ row: RowBody, _ plan: RowPlan, _ access: StoreAccess) throws -> RowBody {
        try access.records.lending {
            guard let stored = try access.records.row(plan.entity, storageKey.bytes) else { return row }
            var kept: [UInt16: EncodedValue] = [:]
            for (slot, rewritten) in approximate {
                let id = plan.slots[slot].id
                guard let value = row.value(of: id), let old = stored.body.value(of: id),
                    !Bytes.equal(value.bytes, old.bytes), value.isRead(from: old, rewritten)
                else { continue }
                kept[id] = old
            }
            guard !kept.isEmpty else { return row }
            body.removeAll()
            for index in 0..<row.count {
                let id = row.id(at: index)
                if let value = kept[id] ?? row.value(at: index) { body.field(id, value) }
            }
            let isWide = body.isWide
            encoded.removeAll()
            body.finish(into: &encoded)
            guard let row = RowBody(encoded.bytes, isWide: isWide) else { throw damaged(plan, nil) }
            return row
        }
    }

    private func completeWithKey(
        _ plan: RowPlan, _ access: StoreAccess, key: RecordKey?, replacesKey: Bool = false
    ) throws -> RowBody {
        guard let row = try key.map({ try complete(plan, with: $0, replacesKey: replacesKey) }) ?? complete(plan) else {
            throw damaged(plan, key)
        }
        if key == nil, let id = plan.intKey, let value = row.value(of: id)?.int {
            // Fast path for the most frequent key, without a list of components.
            storageKey.appendTuple(value)
            return row
        }
        guard let key = try key ?? access.wholeKey(plan.entity, row) else {
            throw StoreError.wrongKey(
                entity: plan.entity.name, expected: plan.entity.keyForm, found: "an incomplete key")
        }
        key.appendStorageKey(to: &storageKey)
        guard WholeKey.isKept(plan.entity, storageKey.bytes) else { return row }
        body.removeAll()
        body.wholeKey(plan.entity, storageKey.bytes) { key.tuple }
        for index in 0..<row.count {
            if let value = row.value(at: index) { body.field(row.id(at: index), value) }
        }
        let isWide = body.isWide
        encoded.removeAll()
        body.finish(into: &encoded)
        guard let row = RowBody(encoded.bytes, isWide: isWide) else { throw damaged(plan, key) }
        return row
    }

    /// Builds a row body that has only the fields that were set.
    ///
    /// - Throws: the first problem of a field.
    func finishChange(_ plan: RowPlan) throws -> RowBody {
        if let problem { throw problem }
        guard let row = complete(plan) else { throw damaged(plan, nil) }
        return row
    }

    private func damaged(_ plan: RowPlan, _ key: RecordKey?) -> StoreError {
        .damagedRow(entity: plan.entity.name, key: key?.description ?? "")
    }
}

extension EncodedValue {
    /// Whether this value was read from a stored one that it does not represent exactly.
    ///
    /// - Parameter rewritten: returns what is written after a text was read; nil for a URL.
    fileprivate func isRead(from stored: EncodedValue, _ rewritten: ((String) -> String?)?) -> Bool {
        guard tag == stored.tag else { return false }
        switch tag {
        case ValueTag.date: return stored.date.map { Timestamp($0.date) } == date
        case ValueTag.array:
            var elements: [EncodedValue] = [], others: [EncodedValue] = []
            guard forEachElement({ elements.append($0) }), stored.forEachElement({ others.append($0) }),
                elements.count == others.count
            else { return false }
            return zip(elements, others).allSatisfy {
                $0.isRead(from: $1, rewritten) || Bytes.equal($0.bytes, $1.bytes)
            }
        default:
            guard let text, let other = stored.text else { return false }
            return (rewritten ?? { URL(string: $0)?.absoluteString })(other) == text
        }
    }
}
