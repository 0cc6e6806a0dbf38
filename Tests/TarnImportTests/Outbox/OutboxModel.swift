// A plain model of the outbox: what is visible, queued and marked, as dictionaries and arrays.

import TarnStore

struct ModelPlace: Hashable {
    var record: OutboxRecord
    var field: String
}

struct ModelOperation {
    struct Change {
        var place: ModelPlace
        var before: Value?
        var after: Value
    }

    struct Edit {
        var place: ModelPlace
        var target: RecordKey
        var position: Int
        var isInsertion: Bool
    }

    var id: UInt64
    var kind: OutboxOperation.Kind
    var record: OutboxRecord
    var changes: [Change] = []
    var edits: [Edit] = []
    /// The deleted record's fields.
    var row: [String: Value]?
    var members: [RecordKey] = []
    var memberEntity = ""
    var state = OutboxOperation.State.pending
    var attempts = 0
    /// Whether a sender was killed: the server may have carried it out.
    var mayHaveArrived = false

    var places: Set<ModelPlace> { Set(changes.map(\.place) + edits.map(\.place)) }
    var touched: Set<OutboxRecord> { Set(places.map(\.record)).union([record]) }

    func applied(to value: Value?, _ place: ModelPlace) -> Value? {
        var value = value
        if let change = changes.first(where: { $0.place == place }) { value = change.after }
        for edit in edits where edit.place == place {
            var list = value.keys
            if edit.isInsertion {
                if !list.contains(edit.target) { list.append(edit.target) }
            } else {
                list.removeAll { $0 == edit.target }
            }
            value = .references(list)
        }
        return value
    }
}

extension Value? {
    var keys: [RecordKey] { if case .references(let keys)? = self { keys } else { [] } }
    var key: RecordKey? { if case .reference(let key)? = self { key } else { nil } }
}

/// The state that the store must have.
struct OutboxModel {
    var records: [OutboxRecord: [String: Value]] = [:]
    var operations: [ModelOperation] = []
    /// The server's values of fields with unsent changes.
    var server: [OutboxRecord: [String: Value]] = [:]
    /// The values of fields before the operations that touch them.
    var bases: [ModelPlace: Value?] = [:]

    static let destinations = ["repo": "Repo", "labels": "Label", "issue": "Issue"]
    static let keyFields: [String: Set<String>] = ["Comment": ["issue", "number"]]

    func isKeyField(_ place: ModelPlace) -> Bool {
        (OutboxModel.keyFields[place.record.entity] ?? ["id"]).contains(place.field)
    }

    // MARK: - Marks and order

    func touching(_ record: OutboxRecord) -> [ModelOperation] { operations.filter { $0.touched.contains(record) } }

    func mark(_ record: OutboxRecord) -> (operation: LocalChange.Operation, fields: Set<String>)? {
        var mark: (operation: LocalChange.Operation, fields: Set<String>)?
        for operation in touching(record) {
            switch (operation.record == record ? operation.kind : .update, mark?.operation) {
            case (.create, _): mark = (.create, [])
            case (.delete, _): mark = (.delete, [])
            case (_, .create?), (_, .delete?): break
            default:
                let fields = operation.places.filter { $0.record == record }.map(\.field)
                if fields.isEmpty, mark == nil { continue }
                mark = (.update, (mark?.fields ?? []).union(fields))
            }
        }
        return mark
    }

    func covers(_ place: ModelPlace) -> Bool {
        mark(place.record).map { $0.operation != .update || $0.fields.contains(place.field) } ?? false
    }

    func references(_ value: Value, _ place: ModelPlace) -> [OutboxRecord] {
        if place.record.entity == "Review", place.field == "issueID", case .int(let key) = value {
            return [OutboxRecord("Issue", RecordKey(key))]
        }
        guard let entity = OutboxModel.destinations[place.field] else { return [] }
        switch value {
        case .reference(let key): return [OutboxRecord(entity, key)]
        case .references(let keys): return keys.map { OutboxRecord(entity, $0) }
        default: return []
        }
    }

    func needs(_ operation: ModelOperation) -> Set<OutboxRecord> {
        var needs = Set(operation.members.map { OutboxRecord(operation.memberEntity, $0) })
        for change in operation.changes {
            needs.insert(change.place.record)
            needs.formUnion(references(change.after, change.place))
        }
        if operation.record.entity == "Comment", let first = operation.record.key.components.first {
            needs.insert(OutboxRecord("Issue", RecordKey([first])))
        }
        needs.remove(operation.record)
        return needs
    }

    /// All records that an operation refers to, or has referred to.
    func mentioned(_ operation: ModelOperation) -> Set<OutboxRecord> {
        var result = operation.touched.union(needs(operation))
        for change in operation.changes {
            if let before = change.before { result.formUnion(references(before, change.place)) }
        }
        for edit in operation.edits {
            result.formUnion(references(.references([edit.target]), edit.place))
        }
        for (field, value) in operation.row ?? [:] {
            result.formUnion(references(value, ModelPlace(record: operation.record, field: field)))
        }
        return result
    }

    func creation(_ record: OutboxRecord) -> ModelOperation? {
        operations.first { $0.record == record && $0.kind == .create }
    }

    func isReady(_ operation: ModelOperation) -> Bool {
        let needs = needs(operation)
        return operation.state != .dead
            && !operations.contains { other in
                guard other.id < operation.id else { return false }
                if other.kind == .create, other.record == operation.record || needs.contains(other.record) {
                    return true
                }
                guard other.state != .dead else { return false }
                if other.record == operation.record || !other.places.isDisjoint(with: operation.places) { return true }
                guard operation.kind == .delete else { return false }
                return mentioned(other).contains(operation.record)
            }
    }

    // MARK: - Queueing

    /// Sets the visible values of an operation, and queues it.
    mutating func queue(_ operation: ModelOperation) {
        for place in operation.places {
            let visible = records[place.record]?[place.field]
            if !operations.contains(where: { $0.places.contains(place) }) { bases[place] = .some(visible) }
            records[place.record]?[place.field] = operation.applied(to: visible, place)
        }
        operations.append(operation)
    }

    /// Folds an update into the last operation of its record.
    mutating func fold(_ update: ModelOperation) -> Bool {
        guard let index = operations.lastIndex(where: { $0.record == update.record }) else { return false }
        let last = operations[index]
        // An update corrects a creation that the server has refused.
        let isCorrected = last.kind == .create && last.state == .dead && !last.mayHaveArrived
        guard last.kind == .update || last.kind == .create,
            isCorrected || (last.state == .pending && last.attempts == 0),
            !operations.contains(where: { $0.id > last.id && !$0.places.isDisjoint(with: update.places) }),
            !needs(update).contains(where: { creation($0).map { $0.id > last.id } ?? false })
        else { return false }
        for change in update.changes {
            records[change.place.record]?[change.place.field] = change.after
            if let known = last.changes.firstIndex(where: { $0.place == change.place }) {
                operations[index].changes[known].after = change.after
            } else {
                if !operations.contains(where: { $0.places.contains(change.place) }) {
                    bases[change.place] = .some(change.before)
                }
                var change = change
                if last.kind == .create { change.before = nil }
                operations[index].changes.append(change)
            }
        }
        if last.kind == .update {
            let places = update.changes.map(\.place)
            let undone = operations[index].changes.filter {
                $0.before == $0.after && places.contains($0.place) && isServers($0, of: last.id)
            }.map(\.place)
            operations[index].changes.removeAll { undone.contains($0.place) }
            if operations[index].changes.isEmpty { operations.remove(at: index) }
        }
        forget(update)
        return true
    }

    /// Whether the server has the value that a change leaves, as far as responses tell: another
    /// operation on the field decides for itself.
    private func isServers(_ change: ModelOperation.Change, of id: UInt64) -> Bool {
        guard let known = server[change.place.record]?[change.place.field] else { return true }
        return known == change.after || operations.contains { $0.id != id && $0.places.contains(change.place) }
    }

    /// Removes the server's values of fields that no operation covers.
    mutating func forget(_ operation: ModelOperation) {
        for record in operation.touched {
            server[record] = server[record]?.filter { covers(ModelPlace(record: record, field: $0.key)) }
            if server[record]?.isEmpty ?? false { server[record] = nil }
        }
    }

    // MARK: - Ends

    mutating func complete(_ id: UInt64) {
        guard let index = operations.firstIndex(where: { $0.id == id }) else { return }
        let operation = operations.remove(at: index)
        for place in operation.places {
            let earlier = operations.contains { other in
                other.id < id && other.changes.contains { $0.place == place }
            }
            if !earlier, let base = bases[place] { bases[place] = .some(operation.applied(to: base, place)) }
            let known = server[place.record]?[place.field]
            if let change = operation.changes.first(where: { $0.place == place }) {
                if known.map({ isReached(change, $0, by: operation) }) ?? true {
                    server[place.record, default: [:]][place.field] = change.after
                }
            } else if let known {
                server[place.record]?[place.field] = operation.applied(to: known, place)
            } else if earlier, let base = bases[place] {
                // The server has refused the list on which the edit was based.
                server[place.record, default: [:]][place.field] = operation.applied(to: base, place)
            }
            // A response's value of a field that the operation has changed in part, or not at all,
            // becomes visible.
            let after = operation.changes.first { $0.place == place }?.after
            if let value = server[place.record]?[place.field], value != after, !covers(place),
                records[place.record] != nil
            {
                records[place.record]?[place.field] = value
            }
        }
        forget(operation)
    }

    /// Whether a removal has changed the server's value: not that of a reference which leads elsewhere
    /// since.
    private func isReached(_ change: ModelOperation.Change, _ known: Value, by operation: ModelOperation) -> Bool {
        guard operation.kind == .remove || operation.kind == .delete, change.place.record != operation.record else {
            return true
        }
        if change.place.field == "issueID" { return known == change.before }
        return Optional(known).key.map { $0 == operation.record.key } ?? true
    }

    /// Discards a creation whose record is deleted: other records' operations lose their references.
    mutating func withdraw(_ id: UInt64) {
        guard let creation = operations.first(where: { $0.id == id }) else { return }
        let record = creation.record
        // Comments belong to their issue, and go with it.
        for other in operations.reversed()
        where other.record != record && other.record.entity != "Comment" && needs(other).contains(record) {
            let dropped = other.changes.filter { references($0.after, $0.place).contains(record) }
            guard !dropped.isEmpty else { continue }
            if other.kind == .update, dropped.count == other.changes.count {
                discard(other.id)
                continue
            }
            for index in operations.indices where operations[index].id == other.id {
                let kept = operations[index].changes.filter { !references($0.after, $0.place).contains(record) }
                operations[index].changes = kept
            }
            for change in dropped {
                rollBack(change.place)
                repeatDeletion(after: other.id, change.place)
            }
            forget(other)
        }
        discard(id)
    }

    mutating func discard(_ id: UInt64) {
        guard let operation = operations.first(where: { $0.id == id }) else { return }
        var ids: Set<UInt64> = [id]
        if operation.kind == .create {
            var created: Set<OutboxRecord> = [operation.record]
            for other in operations where other.id > id {
                guard created.contains(other.record) || !needs(other).isDisjoint(with: created) else { continue }
                ids.insert(other.id)
                if other.kind == .create { created.insert(other.record) }
            }
        }
        for id in ids.sorted().reversed() { rollBack(id) }
    }

    private mutating func rollBack(_ id: UInt64) {
        guard let index = operations.firstIndex(where: { $0.id == id }) else { return }
        let operation = operations.remove(at: index)
        if let row = operation.row, records[operation.record] == nil {
            var row = row
            for (field, value) in server[operation.record] ?? [:] {
                let place = ModelPlace(record: operation.record, field: field)
                if !operations.contains(where: { $0.places.contains(place) }) { row[field] = value }
            }
            records[operation.record] = row
        }
        if operation.kind == .create {
            records[operation.record] = nil
        } else {
            for place in operation.places {
                rollBack(place)
                repeatDeletion(after: id, place)
            }
        }
        forget(operation)
    }

    /// Removes a reference again whose target was deleted later: the deletion restores it.
    private mutating func repeatDeletion(after id: UInt64, _ place: ModelPlace) {
        guard let value = records[place.record]?[place.field], let target = references(value, place).first,
            place.record.entity == "Note", records[target] == nil,
            let deletion = operations.firstIndex(where: { $0.id > id && $0.record == target && $0.kind == .delete })
        else { return }
        operations[deletion].changes.append(.init(place: place, before: value, after: .null))
        records[place.record]?[place.field] = .null
    }

    private mutating func rollBack(_ place: ModelPlace) {
        let deletion =
            records[place.record] == nil
            ? operations.lastIndex { $0.record == place.record && $0.row != nil } : nil
        guard records[place.record] != nil || deletion != nil, let base = bases[place] else { return }
        var value = base, isAlone = true
        for index in operations.indices where operations[index].places.contains(place) {
            isAlone = false
            if let change = operations[index].changes.firstIndex(where: { $0.place == place }) {
                operations[index].changes[change].before = value
            }
            value = operations[index].applied(to: value, place)
        }
        if isAlone, deletion == nil, let known = server[place.record]?[place.field] { value = known }
        if let deletion {
            operations[deletion].row?[place.field] = value
        } else {
            records[place.record]?[place.field] = value
        }
    }

    // MARK: - The server

    mutating func take(_ record: OutboxRecord, _ values: [String: Value]) {
        guard let mark = mark(record) else {
            records[record, default: [:]].merge(values) { $1 }
            return
        }
        for (field, value) in values {
            let place = ModelPlace(record: record, field: field)
            if isKeyField(place) { continue }
            if mark.operation != .update || mark.fields.contains(field) {
                server[record, default: [:]][field] = value
            } else {
                records[record]?[field] = value
            }
        }
    }

    mutating func adopt(_ old: OutboxRecord, _ new: OutboxRecord) {
        let brought = records[new], local = records[old]
        if let brought, let local {
            let covered = Set(operations.flatMap(\.places).filter { $0.record == old }.map(\.field))
            for (field, value) in brought where !isKeyField(ModelPlace(record: new, field: field)) {
                if covered.contains(field) {
                    if local[field] != value { server[old, default: [:]][field] = value }
                } else {
                    records[old]?[field] = value
                }
            }
            records[new] = nil
        } else if let brought, mark(old)?.operation == .delete {
            server[old] = brought.filter { !isKeyField(ModelPlace(record: new, field: $0.key)) }
            records[new] = nil
        }
        rename(old, new)
        guard old.entity == "Issue" else { return }
        let owned = Set(records.keys.filter { $0.entity == "Comment" } + operations.map(\.record))
        for comment in owned
        where comment.entity == "Comment" && comment.key.components.first == old.key.components.first {
            rename(
                comment,
                OutboxRecord("Comment", RecordKey(new.key.components + comment.key.components.dropFirst())))
        }
    }

    /// Replaces a record's key wherever it occurs.
    private mutating func rename(_ old: OutboxRecord, _ new: OutboxRecord) {
        func renamed(_ record: OutboxRecord) -> OutboxRecord { record == old ? new : record }
        func renamed(_ place: ModelPlace) -> ModelPlace {
            ModelPlace(record: renamed(place.record), field: place.field)
        }
        func renamed(_ value: Value, _ place: ModelPlace) -> Value {
            if case .int = value, references(value, place) == [old], case .int(let key)? = new.key.components.first {
                return .int(key)
            }
            guard OutboxModel.destinations[place.field] == old.entity else { return value }
            switch value {
            case .reference(let key): return .reference(key == old.key ? new.key : key)
            case .references(let keys):
                guard keys.contains(old.key) else { return value }
                return .references(
                    keys.contains(new.key) ? keys.filter { $0 != old.key } : keys.map { $0 == old.key ? new.key : $0 })
            default: return value
            }
        }
        func renamed(_ fields: [String: Value], _ record: OutboxRecord) -> [String: Value] {
            var fields = Dictionary(
                uniqueKeysWithValues: fields.map { ($0, renamed($1, ModelPlace(record: record, field: $0))) })
            if record == old, case .int(let key)? = new.key.components.last {
                fields[record.entity == "Comment" ? "number" : "id"] = .int(key)
                if record.entity == "Comment" { fields["issue"] = .reference(RecordKey([new.key.components[0]])) }
            }
            return fields
        }
        records = Dictionary(uniqueKeysWithValues: records.map { (renamed($0), renamed($1, $0)) })
        server = Dictionary(
            uniqueKeysWithValues: server.map { record, values in
                (
                    renamed(record),
                    Dictionary(
                        uniqueKeysWithValues: values.map { ($0, renamed($1, ModelPlace(record: record, field: $0))) })
                )
            })
        bases = Dictionary(
            uniqueKeysWithValues: bases.map { place, value in (renamed(place), value.map { renamed($0, place) }) })
        for index in operations.indices {
            operations[index].row = operations[index].row.map { renamed($0, operations[index].record) }
            if operations[index].memberEntity == old.entity {
                operations[index].members = operations[index].members.map { $0 == old.key ? new.key : $0 }
            }
            for change in operations[index].changes.indices {
                let place = operations[index].changes[change].place
                operations[index].changes[change].before = operations[index].changes[change].before.map {
                    renamed($0, place)
                }
                operations[index].changes[change].after = renamed(operations[index].changes[change].after, place)
                operations[index].changes[change].place = renamed(place)
            }
            for edit in operations[index].edits.indices {
                operations[index].edits[edit].place = renamed(operations[index].edits[edit].place)
            }
            operations[index].record = renamed(operations[index].record)
        }
    }
}
