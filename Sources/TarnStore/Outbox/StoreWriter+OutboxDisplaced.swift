// Created records whose chosen keys the server has given to others.

extension StoreWriter {
    /// Gives a created record a temporary key, because the server has given the one that the
    /// program had chosen for it to the record of another creation.
    ///
    /// Otherwise both would become one, and the changes of one would be sent to the other once the
    /// server has assigned the second key. If the server takes both for one record, the answer to
    /// the second creation says so. A record that a response has brought stays: both are that one.
    ///
    /// - Parameter adopted: the record that adopts the key.
    mutating func displaceCreation(of adopted: ListedRecord, _ root: Catalog.Entity, at now: Timestamp) throws {
        guard let creation = try outbox.creation(of: adopted), !creation.hasTemporaryKey,
            let entity = access.catalog.entity(id: creation.entity), try !outbox.isAtServer(adopted)
        else { return }
        var parts = creation.key.components.map(Optional.some), start = 0, last: Range<Int>?
        for part in root.keyParts {
            let end = start + part.count
            if !part.isReference { last = start..<end }
            start = end
        }
        guard let last, start == parts.count else { return }
        for index in last { parts[index] = nil }
        let new = try outbox.newKey(.partial(parts), entity, [])
        var displaced = creation
        displaced.hasTemporaryKey = true
        displaced.changes.removeAll { $0.record == nil && new.temporaryFields.contains($0.field) }
        try operations.replace(creation, by: displaced)
        if let number = new.lastTemporary {
            try operations.changeCounters { $0.lastTemporary = max($0.lastTemporary, number) }
        }
        try adopt(root, creation.key, new.key, at: now)
    }
}

extension StoredOperation {
    /// The key that a creation adopts whose answer names none: the one that its request had, if the
    /// record has lost that since. See ``StoreWriter/displaceCreation(of:_:at:)``.
    ///
    /// - Parameter sent: the operation as it was sent.
    func keyOfRequest(_ sent: OutboxOperation) -> RecordKey? {
        kind == .create && hasTemporaryKey && !sent.hasTemporaryKey && sent.key != key ? sent.key : nil
    }
}
