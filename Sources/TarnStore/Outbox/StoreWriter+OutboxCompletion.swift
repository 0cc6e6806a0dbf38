// The end of an operation that reached the server: its key is adopted everywhere.

import Foundation

extension StoreWriter {
    /// Takes an operation that reached the server out of the outbox, and adopts the server's key.
    ///
    /// The key is replaced in the row, in indexes and references, in joined attributes, in rows
    /// whose key contains it, in marks, and in other operations. If a record with the server's key
    /// exists, both become one: fields with unsent changes keep their local values.
    ///
    /// The answer's record, if there is one, is imported after this call in the same transaction.
    ///
    /// - Parameter key: the server's key of a created record; nil to keep the key.
    /// - Returns: nil if the operation is no longer queued.
    /// - Throws: `StoreError.wrongKey`; `OutboxError.wrongKind` for a key of another kind of
    ///   operation; otherwise as `put`.
    package mutating func completeOperation(
        _ id: UInt64, adopting key: RecordKey? = nil, at now: Timestamp = .now
    ) throws -> OutboxCompletion? {
        guard let operation = try outbox.operation(id) else { return nil }
        return try completeOperation(operation, adopting: key, at: now)
    }

    /// Takes an operation that the caller knows out of the outbox: see
    /// ``completeOperation(_:adopting:at:)-(UInt64,_,_)``.
    package mutating func completeOperation(
        _ known: OutboxOperation, adopting key: RecordKey? = nil, at now: Timestamp = .now
    ) throws -> OutboxCompletion? {
        guard let operation = try outbox.stored(known.id) else { return nil }
        let catalog = access.catalog, own = operation.record(catalog), key = key ?? operation.keyOfRequest(known)
        var completion = OutboxCompletion(operation: known, key: operation.key)
        if let key, key != operation.key {
            guard operation.kind == .create else { throw OutboxError.wrongKind(id: known.id, kind: operation.kind) }
            try access.checkForm(of: key, access.state.entity(known.entity))
        }
        try operations.remove(operation)
        if operation.kind == .delete { try removeVersions(ofRecordsDeletedBy: operation) }
        let parts = OperationParts(operation, own)
        for record in operation.touchedRecords(own) {
            guard let mark = try access.mark(of: record) else { continue }
            let part = parts[record], noted = try noted(mark, part, of: operation, record)
            try renewMark(noted, record, after: part)
            try showServerValues(noted, record, after: part)
            try keepMark(mark, of: record, after: operation)
        }
        try removeValidators(ofOthersChangedBy: operation, own)
        try operations.noteSettled(operation.touchedRecords(own), at: now)
        // The answer to a creation that was repeated may have brought the record back.
        if operation.kind == .delete, try outbox.ids(.own, own).isEmpty, try access.mark(of: own) == nil {
            _ = try removeRow(own)
        }
        guard let key, key != operation.key, let root = catalog.entity(id: own.entity) else { return completion }
        completion.key = key
        let adopted = ListedRecord(entity: root.id, storageKey: key.storageKey)
        try displaceCreation(of: adopted, root, at: now)
        completion.knownVersion = try adopted.storageKey.withUnsafeBytes { key in
            try access.lending { try access.records.row(root, key)?.version }
        }
        completion.wasKnown = try completion.isMerged || outbox.deletion(of: adopted) != nil
        completion.isShared =
            try completion.isMerged
            && outbox.isAdopted(adopted, key, since: operation.attemptedAt ?? operation.queuedAt)
        // A response has brought the record, before the repeated answer that names its key.
        completion.isDeleted =
            try operation.mayHaveArrived && !completion.isMerged
            && outbox.settledRecords(since: operation.queuedAt).contains(adopted)
        // A key that the server has assigned again: earlier changes were of a record that is gone.
        if !completion.wasKnown { try dropChanges(ofRecordBefore: operation.id, with: adopted) }
        try adopt(root, operation.key, key, at: now)
        try operations.noteSettled([adopted], at: now)
        return completion
    }
}

extension StoreWriter {
    /// Removes the validators of the responses that list other records that an operation has
    /// changed: if the server changes them back, no 304 may confirm them.
    ///
    /// A deletion removes references at the server, whose records are other versions there. For
    /// others that is not certain: the server refuses a write of an older version.
    private mutating func removeValidators(
        ofOthersChangedBy operation: StoredOperation, _ own: ListedRecord
    ) throws {
        let deleted = Set(operation.rows.map(\.record))
        for record in operation.touchedRecords(own) where record != own && !deleted.contains(record) {
            try responses.removeValidators(ofResponsesListing: record, keepingVersion: operation.kind != .delete)
        }
    }

    /// Removes the versions that were kept for a discard of a deletion: a record that has the key
    /// again is another one, which these responses do not show at the server.
    private func removeVersions(ofRecordsDeletedBy operation: StoredOperation) throws {
        for row in operation.rows {
            for id in try access.responses.ids(listing: row.record)
            where try access.responses.entry(id: id)?.hasOnlyVersion ?? false {
                try access.responses.remove(id: id)
            }
        }
    }
}

/// A record whose key is replaced.
struct RekeyedRecord: Hashable {
    /// The root entity.
    var root: UInt16
    var from: RecordKey
    var to: RecordKey

    var old: ListedRecord { ListedRecord(entity: root, storageKey: from.storageKey) }
    var new: ListedRecord { ListedRecord(entity: root, storageKey: to.storageKey) }
}

extension StoreWriter {
    /// Replaces a key everywhere, and with it the keys that contain it.
    mutating func adopt(_ root: Catalog.Entity, _ from: RecordKey, _ to: RecordKey, at now: Timestamp) throws {
        var waiting = [RekeyedRecord(root: root.id, from: from, to: to)], known = Set(waiting.map(\.old)), next = 0
        while next < waiting.count {
            let rekeyed = waiting[next]
            next += 1
            var owned: [RekeyedRecord] = []
            try rekeyRow(rekeyed)
            try rekeyReferences(rekeyed, &owned)
            try rekeyJoins(rekeyed, &owned)
            try rekeyOperations(rekeyed, &owned)
            // The key belongs to this record now, also once that is deleted.
            try operations.removeAlias(of: rekeyed.new)
            try operations.putAlias(rekeyed.old, rekeyed.to, at: now)
            for record in owned where known.insert(record.old).inserted { waiting.append(record) }
        }
    }

    // MARK: - The row and the mark

    private mutating func rekeyRow(_ rekeyed: RekeyedRecord) throws {
        let local = try access.wholeRow(rekeyed.old), server = try access.wholeRow(rekeyed.new)
        let localMark = try access.mark(of: rekeyed.old), serverMark = try access.mark(of: rekeyed.new)
        var mark = localMark ?? serverMark
        let deletions = try [rekeyed.old, rekeyed.new].compactMap { try outbox.deletion(of: $0) }
        if local != nil, serverMark?.operation == .delete, let deletion = deletions.first {
            // The record that a response had brought was deleted: it is the same one.
            try delete(rekeyed.old, with: deletion)
            mark = serverMark
        } else if let local {
            _ = try removeRow(rekeyed.old)
            try storeRekeyed(rekeyed, local, server, serverMark, mark: &mark)
        } else if let server, mark?.operation == .delete {
            // The record was deleted locally while the server created it.
            let keyFields = access.catalog.entity(id: server.kind)?.key ?? []
            mark?.server = server.values.filter { !keyFields.contains($0.key) }.sorted { $0.key < $1.key }
                .map { ($0.key, $0.value) }
            if let deletion = deletions.first { try delete(rekeyed.new, with: deletion) }
            _ = try removeRow(rekeyed.new)
        }
        try removeLocalMark(rekeyed.old.entity, Array(rekeyed.old.storageKey))
        guard var mark else { return }
        if rekeyed.new.storageKey.count == StorageKey.digestLength { mark.wholeKey = rekeyed.to.tuple }
        if let serverMark {
            mark.since = min(mark.since, serverMark.since)
            for (field, value) in serverMark.server where mark.serverValue(of: field) == nil {
                _ = value.withUnsafeBytes { mark.remember(field, EncodedValue($0)) }
            }
            if mark.operation == .update, serverMark.operation == .update, !mark.fields.isEmpty {
                mark.fields = serverMark.fields.isEmpty ? [] : Set(mark.fields + serverMark.fields).sorted()
            }
        }
        let stored = mark
        try rekeyed.new.storageKey.withUnsafeBytes {
            try access.localChanges.put(stored, rekeyed.root, $0, sequence: sequence)
        }
    }

    /// Deletes a record that is the same one as a deleted record. The deletion keeps its cascade.
    ///
    /// If a delete rule denies that, only the record's row is removed.
    private mutating func delete(_ record: ListedRecord, with id: UInt64) throws {
        let before = try outbox.queued(id)
        var deletion = before, known: [ListedRecord: LocalMark] = [:]
        let left: [RecordFieldPlace: [UInt8]?]
        do { left = try deleteCascade(of: record, into: &deletion, &known) } catch StoreWriteError.deleteDenied {
            _ = try removeRow(record)
            return
        }
        deletion.rows.removeAll { $0.record == record }
        try operations.replace(before, by: deletion)
        for (place, value) in left { try continueFrom(value, place, after: id) }
        let own = deletion.record(access.catalog)
        let added = deletion.touchedRecords(own).subtracting(before.touchedRecords(own))
        try mark(deletion, known: known, except: deletion.touchedRecords(own).subtracting(added))
    }

    private mutating func removeLocalMark(_ root: UInt16, _ storageKey: [UInt8]) throws {
        _ = try storageKey.withUnsafeBytes { try access.localChanges.remove(root, $0) }
    }

    /// Stores a row under its new key, merged with the row that has the key already.
    ///
    /// - Parameter serverMark: the mark of that row, whose local values are not the server's.
    private mutating func storeRekeyed(
        _ rekeyed: RekeyedRecord, _ local: WholeRow, _ server: WholeRow?, _ serverMark: LocalMark?,
        mark: inout LocalMark?
    ) throws {
        let kind = server?.kind ?? local.kind
        guard let entity = access.catalog.entity(id: kind) else { return }
        let covered = try outbox.coveredFields(of: rekeyed.old, except: 0), known = server?.values ?? [:]
        var values = local.values.filter {
            entity.key.contains($0.key) || covered.contains($0.key) || known[$0.key] == nil
        }
        for (id, value) in entity.keyValues(rekeyed.to) {
            values[id] = value.withEncoded { $0.keepingPosition(of: local.values[id]) }
        }
        for field in covered {
            let isLocal = serverMark?.covers(field) ?? false
            if let value = isLocal ? serverMark?.serverValue(of: field) : known[field], value != values[field] {
                _ = value.withUnsafeBytes { mark?.remember(field, EncodedValue($0)) }
            }
        }
        var builder = BodyBuilder(), bytes = ByteWriter()
        let key = rekeyed.new.storageKey
        key.withUnsafeBytes { builder.wholeKey(entity, $0) { rekeyed.to.tuple } }
        for (id, value) in values.sorted(by: { $0.key < $1.key }) { builder.field(id) { $0.append(value) } }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: isWide) else { return }
        let rules = try access.state.rules(of: kind)
        _ = try key.withUnsafeBytes { try merge(rules, $0, body, isComplete: !local.isPartial) }
    }

    // MARK: - References

    private mutating func rekeyReferences(_ rekeyed: RekeyedRecord, _ owned: inout [RekeyedRecord]) throws {
        try applyIndexChanges()
        let catalog = access.catalog
        for owner in catalog.entities {
            for field in owner.fields {
                guard case .reference(let reference) = field.kind, let index = field.index,
                    catalog.entity(id: reference.destination)?.root == rekeyed.root, catalog.declares(owner, field.id)
                else { continue }
                for referrer in try referrers(of: rekeyed.old, index, reference) {
                    let record = ListedRecord(entity: owner.root, storageKey: referrer)
                    if owner.key.contains(field.id) {
                        if let child = try self.owned(record, owner, rekeyed) { owned.append(child) }
                    } else if let value = try access.wholeRow(record)?.value(of: field.id),
                        let replaced = value.replacing(rekeyed.old.storageKey, by: rekeyed.new.storageKey)
                    {
                        try setFields(record, [field.id: replaced])
                    }
                }
            }
        }
    }

    private func referrers(
        of target: ListedRecord, _ index: UInt32, _ reference: Catalog.Reference
    ) throws -> [[UInt8]] {
        var result: [[UInt8]] = []
        try target.storageKey.withUnsafeBytes { key in
            try access.indexes.forEachReferrer(of: key, through: index, positioned: reference.inverseIsOrdered) {
                result.append(Array($0))
                return true
            }
        }
        return result
    }

    /// Returns the new key of a stored record whose key contains a replaced one.
    private func owned(
        _ record: ListedRecord, _ entity: Catalog.Entity, _ rekeyed: RekeyedRecord
    ) throws -> RekeyedRecord? {
        guard let root = access.catalog.entity(id: record.entity) else { return nil }
        let key = try record.storageKey.withUnsafeBytes { bytes in
            try access.lending { try access.records.row(root, bytes).flatMap { access.key(root, bytes, $0) } }
        }
        return key.flatMap { owned($0, root, rekeyed) }
    }

    private func owned(_ key: RecordKey, _ root: Catalog.Entity, _ rekeyed: RekeyedRecord) -> RekeyedRecord? {
        guard root.hasOwner, !key.isDigest else { return nil }
        var components: [KeyComponent] = [], rest = key.components[...], isChanged = false
        for part in root.keyParts {
            let own = Array(rest.prefix(part.count))
            rest = rest.dropFirst(part.count)
            let isOld =
                part.isReference && access.state.outboxSchema.destinationRoot(root.id, part.field) == rekeyed.root
                && own == rekeyed.from.components
            components += isOld ? rekeyed.to.components : own
            isChanged = isChanged || isOld
        }
        return isChanged ? RekeyedRecord(root: root.id, from: key, to: RecordKey(components)) : nil
    }

    /// Replaces the key in attributes by which joined relationships lead to the record.
    private mutating func rekeyJoins(_ rekeyed: RekeyedRecord, _ owned: inout [RekeyedRecord]) throws {
        guard rekeyed.from.components.count == 1, rekeyed.to.components.count == 1,
            let old = rekeyed.from.components.first, let new = rekeyed.to.components.first
        else { return }
        let value = Value(old).withEncoded { Array($0.bytes) }, replaced = Value(new).withEncoded { Array($0.bytes) }
        for join in access.state.outboxSchema.keyJoins where join.target == rekeyed.root {
            guard let entity = access.catalog.entity(id: join.entity) else { continue }
            for storageKey in try records(entity, join.field, value) {
                let record = ListedRecord(entity: entity.root, storageKey: storageKey)
                guard entity.key.contains(join.field) else {
                    try setFields(record, [join.field: replaced])
                    continue
                }
                guard let key = storageKey.withUnsafeBytes({ RecordKey(storageKey: $0) }),
                    let root = access.catalog.entity(id: entity.root)
                else { continue }
                var start = 0, components = key.components
                for part in root.keyParts {
                    if part.field == join.field, start < components.count { components[start] = new }
                    start += part.count
                }
                owned.append(RekeyedRecord(root: root.id, from: key, to: RecordKey(components)))
            }
        }
    }

    /// Finds the records of an entity with a value of an attribute.
    private mutating func records(_ entity: Catalog.Entity, _ field: UInt16, _ value: [UInt8]) throws -> [[UInt8]] {
        try applyIndexChanges()
        var result: [[UInt8]] = []
        if let index = try access.state.rules(of: entity.id).index(of: field), access.state.isComplete(index.id) {
            var values = ByteWriter(capacity: 512)
            value.withUnsafeBytes { IndexEntry.appendWholeValue(EncodedValue($0), to: &values) }
            try access.indexes.forEachRow(entity, index, beginningWith: values.bytes, components: 1) { key, _ in
                result.append(Array(key))
                return true
            }
            return result
        }
        try access.records.scan(entity) { key, row in
            if row.body.value(of: field).map({ Array($0.bytes) }) == value { result.append(Array(key)) }
            return true
        }
        return result
    }

    // MARK: - Operations

    private mutating func rekeyOperations(_ rekeyed: RekeyedRecord, _ owned: inout [RekeyedRecord]) throws {
        let catalog = access.catalog
        for id in try Set(outbox.ids(.own, rekeyed.old) + outbox.ids(.reference, rekeyed.old)).sorted() {
            guard let known = try outbox.stored(id) else { continue }
            var operation = known
            let isOwn = known.record(catalog) == rekeyed.old
            operation.rekey(rekeyed, access.state.outboxSchema)
            // A created record whose key has other temporary parts keeps them.
            if isOwn, known.kind != .create {
                // The creation, which is the first one, may have the new key by now.
                let creation = try outbox.creation(of: rekeyed.old) ?? outbox.creation(of: rekeyed.new)
                operation.hasTemporaryKey = creation?.hasTemporaryKey ?? false
            }
            // Before the new bytes are stored: the owned keys are found in the old ones.
            if !isOwn, let root = catalog.entity(id: known.record(catalog).entity),
                let child = self.owned(known.key, root, rekeyed)
            {
                owned.append(child)
            }
            for row in known.rows {
                guard let root = catalog.entity(id: row.record.entity),
                    let key = row.record.storageKey.withUnsafeBytes({ RecordKey(storageKey: $0) }),
                    let child = self.owned(key, root, rekeyed)
                else { continue }
                owned.append(child)
            }
            try operations.replace(known, by: operation)
        }
    }
}

extension EncodedValue {
    /// Returns the value; a reference with the position of another one.
    fileprivate func keepingPosition(of other: [UInt8]?) -> [UInt8] {
        guard let other, other.first == ValueTag.positionedReference, other.count > 5, let target = reference else {
            return Array(bytes)
        }
        return Array(other.prefix(5)) + Array(target)
    }
}

extension StoredOperation {
    /// Replaces a record's key wherever the operation has it.
    mutating func rekey(_ rekeyed: RekeyedRecord, _ state: OutboxSchema) {
        let own = record(state.catalog), old = rekeyed.old, new = rekeyed.new
        let oldKey = old.storageKey, newKey = new.storageKey
        if own == old { key = rekeyed.to }
        func replaced(_ value: [UInt8], _ kind: UInt16, _ field: UInt16) -> [UInt8] {
            if state.destinationRoot(kind, field) == rekeyed.root {
                return value.replacing(oldKey, by: newKey) ?? value
            }
            let isJoin = state.keyJoins.contains {
                $0.field == field && $0.target == rekeyed.root && state.catalog.isKind(kind, of: $0.entity)
            }
            guard isJoin, let from = rekeyed.from.components.first, let to = rekeyed.to.components.first,
                value == Value(from).withEncoded({ Array($0.bytes) })
            else { return value }
            return Value(to).withEncoded { Array($0.bytes) }
        }
        for index in changes.indices {
            let (kind, field) = (changes[index].kind, changes[index].field)
            if changes[index].record == old { changes[index].record = new }
            changes[index].before = changes[index].before.map { replaced($0, kind, field) }
            changes[index].after = replaced(changes[index].after, kind, field)
        }
        for index in edits.indices {
            if edits[index].record == old { edits[index].record = new }
            if edits[index].target == oldKey,
                state.destinationRoot(edits[index].kind, edits[index].field) == rekeyed.root
            {
                edits[index].target = newKey
            }
        }
        rekeyRows(rekeyed, state, replaced)
        let destination = relationship.flatMap { identity in
            state.catalog.entity(id: entity).flatMap { state.catalog.relationship(identity, of: $0) }
        }.flatMap { state.catalog.entity(id: $0.destination)?.root }
        if destination == rekeyed.root { members = members.map { $0 == rekeyed.from ? rekeyed.to : $0 } }
        related = related.map { $0 == old ? new : $0 }
    }

    private mutating func rekeyRows(
        _ rekeyed: RekeyedRecord, _ state: OutboxSchema, _ replaced: ([UInt8], UInt16, UInt16) -> [UInt8]
    ) {
        for index in rows.indices {
            let row = rows[index]
            var values: [UInt16: [UInt8]?] = [:]
            row.body.withUnsafeBytes { bytes in
                guard let body = RowBody(bytes, isWide: row.isWide) else { return }
                for position in 0..<body.count {
                    guard let value = body.value(at: position).map({ Array($0.bytes) }) else { continue }
                    let new = replaced(value, row.kind, body.id(at: position))
                    if new != value { values[body.id(at: position)] = new }
                }
            }
            if row.record == rekeyed.old, let entity = state.catalog.entity(id: row.kind) {
                rows[index].record = rekeyed.new
                for (id, value) in entity.keyValues(rekeyed.to) { values[id] = value.withEncoded { Array($0.bytes) } }
                let isKept = rekeyed.new.storageKey.withUnsafeBytes { WholeKey.isKept(entity, $0) }
                if isKept {
                    values[WholeKey.field] = Value.bytes(rekeyed.to.tuple).withEncoded { Array($0.bytes) }
                } else {
                    values.updateValue(nil, forKey: WholeKey.field)
                }
            }
            if !values.isEmpty { rows[index].set(values) }
        }
    }
}

extension [UInt8] {
    /// Returns an encoded reference, or a list, with a target replaced; nil if it does not have it.
    ///
    /// A list that has the replacement already loses the target.
    func replacing(_ old: [UInt8], by new: [UInt8]) -> [UInt8]? {
        withUnsafeBytes { bytes -> [UInt8]? in
            guard !bytes.isEmpty else { return nil }
            let value = EncodedValue(bytes)
            if value.tag == ValueTag.references {
                var targets = Array(bytes).referenceList
                guard let index = targets.firstIndex(of: old) else { return nil }
                if targets.contains(new) { targets.remove(at: index) } else { targets[index] = new }
                return targets.referenceValue
            }
            guard let target = value.reference, Array(target) == old else { return nil }
            return Array(bytes.prefix(bytes.count - old.count)) + new
        }
    }
}
