import TarnInspect
import TarnStore

/// The changes of some commits, in their order.
struct ChangesAnswer: Encodable {
    struct Change: Encodable {
        var sequence: String, operation: String, entity: String, key: String, id: String
        var fields: [String]?
    }

    /// The commits that are shown if none is named, and the most changes.
    private static let commits: UInt64 = 20, limit = 300

    /// The commit after which the changes begin.
    var since: String
    /// The newest commit of the store.
    var newest: String
    /// The newest commit whose changes were trimmed.
    var trimmed: String
    var changes: [Change]
    /// Whether there are more changes than are shown.
    var hasMore: Bool
    var damages: [String]

    init(_ inspector: StoreInspector, since wanted: UInt64?) throws {
        let newest = try wanted ?? inspector.statistics().sequence
        let since = wanted ?? (newest > Self.commits ? newest - Self.commits : 0)
        var changes: [Change] = [], damages: [String] = []
        let part = try inspector.changes(
            since: since, limit: Self.limit, damaged: { if damages.count < Self.limit { damages.append("\($0)") } }
        ) { change in
            changes.append(
                Change(
                    sequence: String(change.sequence), operation: change.operation.rawValue, entity: change.entity,
                    key: change.key.description, id: Hexadecimal.text(change.key.storageKey),
                    fields: change.fields?.map(\.name)))
        }
        (self.since, self.newest, trimmed) = (String(since), String(part.sequence), String(part.trimmed))
        (self.changes, hasMore, self.damages) = (changes, part.hasMore, damages)
    }
}
