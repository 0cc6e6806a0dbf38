// Garbage collection of records: follows references, and removes unreachable records on demand.

import Foundation
import TarnStore

extension RecordCache {
    /// Removes unreachable records.
    ///
    /// A record is reachable if a response lists it, if its entity is a root, if it is changed
    /// locally or a queued operation refers to it, or if a reachable record refers to it. Stored
    /// references are followed, from a record to its targets. Derived relationships, such as from a
    /// user to its issues, are followed only if `through` contains them: otherwise all records
    /// would keep each other.
    ///
    /// Nothing else calls this. The set is computed in a snapshot. If another writer commits before
    /// all of it is removed, it is computed again: beside a writer without pauses, cancelling the
    /// task is the only end.
    ///
    /// - Parameters:
    ///   - roots: entities whose records are all reachable.
    ///   - through: derived relationships that are followed, too, as `Entity.relationship`.
    ///   - isDryRun: whether records are only counted.
    /// - Returns: the numbers of reachable, unreachable and deleted records.
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`; errors of `write`. If the task is
    ///   cancelled, `CancellationError`; records that were removed before stay removed.
    public func collect(roots: Set<String>, through: Set<String> = [], isDryRun: Bool = true) async throws
        -> CollectReport
    {
        var deleted = 0, denied: Set<ListedRecord> = []
        while true {
            try Task.checkCancellation()
            var (report, unreachable, known) = try store.read { reader in
                var reach = Reach(reader.access, through: through)
                try reach.addRoots(roots)
                try reach.follow()
                let (counts, unreachable) = try reach.rest()
                let report = CollectReport(unreachable: counts, reached: reach.count)
                return (report, unreachable.filter { !denied.contains($0) }[...], try CollectState(reader.access))
            }
            report.deleted = deleted
            report.denied = denied.count
            if isDryRun || unreachable.isEmpty { return report }
            while !unreachable.isEmpty {
                try Task.checkCancellation()
                let left = unreachable, expected = known
                await client.pause()
                let outcome = try await store.write(alone: true) { writer -> CollectStep? in
                    // Another writer may have added a reference, or listed a record, since the
                    // snapshot.
                    guard try expected.isCurrent(for: left, writer.access) else { return nil }
                    return try writer.deleteUnreachable(Array(left.prefix(RecordCache.collectStep)))
                }
                guard let outcome else { break }
                deleted += outcome.deleted
                denied.formUnion(outcome.denied)
                unreachable.removeFirst(min(RecordCache.collectStep, unreachable.count))
                known = outcome.state
            }
        }
    }

    /// The number of records that one commit removes.
    private static let collectStep = 500
}

/// The state of a store for which unreachable records are known.
private struct CollectState: Sendable {
    private let transaction: Int
    private let sequence: UInt64
    private let outboxRevision: UInt64

    init(_ access: StoreAccess) throws {
        (transaction, sequence) = (access.transaction, try access.settings.sequence)
        outboxRevision = try access.outbox.revision
    }

    /// The state after a commit that has only deleted such records.
    init(after access: StoreAccess, hasDeleted: Bool) throws {
        transaction = access.transaction
        sequence = try access.settings.sequence + (hasDeleted ? 1 : 0)
        outboxRevision = try access.outbox.revision
    }

    /// Whether the records are unreachable in a write transaction, too.
    ///
    /// The commit of a response changes no record, and may list one: then it is reachable, with
    /// all records that it leads to.
    func isCurrent(for records: ArraySlice<ListedRecord>, _ access: StoreAccess) throws -> Bool {
        guard try access.settings.sequence == sequence, try access.outbox.revision == outboxRevision else {
            return false
        }
        if access.transaction == transaction + 1 { return true }
        var times = ListingTimes()
        for record in records where try !access.responses.ids(listing: record).isEmpty {
            guard try UnlistedRecords.isKnown(record, access, &times) else { return false }
        }
        return true
    }
}

/// The outcome of one commit that removes records.
private struct CollectStep: Sendable {
    var deleted = 0
    var denied: [ListedRecord] = []
    var state: CollectState
}

extension StoreWriter {
    fileprivate mutating func deleteUnreachable(_ records: [ListedRecord]) throws -> CollectStep {
        var deleted = 0, denied: [ListedRecord] = []
        for listed in records {
            // A delete rule may have deleted the record together with an earlier one.
            guard let record = try access.record(listed) else { continue }
            do {
                if try delete(record.entity, record.key, ifVersion: nil) { deleted += 1 }
            } catch let error as StoreWriteError {
                guard case .deleteDenied = error else { throw error }
                denied.append(listed)
            }
        }
        let state = try CollectState(after: access, hasDeleted: deleted > 0)
        return CollectStep(deleted: deleted, denied: denied, state: state)
    }
}

/// The reachable records, and those whose references are still to be followed.
private struct Reach {
    private let access: StoreAccess
    private let through: Set<String>
    private var reached: Set<ListedRecord> = []
    private var pending: [ListedRecord] = []

    init(_ access: StoreAccess, through: Set<String>) {
        self.access = access
        self.through = through
    }

    var count: Int { reached.count }

    private mutating func add(_ record: ListedRecord) {
        if reached.insert(record).inserted { pending.append(record) }
    }

    mutating func addRoots(_ names: Set<String>) throws {
        for name in through {
            let dot = name.firstIndex(of: ".") ?? name.endIndex
            let entity = try self.entity(String(name[..<dot])), relationship = String(name[dot...].dropFirst())
            guard access.catalog.relationship(relationship, of: entity) != nil else {
                throw StoreError.unknownField(
                    entity: entity.name, name: relationship, known: access.catalog.relationships(of: entity).map(\.name)
                )
            }
        }
        // The responses of a former list stay, and count no more than the list.
        let unlisted = try UnlistedRecords.all(access)
        try access.responses.forEach { view in
            view.forEachListed {
                let record = ListedRecord(entity: $0, storageKey: Array($1))
                if !unlisted.contains(record) { add(record) }
                return true
            }
            return true
        }
        for entity in access.catalog.entities where entity.root == entity.id {
            try access.records.scan(entity) { key, _ in
                let record = ListedRecord(entity: entity.root, storageKey: Array(key))
                if try access.localChanges.contains(record) { add(record) }
                return true
            }
        }
        // Such as the record of a deletion's URL: the deleted one no longer refers to it.
        try access.outbox.forEachRecord { add($0) }
        for name in names {
            let entity = try self.entity(name)
            try access.records.scan(entity) { key, _ in
                add(ListedRecord(entity: entity.root, storageKey: Array(key)))
                return true
            }
        }
    }

    private func entity(_ name: String) throws -> Catalog.Entity {
        guard let entity = access.catalog.entity(name) else {
            throw StoreError.unknownEntity(name: name, known: access.catalog.entities.map(\.name))
        }
        return entity
    }

    mutating func follow() throws {
        while let record = pending.popLast() {
            guard let kind = try access.kind(of: record) else { continue }
            for relationship in access.catalog.relationships(of: kind)
            where relationship.isStored || through.contains("\(kind.name).\(relationship.name)") {
                for target in try access.targets(of: record, relationship) { add(target) }
            }
        }
    }

    /// The unreachable records, and their numbers by entity.
    func rest() throws -> (counts: [String: Int], records: [ListedRecord]) {
        var counts: [String: Int] = [:], records: [ListedRecord] = []
        for root in access.catalog.entities where root.root == root.id {
            try access.records.scan(root) { key, row in
                let record = ListedRecord(entity: root.root, storageKey: Array(key))
                guard !reached.contains(record) else { return true }
                records.append(record)
                counts[access.catalog.entity(id: row.entity)?.name ?? root.name, default: 0] += 1
                return true
            }
        }
        return (counts, records)
    }
}
