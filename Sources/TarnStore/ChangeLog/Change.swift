// What the change log says of one change, copied out of the store.

/// One record was created, updated or deleted by a commit.
public struct Change: Sendable, Equatable {
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case created, updated, deleted
    }

    /// The commit: the version that the record has since, if it is there.
    public internal(set) var sequence: UInt64
    /// The place among the changes of the commit. Places that were taken back are left out.
    public internal(set) var ordinal: UInt32
    public internal(set) var operation: Operation
    /// What the record is since, or was when it was deleted.
    public var entity: String { source.name }
    /// Also of a deleted record.
    public internal(set) var key: RecordKey
    /// The new values of the fields that changed, of a new record all that it has; nil if the log does not keep them
    /// (``Store/setChangeValues(_:)``), or the record was deleted. References are as in ``Record/fields``.
    public internal(set) var fields: [Record.Field]?
    /// Whether the record was known only in part then; false if the log does not keep values.
    public internal(set) var isPartial = false

    /// The entity with the ids that the values are under.
    let source: Catalog.Entity
    /// The body of the values.
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
