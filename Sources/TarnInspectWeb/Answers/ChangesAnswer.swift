import TarnInspect
import TarnStore

/// Some changes of the log, the newest first.
struct ChangesAnswer: Encodable {
    struct Change: Encodable {
        var sequence: String, operation: String, entity: String, key: String, id: String
        var fields: [String]?
    }

    /// The most changes of an answer.
    private static let limit = 200

    /// The incarnation: another store in its place may have as many commits.
    var incarnation: String
    /// The newest commit of the store.
    var newest: String
    /// The newest commit whose changes were trimmed.
    var trimmed: String
    var changes: [Change]
    /// The position before which the next page begins; nil after the oldest change.
    var next: String?
    var damages: [String]
    /// The number of damages that are not listed.
    var moreDamages: Int
    /// The number of changes that are left out: those of entities that the store no longer has.
    var unknown: Int

    init(_ inspector: StoreInspector, before position: [UInt8]?) throws {
        let page = try inspector.latestChanges(before: position, limit: Self.limit)
        incarnation = page.incarnation
        (newest, trimmed) = (String(page.sequence), String(page.trimmed))
        next = page.next.map(Hexadecimal.text)
        changes = page.changes.map { change in
            Change(
                sequence: String(change.sequence), operation: change.operation.rawValue, entity: change.entity,
                key: change.key.description, id: Hexadecimal.text(change.key.storageKey),
                fields: change.fields?.map(\.name))
        }
        let found = DamageTexts(page.damages)
        (damages, moreDamages, unknown) = (found.texts, found.more, page.unknown)
    }
}
