// The change log, as far as it is readable.

import TarnStore

/// The part of the change log that a question has read.
package struct ChangeLogPart: Sendable {
    /// The incarnation of the store; another one has another history.
    var incarnation: String
    /// The newest commit of the store.
    package var sequence: UInt64
    /// The newest commit whose changes were trimmed, all or some; 0 if none were.
    package var trimmed: UInt64
    /// The number of changes of entities that the catalog no longer has.
    package var unknown = 0
    /// Whether the limit ended the list before the end of the log.
    package var hasMore = false
    /// The reason why no read transaction held the state; nil if one did.
    package var aloneBecause: String?
}

extension StoreInspector {
    /// Calls `change` with the changes after a commit, in their order, as of one snapshot.
    ///
    /// - Parameters:
    ///   - sequence: The commit whose changes are known already; 0 for the whole log.
    ///   - names: Only changes of these entities and of those below them; nil for all.
    ///   - limit: The most changes.
    /// - Throws: The error of `change`; `StoreError.unknownEntity`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    package func changes(
        since sequence: UInt64 = 0, of names: [String]? = nil, limit: Int = .max, damaged: (Damage) -> Void,
        change: (Change) throws -> Void
    ) throws -> ChangeLogPart {
        try changes(of: names, limit: limit, since: { _ in sequence }, damaged: damaged, change: change)
    }

    /// Calls `change` with the changes after the commit that `since` chooses for the log's state.
    func changes(
        of names: [String]?, limit: Int = .max, since: (ChangeLogPart) throws -> UInt64, damaged: (Damage) -> Void,
        change: (Change) throws -> Void
    ) throws -> ChangeLogPart {
        try open { file in
            try checkIsReadable(file)
            let wanted = try names.map { try $0.flatMap { try file.entities(named: $0) } }
            var part = ChangeLogPart(
                incarnation: file.text(MetaKey.incarnation) ?? "", sequence: file.number(MetaKey.sequence) ?? 0,
                trimmed: file.number(MetaKey.trimmedChanges) ?? 0)
            let sequence = try since(part), first = sequence == .max ? sequence : sequence + 1
            let interval = KeyInterval(from: withUnsafeBytes(of: first.bigEndian) { Array($0) })
            let cursor = TableCursor(file, TableName.changes, in: interval)
            var count = 0
            while cursor.next() {
                try cursor.withEntry { key, value in
                    guard let group = ChangeGroup(key, value) else {
                        return damaged(Damage(place: "the change log", reason: "an entry is unreadable"))
                    }
                    for entry in group {
                        guard let entity = file.catalog.entity(id: entry.entity) else {
                            part.unknown += 1
                            continue
                        }
                        guard wanted?.contains(where: { file.catalog.isKind(entity.id, of: $0.id) }) ?? true else {
                            continue
                        }
                        guard count < limit else {
                            part.hasMore = true
                            return
                        }
                        guard let copied = Change(entry, of: entity, in: file) else {
                            damaged(entry.damage)
                            continue
                        }
                        count += 1
                        try change(copied)
                    }
                }
                if part.hasMore { break }
            }
            file.reportFindings(to: damaged)
            part.aloneBecause = file.aloneBecause
            return part
        }
    }
}

extension ChangeEntry {
    /// The damage of a change whose values cannot be decoded.
    var damage: StoreInspector.Damage {
        StoreInspector.Damage(place: "change \(sequence).\(ordinal)", reason: "undecodable value")
    }
}
