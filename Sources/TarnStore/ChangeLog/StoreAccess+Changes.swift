// Changes as consumers see them: entries of the log, with keys and values from the catalog.

extension StoreAccess {
    /// The oldest token that the log still covers.
    var oldestChangeToken: ChangeToken {
        get throws { ChangeToken(incarnation: try settings.incarnation, sequence: try changes.trimmedSequence) }
    }

    /// Calls the closure with the entries after a token; its second argument copies the change.
    ///
    /// - Parameter examine: called with each entry before, also of other entities. It returns false
    ///   to stop.
    func forEachChange(
        since token: ChangeToken, of names: [String]?, withValues: Bool = true,
        examine: (ChangeEntry) -> Bool = { _ in true },
        _ body: (ChangeEntry, () throws -> Change) throws -> Bool
    ) throws {
        try changes.check(token)
        let wanted: Set<UInt16>? = try names.map { names in
            let ids = try names.map { try state.entity($0).id }
            return Set(
                catalog.entities.filter { entity in ids.contains { catalog.isKind(entity.id, of: $0) } }.map(\.id))
        }
        let entities = Dictionary(catalog.entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        try changes.forEachEntry(after: token.sequence, token.ordinal) { entry in
            guard examine(entry) else { return false }
            if let wanted, !wanted.contains(entry.entity) { return true }
            return try body(entry) {
                if let entity = entities[entry.entity] {
                    return try lending { try change(entry, entity, withValues: withValues) }
                }
                guard let entity = catalog.removedEntity(entry.entity) else {
                    throw ChangeLogError.damagedChange(entry)
                }
                return try change(entry, entity, withValues: false)
            }
        }
    }

    private func change(_ entry: ChangeEntry, _ entity: Catalog.Entity, withValues: Bool) throws -> Change {
        guard let change = Change(entry, of: entity, in: self, withValues: withValues) else {
            throw ChangeLogError.damagedChange(entry)
        }
        return change
    }
}

extension Catalog {
    /// Returns an entity that was removed, of which only the id is known; nil if there was none.
    fileprivate func removedEntity(_ id: UInt16) -> Entity? {
        guard id > 0, id < nextEntity else { return nil }
        return Entity(id: id, name: "#\(id)", parent: nil, root: id, key: [], fields: [])
    }
}

extension ChangeLogError {
    static func damagedChange(_ entry: ChangeEntry) -> ChangeLogError {
        .damagedChange(sequence: entry.sequence, ordinal: entry.ordinal)
    }
}
