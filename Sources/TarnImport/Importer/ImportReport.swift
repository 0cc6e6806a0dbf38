// What an import did.

public import TarnStore

/// The counts and diagnostics of an import. Also a successful import has one.
public struct ImportReport: Sendable, Hashable {
    public struct Counts: Sendable, Hashable {
        public var created = 0
        public var updated = 0
        public var unchanged = 0
        /// Records that the response said are no more, and that were there. What their delete rules took along is not counted.
        public var deleted = 0
        /// Records that came with a smaller version than the stored one, and were left as they are.
        public var older = 0
        /// Of those created, the ones that are known in part only.
        public var partial = 0
        /// Records that were not stored: without a usable key, or with unique values of another one.
        public var skipped = 0

        public init(
            created: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, older: Int = 0, partial: Int = 0,
            skipped: Int = 0
        ) {
            self.created = created
            self.updated = updated
            self.unchanged = unchanged
            self.deleted = deleted
            self.older = older
            self.partial = partial
            self.skipped = skipped
        }

        /// Records that are in the store by this.
        public var total: Int { created + updated + unchanged }

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
        public var entity: String
        public var path: String
        public var count: Int
    }

    /// By entity name.
    public var entities: [String: Counts] = [:]
    /// At most as many as the importer's limit says; of several reports at most ``diagnosticLimit``.
    public var diagnostics: [Diagnostic] = []
    /// How many there were.
    public var diagnosticCount = 0
    /// All diagnostics, grouped by code, entity and field, in the order in which the groups were met.
    public var diagnosticGroups: [DiagnosticGroup] = []
    /// By entity name: the attributes that no record had.
    var presence: [String: FieldPresence] = [:]
    /// How many records, nested ones included, were skipped: they have no usable key, or values that have to be unique and
    /// are another record's.
    public var skipped = 0
    /// Records that responses may list and that are not in the store: those that were skipped, and those that were never there when a
    /// response said that they are no more.
    public var dropped: [ListedRecord] = []
    /// In the order of entities and paths.
    public var unmapped: [UnmappedPath] = []
    /// Records that the responses list, before duplicates are merged.
    public var listed = 0
    /// Records that were met again in the same unit and said something else.
    public var conflicts = 0

    /// The default of an importer's limit.
    public static let diagnosticLimit = 100

    public init() {}

    public var created: Int { entities.values.reduce(0) { $0 + $1.created } }
    public var updated: Int { entities.values.reduce(0) { $0 + $1.updated } }
    public var unchanged: Int { entities.values.reduce(0) { $0 + $1.unchanged } }
    /// Records that were deleted, since they are no more at the server.
    public var deleted: Int { entities.values.reduce(0) { $0 + $1.deleted } }
    /// Answers that were older than what is stored, and changed nothing.
    public var older: Int { entities.values.reduce(0) { $0 + $1.older } }

    /// Attributes that none of the records had, not even as null, in the order of entities and attributes.
    ///
    /// An entity counts once a response lists records of it: excerpts may lack attributes.
    public var absentAttributes: [AbsentAttribute] {
        presence.sorted { $0.key < $1.key }.flatMap { entity, presence in
            guard presence.records > 0 else { return [AbsentAttribute]() }
            return presence.absent.sorted().map { AbsentAttribute(entity: entity, attribute: $0, records: presence.records) }
        }
    }

    /// Adds one diagnostic.
    public mutating func add(_ diagnostic: Diagnostic) {
        diagnosticCount += 1
        if diagnostics.count < ImportReport.diagnosticLimit { diagnostics.append(diagnostic) }
        diagnosticGroups.add([DiagnosticGroup(diagnostic)])
    }

    /// Adds another report, as of the next page.
    public mutating func add(_ other: ImportReport) {
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
        listed += other.listed
        conflicts += other.conflicts
        for path in other.unmapped {
            if let known = unmapped.firstIndex(where: { $0.entity == path.entity && $0.path == path.path }) {
                unmapped[known].count += path.count
            } else {
                unmapped.append(path)
            }
        }
        unmapped.sort { ($0.entity, $0.path) < ($1.entity, $1.path) }
    }
}
