public import TarnStore

/// The entity and the key of a record that an import has changed.
public struct ImportedKey: Sendable, Hashable, CustomStringConvertible {
    /// The name of the record's entity.
    public let entity: String
    /// The key of the record.
    ///
    /// If it is longer than a storage key holds, and only a reference has changed the record, it is
    /// a `KeyComponent.digest`.
    public let key: RecordKey

    /// Creates the entity and the key of a record.
    package init(entity: String, key: RecordKey) {
        self.entity = entity
        self.key = key
    }

    /// The entity and the key: `Issue 17`.
    public var description: String { "\(entity) \(key)" }
}

extension ImportReport {
    /// The outcome of a record that an import has changed.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The record was not stored before.
        case created
        /// The content of the stored record changed.
        case updated
        /// The record is deleted at the server, and was deleted.
        case deleted
    }

    /// The first keys of the records with an outcome, at most ``keyLimit``.
    ///
    /// They are in the order of the import: units in the order of their commits, and within a unit
    /// in the order of the documents. Records that only the references of others have changed come
    /// last. A record that several units change is named once for each. If the counts of
    /// ``entities`` are higher, there are further records, without their keys.
    ///
    /// - Complexity: linear in the number of keys.
    public func keys(_ outcome: Outcome) -> [ImportedKey] {
        switch outcome {
        case .created: outcomeKeys.created.keys
        case .updated: outcomeKeys.updated.keys
        case .deleted: outcomeKeys.deleted.keys
        }
    }

    /// The keys of one entity among those of ``keys(_:)``.
    public func keys(_ outcome: Outcome, of entity: String) -> [RecordKey] {
        keys(outcome).compactMap { $0.entity == entity ? $0.key : nil }
    }

    /// Notes the key of a record that was changed besides an import, up to the limit.
    package mutating func note(_ storageKey: [UInt8], of entity: String, _ outcome: Outcome, whole: RecordKey? = nil) {
        func append(_ list: inout KeyList) {
            guard list.count < keyLimit else { return }
            storageKey.withUnsafeBytes { list.append($0, of: entity) { whole } }
        }
        switch outcome {
        case .created: append(&outcomeKeys.created)
        case .updated: append(&outcomeKeys.updated)
        case .deleted: append(&outcomeKeys.deleted)
        }
    }
}
