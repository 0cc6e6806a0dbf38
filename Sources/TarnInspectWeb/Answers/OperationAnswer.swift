import TarnHTTP
import TarnInspect
import TarnStore

/// An operation of the outbox.
struct OperationAnswer: Encodable {
    /// A changed field.
    struct Change: Encodable {
        var name: String
        /// The value before the change; nil if the field was absent.
        var before: FieldText?
        /// The local value.
        var after: FieldText
    }
    struct Failure: Encodable {
        var kind: String, status: Int?, message: String, excerpt: String?, at: String
    }
    /// An earlier operation that must end first.
    struct Wait: Encodable { var id: String, isDead: Bool, reason: String }

    /// The sizes of an answer.
    struct Form {
        /// The most changed fields, targets of a value, members, and waits.
        let changes: Int, targets: Int, waits: Int
        /// The longest text, in characters.
        let longest: Int
        /// Whether the rarely wanted parts are included.
        let isWhole: Bool

        static let short = Form(changes: 3, targets: 3, waits: 3, longest: 200, isWhole: false)
        static let whole = Form(
            changes: 1000, targets: FieldText.targets, waits: 100, longest: FieldText.longest, isWhole: true)
    }

    var id: String, kind: String, state: String
    var entity: String, key: String
    /// The storage key of the record; nil if the store does not have its entity.
    var record: String?
    var hasTemporaryKey: Bool
    /// Whether it is a creation that the server has accepted, and whose key is not known.
    var isAccepted: Bool
    /// Whether an earlier attempt may have reached the server: its answer is not known.
    var mayHaveArrived: Bool
    /// The first changed fields, and the number of all.
    var changes: [Change], changeCount: Int
    var relationship: String?
    /// The first members that are added or removed, and the number of all.
    var members: [FieldText.Target], memberCount: Int
    var attempts: Int, queuedAt: String, attemptedAt: String?
    /// The end of the back-off, and the seconds until then; nil if it is over.
    var notBefore: String?, pause: Int?
    var failure: Failure?
    /// The first operations that must end before, and whether these are all that are known.
    var waits: [Wait], areWaitsWhole: Bool
    var idempotencyKey: String
    // Only in the view of one operation.
    /// The first fields of a deleted record, and the number of all.
    var deleted: [FieldText]?, deletedCount: Int?
    /// The first records that the request refers to besides, and the number of all.
    var related: [FieldText.Target]?, relatedCount: Int?
    /// The URL at which the server has created the record.
    var location: String?
    var etag: String?, lastModified: String?
    /// The fields of a creation that no request sends, and those that are left to the server.
    var unsent: [String]?, serverFields: [String]?

    init(_ found: InspectedOperation, _ form: Form, _ states: TargetStates, _ catalog: Catalog) {
        let operation = found.operation, entity = catalog.entity(operation.entity)
        func text(_ name: String, _ value: Value) -> FieldText {
            FieldText(
                Record.Field(name, value), entity, catalog, longest: form.longest, most: form.targets, states)
        }
        (id, kind, state) = (String(operation.id), operation.kind.rawValue, operation.state.rawValue)
        (self.entity, key) = (operation.entity, operation.key.description)
        record = entity.map { _ in Hexadecimal.text(operation.key.storageKey) }
        (hasTemporaryKey, isAccepted) = (operation.hasTemporaryKey, operation.isAccepted)
        mayHaveArrived = operation.mayHaveArrived
        changes = operation.changes.prefix(form.changes).map { change in
            Change(
                name: change.name, before: change.before.map { text(change.name, $0) },
                after: text(change.name, change.after))
        }
        changeCount = operation.changes.count
        relationship = operation.relationship
        let destination = operation.memberEntity.flatMap { catalog.entity($0) }
        members = operation.members.prefix(form.targets).map { FieldText.Target($0, destination, states) }
        memberCount = operation.members.count
        (attempts, queuedAt) = (operation.attempts, operation.queuedAt.description)
        attemptedAt = operation.attemptedAt?.description
        notBefore = found.entry.notBefore?.description
        pause = found.entry.notBefore.map { Int(clamping: $0.elapsed(since: .now) / 1_000_000) }
        failure = operation.failure.map { failure in
            Failure(
                kind: failure.kind, status: failure.status, message: failure.message.cut(to: form.longest),
                excerpt: form.isWhole ? failure.excerpt?.cut(to: form.longest) : nil, at: failure.at.description)
        }
        waits = found.entry.waitsFor.prefix(form.waits).map {
            Wait(id: String($0.operation), isDead: $0.isDead, reason: $0.reason.rawValue)
        }
        areWaitsWhole = found.areWaitsWhole && found.entry.waitsFor.count <= form.waits
        idempotencyKey = operation.idempotencyKey.uuidString.lowercased()
        guard form.isWhole else { return }
        deleted = operation.deleted.map { deleted in
            let entity = catalog.entity(deleted.entity)
            return deleted.fields.prefix(form.changes).map { FieldText($0, entity, catalog, states) }
        }
        deletedCount = operation.deleted?.fields.count
        related = operation.related.prefix(form.targets).map {
            FieldText.Target($0.key, catalog.entity($0.entity), states)
        }
        relatedCount = operation.related.count
        location = operation.location.map { Redaction.url($0).cut(to: form.longest) }
        (etag, lastModified) = (operation.etag?.cut(to: 500), operation.lastModified?.cut(to: 500))
        (unsent, serverFields) = (operation.unsent, operation.serverFields)
    }
}

extension String {
    /// The text, cut to a number of Unicode scalars; `…` marks the cut.
    func cut(to longest: Int) -> String {
        unicodeScalars.count > longest ? String(unicodeScalars.prefix(longest)) + "…" : self
    }
}
