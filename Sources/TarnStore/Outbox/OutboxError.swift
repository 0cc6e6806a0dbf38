// The errors of the outbox.

/// A refusal of a change of the outbox. Nothing of the write was kept.
///
/// ``description`` names the way out.
public enum OutboxError: StoreFailure, Hashable {
    /// The outbox has no such operation: it was sent, discarded, or never existed.
    case unknownOperation(id: UInt64)
    /// An operation is not in a state that permits the change.
    case wrongState(id: UInt64, state: OutboxOperation.State, expected: [OutboxOperation.State])
    /// The server has accepted a creation, or a part of it: sent again, it could create a second
    /// record.
    case accepted(id: UInt64)
    /// A record to create exists.
    case recordExists(entity: String, key: String)
    /// A record to change or delete does not exist.
    case recordMissing(entity: String, key: String)
    /// An operation is of a kind that the change does not apply to.
    case wrongKind(id: UInt64, kind: OutboxOperation.Kind)
    /// Members can be added to and removed from to-many relationships only.
    case notToMany(entity: String, relationship: String)
    /// A member of a joined relationship has no value to be found by, or it is part of a key.
    case notSettable(entity: String, relationship: String, member: String)
    /// A part of an operation exceeds its limit, in bytes.
    case tooLarge(part: String, bytes: Int, limit: Int)

    public var description: String {
        switch self {
        case .unknownOperation(let id):
            "the outbox has no operation \(id): it was sent or discarded, or never queued; list the outbox again"
        case .wrongState(let id, let state, let expected):
            "the operation \(id) is \(state.rawValue), not \(expected.map(\.rawValue).joined(separator: " or ")); wait for its attempt to end, or list the outbox again"
        case .accepted(let id):
            "the server has accepted the creation \(id): sent again, it could create a second record; discard it, and fetch the record, or send it again all the same (--accepted), if the server honours its idempotency key"
        case .recordExists(let entity, let key):
            "cannot create \(entity) \(key): the record exists; update it, or create one with another key"
        case .recordMissing(let entity, let key):
            "\(entity) \(key) does not exist; create it first, or fetch it from the server"
        case .wrongKind(let id, let kind):
            "the operation \(id) is of the kind \(kind.rawValue), which has no changes to replace; discard it, or queue another one"
        case .notToMany(let entity, let relationship):
            "\(entity).\(relationship) is to-one: update the record to change it"
        case .notSettable(let entity, let relationship, let member):
            "\(entity).\(relationship) cannot get or lose \(member): the joined attribute has no value, or is part of a key; update the record that has the attribute"
        case .tooLarge(let part, let bytes, let limit):
            "the \(part) of an operation has \(bytes) bytes; the limit is \(limit). Split the change"
        }
    }
}
