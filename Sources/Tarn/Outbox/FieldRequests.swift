// The requests for a change of one field, such as `POST /issues/1/transitions`.

import TarnStore

/// The requests that send the change of one field by itself.
package struct FieldRequests: Sendable, Hashable {
    /// The requests for single values, by their text: `true`, `closed`, or `null` for no value.
    package var values: [String: WriteRequest] = [:]
    /// The request for other values; nil if there is none.
    package var otherwise: WriteRequest?

    package init() {}

    /// All requests.
    package var all: [WriteRequest] { values.values + (otherwise.map { [$0] } ?? []) }

    /// The request for a value; nil if it is not declared.
    func request(for value: Value) -> WriteRequest? {
        let text = FieldRequests.text(of: value)
        // A text may be the word for no value.
        let isText = value != .null && text == "null"
        return (isText ? nil : values[text]) ?? otherwise
    }

    fileprivate static func text(of value: Value) -> String { value == .null ? "null" : value.plainText }
}

extension WriteRequests {
    /// The requests of the field that an update changes; nil if it has none, or if the update
    /// changes several fields.
    func fieldRequests(of operation: OutboxOperation) -> FieldRequests? {
        guard operation.kind == .update, operation.changes.count == 1 else { return nil }
        return operation.changes.first.flatMap { fields[$0.name] }
    }

    /// The request of an operation, and its base URL; nil if it is not declared.
    ///
    /// If its only field has requests of its own, it is that for the value.
    func request(for operation: OutboxOperation) -> (request: WriteRequest, base: String?)? {
        guard let own = fieldRequests(of: operation), let change = operation.changes.first else {
            return request(for: operation.kind, relationship: operation.relationship)
        }
        return own.request(for: change.after).map { ($0, base) }
    }

    /// The URL at which the record of an update or a deletion is read; nil if it is not known: that
    /// of a request for one field is another one.
    func readURL(after request: WriteRequest) -> String? {
        read ?? update?.url ?? (request.field == nil ? request.url : nil)
    }

    /// The key of the description that declares an operation's request.
    func declaration(of operation: OutboxOperation) -> String {
        guard fieldRequests(of: operation) != nil, let change = operation.changes.first else {
            return operation.declaration
        }
        return WriteRequests.declaration(ofField: change.name, change.after)
    }

    /// The key of the description that declares the request for a value of a field.
    static func declaration(ofField name: String, _ value: Value) -> String {
        "fields.\(name).values.\(FieldRequests.text(of: value))"
    }
}
