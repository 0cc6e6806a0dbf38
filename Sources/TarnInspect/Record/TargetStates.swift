// The records that others refer to: whether the store has them.

import TarnStore

/// The states of records that values refer to, each looked up once.
package struct TargetStates: Sendable {
    /// The state of a record.
    package enum State: String, Sendable {
        case stored, missing
        /// A page on the way to the record is damaged: it may be stored.
        case unreadable
    }

    private var states: [ListedRecord: State] = [:]

    init() {}

    /// Returns the state of a record; nil if it was not looked up.
    ///
    /// - Parameter entity: The record's entity, or an ancestor of it.
    package func state(of key: RecordKey, _ entity: Catalog.Entity) -> State? {
        states[ListedRecord(entity: entity.root, storageKey: key.storageKey)]
    }

    /// Looks up the targets of a record's relationships.
    ///
    /// - Parameter most: The most targets of each.
    mutating func lookUp(_ record: Record, most: Int, in file: StoreFile) {
        let entity = file.catalog.entity(record.entity)
        for field in record.fields { lookUp(field.value, of: field.name, entity, most: most, in: file) }
    }

    /// Looks up the records that an operation refers to.
    mutating func lookUp(_ operation: OutboxOperation, most: Int, in file: StoreFile) {
        let entity = file.catalog.entity(operation.entity)
        for change in operation.changes {
            for value in [change.before, change.after] {
                if let value { lookUp(value, of: change.name, entity, most: most, in: file) }
            }
        }
        if let deleted = operation.deleted { lookUp(deleted, most: most, in: file) }
        if let destination = operation.memberEntity.flatMap({ file.catalog.entity($0) }) {
            for member in operation.members.prefix(most) { lookUp(member, destination, in: file) }
        }
        for record in operation.related.prefix(most) {
            if let destination = file.catalog.entity(record.entity) { lookUp(record.key, destination, in: file) }
        }
    }

    private mutating func lookUp(
        _ value: Value, of name: String, _ entity: Catalog.Entity?, most: Int, in file: StoreFile
    ) {
        guard case .reference(let reference)? = entity?.fields.first(where: { $0.name == name })?.kind,
            let destination = file.catalog.entity(id: reference.destination)
        else { return }
        switch value {
        case .reference(let key): lookUp(key, destination, in: file)
        case .references(let keys): for key in keys.prefix(most) { lookUp(key, destination, in: file) }
        default: break
        }
    }

    private mutating func lookUp(_ key: RecordKey, _ entity: Catalog.Entity, in file: StoreFile) {
        let record = ListedRecord(entity: entity.root, storageKey: key.storageKey)
        guard states[record] == nil else { return }
        // Rows may be large: those of hundreds of targets would take a long time.
        let found = record.storageKey.withUnsafeBytes {
            file.lookUp($0, in: TableName.records(entity.root), readsValue: false)
        }
        switch found {
        case .found: states[record] = .stored
        case .absent: states[record] = .missing
        case .unreadable: states[record] = .unreadable
        }
    }
}
