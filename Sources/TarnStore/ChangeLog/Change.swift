// A change of the change log, copied out of the store.

/// The creation, update or deletion of one record by a commit.
public struct Change: Sendable, Equatable {
    /// The kind of a change.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case created, updated, deleted
    }

    /// The commit sequence, which became the version of the record.
    public internal(set) var sequence: UInt64
    /// The position among the changes of the commit. Positions of rolled back changes are skipped.
    package internal(set) var ordinal: UInt32
    /// The kind of the change.
    public internal(set) var operation: Operation
    /// The concrete entity after the change; of a deleted record, before it.
    ///
    /// An entity that was removed from the store since is named by its id: `#12`.
    public var entity: String { source.name }
    /// The key of the record, also if it was deleted.
    public internal(set) var key: RecordKey
    /// The new values of the changed fields, null for one that the record no longer has; all fields
    /// of a new record.
    ///
    /// Nil if the log does not keep values (``Store/setChangeValues(_:)``), or if the record was
    /// deleted. References are as in ``Record/fields``.
    public internal(set) var fields: [Record.Field]?
    /// Whether the record was partial after the change; false if the log does not keep values.
    public internal(set) var isPartial = false

    /// The entity, with the field ids of the values.
    let source: Catalog.Entity
    /// The encoded body of the values.
    var values: EncodedFields?

    struct EncodedFields: Sendable, Equatable {
        var bytes: [UInt8]
        var isWide: Bool
    }
}

extension Change.Operation {
    init(_ operation: ChangeEntry.Operation) {
        self =
            switch operation {
            case .create: .created
            case .update: .updated
            case .delete: .deleted
            }
    }
}

extension Change {
    /// Copies an entry of the log; nil if a part of it is unreadable.
    package init?(
        _ entry: ChangeEntry, of entity: Catalog.Entity, in source: some RecordSource, withValues: Bool = true
    ) {
        // Logs of older versions lack the whole key: the row has it, as long as there is one.
        let key =
            entry.wholeKey.flatMap { RecordKey(tuple: $0) } ?? RecordKey(storageKey: entry.storageKey)
            ?? (try? source.wholeKey(entity, ofDigest: entry.storageKey))
        guard let key else { return nil }
        self.init(
            sequence: entry.sequence, ordinal: entry.ordinal, operation: Change.Operation(entry.operation), key: key,
            source: entity)
        guard withValues, let body = entry.values else { return }
        guard body.isWellFormed, let fields = try? source.fields(entity, body) else { return nil }
        values = EncodedFields(bytes: Array(body.bytes), isWide: body.isWide)
        isPartial = entry.isPartial
        self.fields = fields
    }
}
