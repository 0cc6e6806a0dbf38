// The body and the header fields of an operation's request.

import TarnHTTP
import TarnImport
import TarnStore

extension WriteMessageBuilder {
    /// The body of a request.
    struct Content {
        /// The body before its encoding; nil without one.
        var body: JSONValue?
        /// The bytes that are sent.
        var encoded: [UInt8]?
        /// The idempotency key of the request.
        var idempotencyKey: String
    }

    /// The fields of a record in a body.
    private struct SentFields {
        /// The fields as an object.
        var json: JSONValue
        /// The places of the fields in it; only of a JSON patch, which needs them.
        var places: [[String]]
    }

    /// The text that a body or a header field has in place of the idempotency key.
    static let idempotencyVariable = "{@idempotency_key}"

    /// Returns the body of an operation's request.
    ///
    /// - Parameter variables: the values of the URL.
    func content(
        of operation: OutboxOperation, _ request: WriteRequest, _ server: Record, _ member: Record?,
        _ entity: Catalog.Entity, _ variables: RecordVariables
    ) throws -> Content {
        let fields = try fields(of: operation, request, server, member, entity)
        let key = operation.idempotencyKey.lowercasedText
        let places = fields?.places ?? []
        var body = try body(fields?.json, request, variables, key)
        var encoded = try body.map { try self.encoded($0, request, places) }
        let derived = request.idempotencyKey(of: operation, encoded)
        // A key that follows from the body follows from one with the operation's own key.
        if key != derived, request.hasIdempotencyKey {
            body = try self.body(fields?.json, request, variables, derived)
            encoded = try body.map { try self.encoded($0, request, places) }
        }
        return Content(body: body, encoded: encoded, idempotencyKey: derived)
    }

    /// Returns the body of a request, before its encoding; nil if it has none.
    private func body(
        _ fields: JSONValue?, _ request: WriteRequest, _ variables: RecordVariables, _ idempotencyKey: String
    ) throws -> JSONValue? {
        guard fields != nil || !request.values.isEmpty else { return nil }
        var body = fields?.wrapped(in: request.envelope) ?? .object([])
        for value in request.values {
            body.force(try filled(value.value, variables, idempotencyKey), at: value.place.steps[...])
        }
        return body
    }

    /// The forced values of a body that are variables of the record, such as its version.
    func forced(_ request: WriteRequest, _ variables: RecordVariables) throws -> [JSONValue] {
        try request.values.filter { !$0.value.placeholders.isEmpty }.map { try filled($0.value, variables, "") }
    }

    /// Returns the header fields of a request, with the values of variables.
    func headers(
        of request: WriteRequest, _ idempotencyKey: String, _ variables: RecordVariables
    ) throws -> [TransportHeaders.Field] {
        try request.headers.map { field in
            if field.value == WriteMessageBuilder.idempotencyVariable {
                return TransportHeaders.Field(field.name, idempotencyKey)
            }
            guard let template = WriteRequest.template(ofHeader: field.value) else { return field }
            let text = try template.parts.map { part in
                switch part {
                case .literal(let text): text
                case .path(let path): try self.text(of: path.description, inHeader: field.name, variables)
                }
            }.joined()
            return TransportHeaders.Field(field.name, text)
        }
    }

    /// Returns the value of a variable as a part of a header field.
    private func text(
        of variable: String, inHeader field: String, _ variables: RecordVariables
    ) throws -> String {
        guard let value = try variables.value(of: variable), let text = try variables.urlText(of: variable) else {
            throw WriteError.request(
                place: "", reason: "the header field \(field) needs {\(variable)}, which has no value")
        }
        if value.hasTemporaryKey { throw WriteMessageBuilder.temporaryKey("{\(variable)}") }
        // RFC 9110 §5.5: a CR or LF would begin another field.
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw WriteError.request(
                place: "",
                reason:
                    "the header field \(field) cannot have the value of {\(variable)}: it has control characters")
        }
        return text
    }

    /// Returns the fields of a record that a request sends; nil if it sends none.
    private func fields(
        of operation: OutboxOperation, _ request: WriteRequest, _ server: Record, _ member: Record?,
        _ entity: Catalog.Entity
    ) throws -> SentFields? {
        let content = request.content(for: operation.kind)
        var fields: SentFields?
        switch (content, operation.kind) {
        case (.none, _): break
        case (_, .add), (_, .remove):
            if let member { fields = try json(of: member, request, fields: request.fields) }
        case (.changed, _):
            fields = try changed(operation, request, server, changedFields(operation, request, entity))
        case (.all, _):
            let omitted = operation.hasTemporaryKey ? entity.temporaryFields(of: operation.key) : []
            fields = try json(of: local(operation, server), request, fields: request.fields, omitting: omitted)
        }
        if operation.kind == .update, content != .none {
            let names = operation.changes.map(\.name), left = try unsent(names, .update, request, entity)
            if let first = left.first, left.count == names.count { throw first.error(entity.name, request) }
        }
        return fields
    }

    /// The fields that an update of the changed fields sends: these, and those in the same lists.
    func changedFields(
        _ operation: OutboxOperation, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> Set<String> {
        let names = Set(operation.changes.map(\.name)), sent = names.intersection(request.fields ?? names)
        let beside = try bodies.fieldsBeside(sent, of: entity, options(of: request, entity.name))
        return sent.union(beside.intersection(request.fields ?? beside))
    }

    private func changed(
        _ operation: OutboxOperation, _ request: WriteRequest, _ server: Record, _ fields: Set<String>
    ) throws -> SentFields {
        var after = try json(of: local(operation, server), request, fields: fields)
        guard request.format == .mergePatch else { return after }
        let before = try json(of: server, request, fields: fields)
        after.json = JSONValue.mergePatch(from: before.json, to: after.json) ?? .object([])
        return after
    }

    private func json(
        of record: Record, _ request: WriteRequest, fields: Set<String>?, omitting omitted: Set<String> = []
    ) throws -> SentFields {
        try checkKeys(of: record, fields, omitting: omitted)
        var options = options(of: request, record.entity)
        // A field without a value is not known, or the server has none: null would be a change.
        options.fields = fields?.filter { record[$0] != nil }
        options.omitted = omitted
        let body = try bodies.body(of: record, options) { entity, key in
            try catalog.entity(entity).flatMap { try access.storedRecord($0, key) }
        } server: { entity, key in
            try catalog.entity(entity).flatMap { try access.serverRecord($0, key)?.record }
        }
        return SentFields(
            json: body, places: request.format == .jsonPatch ? try bodies.places(of: record, options) : [])
    }

    /// The places and forms of an entity's fields in the body of a request.
    func options(of request: WriteRequest, _ entity: String) -> BodyOptions {
        var options = BodyOptions()
        options.undeclared = undeclared(of: entity)
        options.places = request.places
        options.references = request.references
        options.referenceForms = request.referenceForms
        options.referenceTemplates = request.referenceTemplates
        return options
    }

    /// Encodes a body in the format of its request.
    ///
    /// - Parameter places: the places of the fields that it has. Those of others may be around
    ///   them: a patch that sets such a place would replace what the body does not have.
    private func encoded(_ body: JSONValue, _ request: WriteRequest, _ places: [[String]]) throws -> [UInt8] {
        switch request.format {
        case .json, .mergePatch: return Array(body.text.utf8)
        case .form: return Array(TransportBody.form(body.formFields).text.utf8)
        case .jsonPatch:
            let set = places.map { request.envelope.keys + $0 } + request.values.map(\.place.keys)
            do throws(JSONPatchError) {
                return Array(try JSONValue.patch(setting: set, of: body).text.utf8)
            } catch {
                throw WriteError.request(place: "", reason: "\(error)")
            }
        }
    }

    /// Replaces texts that are `{variable}` by the variable's value.
    private func filled(_ value: JSONValue, _ variables: RecordVariables, _ idempotencyKey: String) throws -> JSONValue
    {
        switch value {
        case .string(WriteMessageBuilder.idempotencyVariable): return .string(idempotencyKey)
        case .string(let text):
            guard let name = TransportBody.placeholder(text) else { return value }
            guard let found = try variables.value(of: name) else {
                throw WriteError.request(place: "", reason: "the body needs {\(name)}, which has no value")
            }
            if found.hasTemporaryKey { throw WriteMessageBuilder.temporaryKey("{\(name)}") }
            if found.hasUnknownKey { throw WriteMessageBuilder.unknownKey("{\(name)}") }
            if case .reference(let key) = found { return .string(key.description) }
            return try variables.json(of: name) ?? (try? JSONValue(found.jsonText)) ?? .string(found.urlText ?? "")
        case .array(let values): return .array(try values.map { try filled($0, variables, idempotencyKey) })
        case .object(let members):
            return .object(
                try members.map { JSONValue.Member($0.key, try filled($0.value, variables, idempotencyKey)) })
        case .null, .bool, .number: return value
        }
    }
}

extension WriteRequest {
    /// The variables of forced values and header fields.
    var variables: [String] { bodyVariables + headerVariables }
    /// The variables of forced values.
    package var bodyVariables: [String] { values.flatMap { $0.value.placeholders } }
    /// The variables of header fields.
    package var headerVariables: [String] {
        headers.flatMap { WriteRequest.template(ofHeader: $0.value)?.paths.map(\.description) ?? [] }
    }

    /// Returns the value of a header field as a template; nil if it has no variable.
    ///
    /// Braces around something else than the name of a field are a part of the value.
    static func template(ofHeader value: String) -> TextTemplate? {
        guard let template = TextTemplate(value) else { return nil }
        let areNames = template.paths.allSatisfy { TransportBody.placeholder("{\($0.description)}") != nil }
        return areNames ? template : nil
    }

    /// Whether the body has the idempotency key.
    fileprivate var hasIdempotencyKey: Bool {
        values.contains { $0.value.contains(.string(WriteMessageBuilder.idempotencyVariable)) }
    }
}

extension WriteRequest.Format {
    /// The media type of a body.
    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .mergePatch: "application/merge-patch+json"
        case .jsonPatch: "application/json-patch+json"
        case .form: "application/x-www-form-urlencoded"
        }
    }
}

extension JSONValue {
    /// The value inside of objects with one key each, and of lists with one element.
    fileprivate func wrapped(in envelope: JSONPath) -> JSONValue {
        var wrapped = JSONValue.object([])
        wrapped.force(self, at: envelope.steps[...])
        return wrapped
    }

    /// Whether a value is this one, or inside of it.
    fileprivate func contains(_ value: JSONValue) -> Bool {
        switch self {
        case value: true
        case .array(let values): values.contains { $0.contains(value) }
        case .object(let members): members.contains { $0.value.contains(value) }
        default: false
        }
    }

    /// The variables of texts that are `{variable}`.
    fileprivate var placeholders: [String] {
        switch self {
        case .string(let text): TransportBody.placeholder(text).map { [String($0)] } ?? []
        case .array(let values): values.flatMap(\.placeholders)
        case .object(let members): members.flatMap(\.value.placeholders)
        case .null, .bool, .number: []
        }
    }
}
