public import Foundation
public import TarnImport
public import TarnStore

/// A local change that a bridge brings to the server.
public struct RemoteChange: Sendable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case create, update, delete
        /// A member is added to a to-many relationship.
        case add
        /// A member is removed from one.
        case remove
    }

    /// The kind of the change.
    public var kind: Kind
    /// The record with its local values; for a delete, as it was before.
    public var record: Record
    /// The record as the API writes it: all fields of a new record, the changed ones of an update.
    public var body: JSONValue
    /// The relationship of an added or removed member.
    public var relationship: String?
    /// The added or removed member.
    public var member: Record?
    /// The key that is equal in all attempts to send the change.
    public var idempotencyKey: UUID
    /// What the caller has given for the bridge.
    public var userInfo: JSONValue

    /// Creates a change whose body is written already.
    public init(
        _ kind: Kind, _ record: Record, body: JSONValue = .object([]), idempotencyKey: UUID = UUID(),
        userInfo: JSONValue = .null
    ) {
        self.kind = kind
        self.record = record
        self.body = body
        self.idempotencyKey = idempotencyKey
        self.userInfo = userInfo
    }

    /// The key of the record as JSON: a number or a text; an array if it has several parts.
    public var key: JSONValue {
        let parts = record.key.components.map { part -> JSONValue in
            if case .int(let number) = part { return .number(String(number)) }
            if case .string(let text) = part { return .string(text) }
            return .string("\(part)")
        }
        return parts.count == 1 ? parts[0] : .array(parts)
    }
}

extension RecordClient {
    /// Returns a change with its body, as the mapping of the API writes it.
    ///
    /// - Parameters:
    ///   - fields: the changed fields of an update; nil for all.
    /// - Throws: an error that names the field that cannot be sent.
    public func change(
        _ kind: RemoteChange.Kind, _ record: Record, fields: Set<String>? = nil
    ) throws -> RemoteChange {
        var change = RemoteChange(kind, record)
        if kind == .create || kind == .update {
            var options = BodyOptions()
            options.fields = fields
            change.body = try BodyWriter(client.description.mapping, store.catalog).body(of: record, options).json
        }
        return change
    }
}
