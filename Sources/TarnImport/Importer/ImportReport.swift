// The report of an import.

package import TarnStore

/// The counts and diagnostics of an import. Also a successful import has one.
public struct ImportReport: Sendable, Hashable {
    /// The numbers of records of one entity, by outcome.
    public struct Counts: Sendable, Hashable {
        /// Records that were not stored before.
        public var created = 0
        /// Stored records whose content changed.
        public var updated = 0
        /// Stored records whose content did not change.
        public var unchanged = 0
        /// Stored records that the response reported as deleted.
        ///
        /// Further deletions by their delete rules are not counted.
        public var deleted = 0
        /// Records with a smaller version than the stored one, which was kept.
        package var older = 0
        /// Created records that are partial.
        package var partial = 0
        /// Records that were not stored.
        ///
        /// They have no usable key, or unique values of another record, or a hook or a local change
        /// excluded them.
        package var skipped = 0

        /// Creates counts.
        package init(
            created: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, older: Int = 0, skipped: Int = 0
        ) {
            self.created = created
            self.updated = updated
            self.unchanged = unchanged
            self.deleted = deleted
            self.older = older
            self.skipped = skipped
        }

        /// The number of records that the import stored or found unchanged.
        package var total: Int { created + updated + unchanged }

        mutating func add(_ other: Counts) {
            created += other.created
            updated += other.updated
            unchanged += other.unchanged
            deleted += other.deleted
            older += other.older
            partial += other.partial
            skipped += other.skipped
        }
    }

    /// A JSON path that the description neither maps nor ignores.
    public struct UnmappedPath: Sendable, Hashable {
        /// The entity's name.
        public var entity: String
        /// The key path from the record.
        public var path: String
        /// The number of occurrences.
        public var count: Int
    }

    /// The counts by entity name.
    public var entities: [String: Counts] = [:]
    /// The first diagnostics, up to the importer's limit.
    ///
    /// A sum of several reports holds at most ``diagnosticLimit``.
    public var diagnostics: [Diagnostic] = []
    /// The number of all diagnostics.
    public var diagnosticCount = 0
    /// All diagnostics, grouped by code, entity and field, in the order of first occurrence.
    package var diagnosticGroups: [DiagnosticGroup] = []
    /// The attributes that no record had, by entity name.
    var presence: [String: FieldPresence] = [:]
    /// The number of skipped records, nested ones included.
    ///
    /// They have no usable key, or unique values of another record.
    public var skipped = 0
    /// Records that responses may list and that are not in the store.
    ///
    /// They were skipped, or a response reported them as deleted and they were not stored before.
    package var dropped: [ListedRecord] = []
    /// Records of which something was left out because of what the store has at the moment.
    ///
    /// A later import of the same response may store it: they have unique values of another record,
    /// a local change or a delete rule holds them, or a member of their list is not stored yet.
    package var leftOut: Set<ListedRecord> = []
    /// Those of ``leftOut`` that are stored, and keep all of their values.
    var restored: Set<ListedRecord> = []
    /// The unmapped paths, sorted by entity and path.
    public var unmapped: [UnmappedPath] = []
    /// The number of records that the responses list, before duplicates are merged.
    public var listed = 0
    /// The number of records that occurred again in the same unit with different values.
    package var conflicts = 0
    /// The keys of created, updated and deleted records, for ``keys(_:)``.
    var outcomeKeys = OutcomeKeys()
    /// The maximum number of keys for each outcome. A sum has the largest limit of its parts.
    public internal(set) var keyLimit = ImportReport.keyLimit

    /// The default limit on the diagnostics of a report.
    package static let diagnosticLimit = 100

    /// The default limit on the keys of a report, for each outcome.
    static let keyLimit = 100

    /// Creates an empty report.
    package init() {}

    /// Creates an empty report with a limit on its keys.
    package init(keyLimit: Int) { self.keyLimit = max(0, keyLimit) }

    /// Adds records that were found unchanged without a draft.
    ///
    /// - Parameter counts: their numbers by entity.
    mutating func add(unchanged counts: [UInt16: Int], _ catalog: Catalog) {
        for (id, count) in counts {
            guard let name = catalog.entity(id: id)?.name else { continue }
            entities[name, default: Counts()].unchanged += count
        }
    }

    /// The number of created records of all entities.
    public var created: Int { entities.values.reduce(0) { $0 + $1.created } }
    /// The number of updated records of all entities.
    public var updated: Int { entities.values.reduce(0) { $0 + $1.updated } }
    /// The number of unchanged records of all entities.
    public var unchanged: Int { entities.values.reduce(0) { $0 + $1.unchanged } }
    /// The number of records that were deleted because they are deleted at the server.
    public var deleted: Int { entities.values.reduce(0) { $0 + $1.deleted } }
    /// The number of records that came from older responses and changed nothing.
    package var older: Int { entities.values.reduce(0) { $0 + $1.older } }

    /// The attributes that no record had, not even as null, sorted by entity and attribute.
    ///
    /// Only entities of listed records are included: partial nested objects may lack attributes.
    package var absentAttributes: [AbsentAttribute] {
        presence.sorted { $0.key < $1.key }.flatMap { entity, presence in
            guard presence.records > 0 else { return [AbsentAttribute]() }
            return presence.absent.sorted().map {
                AbsentAttribute(entity: entity, attribute: $0, records: presence.records)
            }
        }
    }

    /// Adds one diagnostic.
    package mutating func add(_ diagnostic: Diagnostic) {
        diagnosticCount += 1
        if diagnostics.count < ImportReport.diagnosticLimit { diagnostics.append(diagnostic) }
        diagnosticGroups.add([DiagnosticGroup(diagnostic)])
    }

    /// Keeps the first keys of each outcome, up to a limit.
    package mutating func limitKeys(to limit: Int) {
        let all = outcomeKeys
        (keyLimit, outcomeKeys) = (limit, OutcomeKeys())
        outcomeKeys.add(all, limit: limit)
    }

    /// Returns the report of a unit that was merged a second time, with further bodies.
    ///
    /// Records that this merge has found unchanged may have been changed by the first one, which
    /// had some of them.
    func following(_ first: ImportReport) -> ImportReport {
        var report = self
        // Their keys are known up to the limit.
        let known = Set(first.keys(.created) + first.keys(.updated)),
            changedAgain = Set(keys(.updated)).intersection(known)
        for (entity, before) in first.entities {
            let after = entities[entity] ?? Counts()
            let total = after.created + after.updated + after.unchanged
            var counts = after
            counts.created = before.created + after.created
            let again = changedAgain.count { $0.entity == entity }
            counts.updated = min(before.updated + after.updated - again, max(0, total - counts.created))
            counts.unchanged = max(0, total - counts.created - counts.updated)
            counts.partial = before.partial + after.partial
            report.entities[entity] = counts
        }
        report.leftOut.formUnion(first.leftOut)
        report.restored.formUnion(first.restored)
        var own = outcomeKeys
        own.updated.remove(changedAgain)
        report.outcomeKeys = first.outcomeKeys
        report.outcomeKeys.add(own, limit: keyLimit)
        return report
    }

    /// Adds another report, such as that of the next page.
    package mutating func add(_ other: ImportReport) {
        for (entity, counts) in other.entities {
            entities[entity, default: Counts()].add(counts)
        }
        diagnostics += other.diagnostics.prefix(max(0, ImportReport.diagnosticLimit - diagnostics.count))
        diagnosticCount += other.diagnosticCount
        diagnosticGroups.add(other.diagnosticGroups)
        presence.merge(other.presence) { known, other in
            var known = known
            known.add(other)
            return known
        }
        skipped += other.skipped
        dropped += other.dropped
        leftOut.formUnion(other.leftOut)
        listed += other.listed
        conflicts += other.conflicts
        keyLimit = max(keyLimit, other.keyLimit)
        outcomeKeys.add(other.outcomeKeys, limit: keyLimit)
        unmapped.add(other.unmapped)
    }
}

extension [ImportReport.UnmappedPath] {
    /// Adds the counts of other paths. Takes linear time if both are sorted, as reports are.
    fileprivate mutating func add(_ other: Self) {
        guard !other.isEmpty else { return }
        let known = inOrder, other = other.inOrder
        var sum: Self = [], own = 0, position = 0
        sum.reserveCapacity(known.count)
        while own < known.count || position < other.count {
            let isOwn =
                position == other.count || own < known.count && !Self.precedes(other[position], known[own])
            let next = isOwn ? known[own] : other[position]
            if isOwn { own += 1 } else { position += 1 }
            if let last = sum.last, !Self.precedes(last, next) {
                sum[sum.count - 1].count += next.count
            } else {
                sum.append(next)
            }
        }
        self = sum
    }

    private var inOrder: Self {
        let isSorted = zip(self, dropFirst()).allSatisfy { !Self.precedes($1, $0) }
        return isSorted ? self : sorted(by: Self.precedes)
    }

    private static func precedes(_ a: Element, _ b: Element) -> Bool { (a.entity, a.path) < (b.entity, b.path) }
}
