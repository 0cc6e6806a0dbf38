import TarnHTTP
public import TarnImport
public import TarnStore

/// A local change that a bridge brings to the server: an operation of the outbox.
public struct RemoteChange: Sendable {
    /// The operation: its kind, its changed fields with their values before, its idempotency key.
    public var operation: OutboxOperation
    /// The record with its local values; for a delete, as it was before.
    public var record: Record
    /// The member that is added or removed; nil for other operations.
    public var member: Record?
    /// The body of the declared request, as the mapping writes it; an empty object without one.
    ///
    /// By default it has all fields of a new record, without a temporary key, and the changed
    /// fields of an update.
    public var body: JSONValue
    /// The declared request.
    package var message: TransportRequest
    /// The key path of the record in the answer to the declared request.
    package var records: JSONPath

    /// The key of the record as JSON: a number or a text; an array if it has several parts.
    public var key: JSONValue {
        let parts = record.key.components.map { part -> JSONValue in
            switch part {
            case .int(let number): .number(String(number))
            case .string(let text): .string(text)
            default: .string(RecordKey([part]).description)
            }
        }
        return parts.count == 1 ? parts[0] : .array(parts)
    }
}

extension WriteMessageBuilder {
    /// Returns an operation as a bridge gets it.
    ///
    /// - Parameter declared: the declared request of the operation.
    /// - Throws: `StoreError`.
    func change(for operation: OutboxOperation, _ declared: WriteMessage) throws -> RemoteChange {
        var record = Record(entity: operation.entity, key: operation.key, fields: [])
        if let entity = access.catalog.entity(operation.entity) {
            record = local(operation, try serverRecord(of: operation, entity).record)
        }
        return RemoteChange(
            operation: operation, record: record,
            member: try operation.members.first.flatMap { try member($0, operation) },
            body: declared.body ?? .object([]), message: declared.message, records: declared.records)
    }
}
