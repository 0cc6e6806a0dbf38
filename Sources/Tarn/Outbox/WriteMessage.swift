// The HTTP request of an operation: its URL, its body and its header fields.

import TarnHTTP
import TarnImport
import TarnStore

/// The HTTP request of an operation, without preconditions and credentials.
struct WriteMessage: Sendable {
    var message: TransportRequest
    /// The URL of the record, as the API names it; nil if the operation has none of its own.
    var recordURL: String?
    /// Whether the description declares where the record is read.
    var isReadDeclared = false
    /// The key path of the record in the answer.
    var records: JSONPath
    /// The name of the header field with the idempotency key.
    var idempotencyField: String?
}

/// Builds the requests of operations from a snapshot of the store.
struct WriteMessageBuilder {
    let client: APIClient
    let access: StoreAccess
    let plans: WritePlans

    private var description: Description { client.description }
    private var catalog: Catalog { access.catalog }

    /// The requests of an operation's entity.
    func requests(of entity: String) -> WriteRequests? {
        catalog.entity(entity).flatMap { description.writes(of: $0, in: catalog) }
    }

    /// Builds the request of an operation.
    ///
    /// - Throws: `WriteError` with the location of the declaration.
    func message(for operation: OutboxOperation) throws -> WriteMessage {
        guard let entity = catalog.entity(operation.entity), let requests = requests(of: operation.entity),
            let (request, base) = requests.request(for: operation.kind, relationship: operation.relationship)
        else { throw WriteError.noRequest(entity: operation.entity, operation: operation.declaration) }
        do {
            let server =
                try isKeyEnough(operation, requests, request, entity)
                ? Record(entity: operation.entity, key: operation.key, fields: []).withKeyFields(entity)
                : serverRecord(of: operation, entity)
            let member = try operation.members.first.flatMap { try self.member($0, operation) }
            let urls = RecordVariables(
                access: access, record: operation.kind == .create ? local(operation, server) : server, member: member)
            let url = try expanded(request.url, urls, base)
            var message = client.request(url, headers: request.headers)
            message.method = request.method
            if let body = try body(of: operation, request, server, member, entity, urls) {
                message.body = Array(body.text.utf8)
                if message.headers["Content-Type"] == nil {
                    message.headers["Content-Type"] =
                        request.format == .mergePatch ? "application/merge-patch+json" : "application/json"
                }
            }
            if let name = requests.idempotency {
                message.headers[name] = operation.idempotencyKey.lowercasedText
            }
            var recordURL: String?
            switch operation.kind {
            case .update, .delete:
                let read = requests.read ?? requests.update?.url ?? request.url
                let isSame = read == request.url && requests.base == base
                recordURL = isSame ? url : try expanded(read, urls, requests.base)
            case .create, .add, .remove: break
            }
            return WriteMessage(
                message: message, recordURL: recordURL, isReadDeclared: requests.read != nil, records: request.records,
                idempotencyField: requests.idempotency)
        } catch let error as StoreError {
            throw error
        } catch let error as WriteError {
            throw error
        } catch {
            throw WriteError.request(place: request.place, reason: "\(error)")
        }
    }

    /// The records that the URL of an operation refers to.
    func related(_ kind: OutboxOperation.Kind, _ relationship: String?, of record: Record) throws -> [OutboxRecord] {
        guard let requests = requests(of: record.entity),
            let (request, _) = requests.request(for: kind, relationship: relationship)
        else { return [] }
        let variables = RecordVariables(access: access, record: record, member: nil)
        var found: [OutboxRecord] = []
        for name in try plans.template(request.url).variables {
            for other in try variables.path(of: name) where !found.contains(other) { found.append(other) }
        }
        return found
    }

    /// Whether the URL of an operation on a stored record can lead to other records.
    func leadsToRecords(_ url: String) throws -> Bool {
        try plans.template(url).variables.contains { $0.utf8.contains(UInt8(ascii: ".")) }
    }

    /// Whether a request needs nothing of the stored record but its key: an update that sends the
    /// changed fields, with the key in its URLs.
    private func isKeyEnough(
        _ operation: OutboxOperation, _ requests: WriteRequests, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> Bool {
        guard operation.kind == .update, request.content(for: .update) == .changed, request.format == .json,
            request.values.isEmpty
        else { return false }
        let keys = entity.key.compactMap { entity.field(id: $0)?.name }
        let read = requests.read ?? requests.update?.url ?? request.url
        return try [request.url, read].allSatisfy { url in
            try plans.template(url).variables.allSatisfy { keys.contains($0) }
        }
    }

    private func expanded(_ template: String, _ variables: RecordVariables, _ base: String?) throws -> String {
        let path = try plans.template(template)
        var values: [String: String] = [:]
        for name in path.variables { values[name] = try variables.value(of: name)?.urlText }
        let text = try path.expanded(values)
        return text.hasPrefix("/") ? (base ?? client.api.base) + text : text
    }

    // MARK: Records

    /// The record as the server has it: without the changes that have not reached it.
    func serverRecord(of operation: OutboxOperation, _ entity: Catalog.Entity) throws -> Record {
        if let deleted = operation.deleted { return deleted.withKeyFields(entity) }
        let empty = Record(entity: operation.entity, key: operation.key, fields: []).withKeyFields(entity)
        guard operation.kind != .create else { return empty }
        return try access.serverRecord(entity, operation.key) ?? empty
    }

    /// The record with the values of an operation.
    func local(_ operation: OutboxOperation, _ server: Record) -> Record {
        var record = server
        for change in operation.changes { record.set(change.name, change.after) }
        return record
    }

    func member(_ key: RecordKey, _ operation: OutboxOperation) throws -> Record? {
        guard let entity = operation.memberEntity.flatMap({ catalog.entity($0) }) else { return nil }
        return try access.serverRecord(entity, key)
            ?? Record(entity: entity.name, key: key, fields: []).withKeyFields(entity)
    }

    // MARK: Body

    private func body(
        of operation: OutboxOperation, _ request: WriteRequest, _ server: Record, _ member: Record?,
        _ entity: Catalog.Entity, _ variables: RecordVariables
    ) throws -> JSONValue? {
        let content = request.content(for: operation.kind)
        var body: JSONValue?
        switch (content, operation.kind) {
        case (.none, _): break
        case (_, .add), (_, .remove):
            if let member { body = try json(of: member, request, fields: request.fields) }
        case (.changed, _):
            let names = Set(operation.changes.map(\.name))
            let fields = names.intersection(request.fields ?? names)
            body = try changed(operation, request, server, fields)
        case (.all, _):
            let omitted = operation.hasTemporaryKey ? entity.temporaryFields(of: operation.key) : []
            body = try json(of: local(operation, server), request, fields: request.fields, omitting: omitted)
        }
        guard body != nil || !request.values.isEmpty else { return nil }
        var result = body ?? .object([])
        for value in request.values { result.force(try filled(value.value, variables), at: value.place.keys) }
        return result
    }

    private func changed(
        _ operation: OutboxOperation, _ request: WriteRequest, _ server: Record, _ fields: Set<String>
    ) throws -> JSONValue {
        let after = try json(of: local(operation, server), request, fields: fields)
        guard request.format == .mergePatch else { return after }
        let before = try json(of: server, request, fields: fields)
        return JSONValue.mergePatch(from: before, to: after) ?? .object([])
    }

    private func json(
        of record: Record, _ request: WriteRequest, fields: Set<String>?, omitting omitted: Set<String> = []
    ) throws -> JSONValue {
        var options = BodyOptions()
        options.fields = fields
        options.omitted = omitted
        options.places = request.places
        options.references = request.references
        options.referenceForms = request.referenceForms
        let writer = BodyWriter(description.mapping, catalog, plans: plans.bodies)
        return try writer.body(of: record, options) { entity, key in
            try catalog.entity(entity).flatMap { try access.storedRecord($0, key) }
        }.json
    }

    /// Replaces texts that are `{variable}` by the variable's value.
    private func filled(_ value: JSONValue, _ variables: RecordVariables) throws -> JSONValue {
        switch value {
        case .string(let text):
            guard let name = TransportBody.placeholder(text) else { return value }
            guard let found = try variables.value(of: name) else {
                throw WriteError.request(place: "", reason: "the body needs {\(name)}, which has no value")
            }
            if case .reference(let key) = found { return .string(key.description) }
            return (try? JSONValue(found.jsonText)) ?? .string(found.urlText ?? "")
        case .array(let values): return .array(try values.map { try filled($0, variables) })
        case .object(let members):
            return .object(try members.map { JSONValue.Member($0.key, try filled($0.value, variables)) })
        case .null, .bool, .number: return value
        }
    }
}

extension OutboxOperation {
    /// The key of the description that declares the operation's request.
    var declaration: String {
        guard let relationship else { return kind.rawValue }
        return "relationships.\(relationship).\(kind.rawValue)"
    }
}
