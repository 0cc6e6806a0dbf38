// The HTTP request of an operation: its URL, its body and its header fields.

import TarnHTTP
import TarnImport
import TarnStore

/// The HTTP request of an operation, without preconditions and credentials.
struct WriteMessage: Sendable {
    var message: TransportRequest
    /// The body before its encoding; nil without one.
    var body: JSONValue?
    /// The values of variables that the request declares for its body, such as a version.
    var forced: [JSONValue] = []
    /// The URL of the record, as the API names it; nil if the operation has none of its own.
    var recordURL: String?
    /// Whether the URL of the request has the names of changed fields, which the record's lacks.
    var isMasked = false
    /// Whether the request changes one field at a URL that is not the record's.
    var isOfField = false
    /// Whether the description declares where the record is read.
    var isReadDeclared = false
    /// The key path of the record in the answer.
    var records: JSONPath
    /// The name of the header field with the idempotency key.
    var idempotencyField: String?
    /// The reason why the body would replace values that are not known here; nil if it has
    /// everything that the server has.
    var isIncomplete: WriteError?
    /// The reason why the body may replace values of the server: optional fields have no value
    /// here, as if a response had left them out. Nil if the record cannot be read first.
    var lacking: WriteError?

    /// Whether the body is a mutation of GraphQL.
    var isMutation: Bool {
        guard case .string(let query)? = body?["query"] else { return false }
        return query.contains("mutation")
    }
}

/// Builds the requests of operations from a snapshot of the store.
struct WriteMessageBuilder {
    let client: APIClient
    let access: StoreAccess
    let plans: WritePlans

    private var description: Description { client.description }
    var catalog: Catalog { access.catalog }
    var bodies: BodyWriter { BodyWriter(description.mapping, catalog, plans: plans.bodies) }

    private func variables(_ record: Record, _ member: Record? = nil) -> RecordVariables {
        RecordVariables(access: access, record: record, member: member, bodies: bodies)
    }

    /// The requests of an operation's entity.
    func requests(of entity: String) -> WriteRequests? {
        catalog.entity(entity).flatMap { description.writes(of: $0, in: catalog) }
    }

    /// The requests for single fields of an entity, by the field's name.
    func fieldRequests(of entity: String) -> [String: FieldRequests] {
        plans.hasFieldRequests(in: description.writes) ? requests(of: entity)?.fields ?? [:] : [:]
    }

    /// The operations that an operation waits for because of the bodies and URLs of requests.
    func waits(of id: UInt64) throws -> [OutboxQueueEntry.Wait] {
        try description.waits(of: id, access, plans)
    }

    private func declaration(of operation: OutboxOperation) -> String {
        requests(of: operation.entity)?.declaration(of: operation) ?? operation.declaration
    }

    /// Builds the request of an operation.
    ///
    /// - Throws: `WriteError` with the location of the declaration.
    func message(for operation: OutboxOperation) throws -> WriteMessage {
        guard let entity = catalog.entity(operation.entity), let requests = requests(of: operation.entity),
            let declared = requests.request(for: operation)
        else { throw WriteError.noRequest(entity: operation.entity, operation: declaration(of: operation)) }
        var request = declared.request
        let base = declared.base
        do {
            if operation.mayHaveArrived { request = try repeated(request, of: operation, entity) }
            let known =
                try isKeyEnough(operation, requests, request, entity)
                ? ServerRecord(Record(entity: operation.entity, key: operation.key, fields: []).withKeyFields(entity))
                : serverRecord(of: operation, entity)
            let server = known.record
            let member = try operation.members.first.flatMap { try self.member($0, operation) }
            let urls = variables(named(operation, server, entity), member)
            try checkKeys(in: request.url, urls)
            let url = try expanded(request.url, urls, base, known)
            let content = try content(of: operation, request, server, member, entity, urls)
            let target = try masked(url, operation, request, entity)
            var message = client.request(target, headers: try headers(of: request, content.idempotencyKey, urls))
            message.method = request.method
            if let body = content.encoded {
                message.body = body
                // That of the API is the type of JSON, such as application/vnd.api+json.
                let known = request.format == .json ? message.headers["Content-Type"] : request.contentType
                message.headers["Content-Type"] = known ?? request.format.mediaType
            }
            if let name = requests.idempotency { message.headers[name] = content.idempotencyKey }
            var recordURL: String?
            switch operation.kind {
            case .update, .delete:
                let read = requests.readURL(after: request), isSame = read == request.url && requests.base == base
                if let read, !isSame { try checkKeys(in: read, urls) }
                recordURL = isSame ? url : try read.map { try expanded($0, urls, requests.base, known) }
            case .create, .add, .remove: break
            }
            return WriteMessage(
                message: message, body: content.body, forced: try forced(request, urls), recordURL: recordURL,
                isMasked: target != url, isOfField: request.field != nil && recordURL != url,
                isReadDeclared: requests.read != nil, records: request.records,
                idempotencyField: requests.idempotency,
                isIncomplete: try incomplete(operation, request, known, entity),
                lacking: requests.read == nil ? nil : try lacking(operation, request, known, entity))
        } catch let error where error is StoreError || StoreError.isOfLMDB(error) {
            throw error
        } catch WriteError.request(let place, let reason) {
            throw WriteError.request(place: place.isEmpty ? request.place : place, reason: reason)
        } catch let error as WriteError {
            throw error
        } catch {
            throw WriteError.request(place: request.place, reason: "\(error)")
        }
    }

    /// Returns the URL of an update with the names of the fields that it changes, if the request
    /// declares a mask: the server clears those that it names and the body lacks, and no others.
    private func masked(
        _ url: String, _ operation: OutboxOperation, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> String {
        guard let name = request.mask, operation.kind == .update else { return url }
        let changed = operation.changes.map(\.name), unsent = try unsent(changed, .update, request, entity).map(\.name)
        let record = Record(entity: operation.entity, key: operation.key, fields: [])
        var options = options(of: request, entity.name), places: [String] = []
        for field in changed where !unsent.contains(field) {
            options.fields = [field]
            guard let place = try bodies.places(of: record, options).first?.joined(separator: ".") else {
                throw WriteError.request(
                    place: "",
                    reason: "\(name) has no name for the members in \(field), which no field has by itself: leave it "
                        + "out with fields, or declare attributes for them")
            }
            // Several fields may have places in one list.
            if !places.contains(place) { places.append(place) }
        }
        return QueryParameters.append([(name, places.joined(separator: ","))], to: url)
    }

    /// Checks that the server's values of the fields in the URL of an operation are known.
    ///
    /// - Throws: `WriteError.request`.
    func checkURL(_ request: WriteRequest, _ name: String, _ key: RecordKey) throws {
        guard let entity = catalog.entity(name) else { return }
        let keys = entity.key.compactMap { entity.field(id: $0)?.name }
        let heads = try plans.template(request.url).variables.map { String($0.prefix { $0 != "." }) }
            .filter { !keys.contains($0) }
        guard !heads.isEmpty else { return }
        let mark = try key.storageKey.withUnsafeBytes { try access.localChanges.mark(entity.root, $0) }
        guard mark?.operation == .update, let known = try access.serverRecord(entity, key),
            let unknown = heads.first(where: { known.unknown.contains($0) })
        else { return }
        throw WriteError.request(place: request.place, reason: WriteMessageBuilder.unknown(unknown))
    }

    /// The URL of a stored record as the API names it; nil if a variable has no value yet.
    func recordURL(ofDeletion name: String, _ key: RecordKey) throws -> String? {
        guard let entity = catalog.entity(name), let requests = requests(of: name), let request = requests.delete,
            let known = try access.serverRecord(entity, key)
        else { return nil }
        let read = requests.read ?? requests.update?.url ?? request.url
        let variables = variables(known.record)
        do {
            return try expanded(read, variables, requests.base, known)
        } catch let error where error is PathTemplateError || error is BodyError { return nil }
    }

    /// The record whose fields the URL of an operation names.
    private func named(_ operation: OutboxOperation, _ server: Record, _ entity: Catalog.Entity) -> Record {
        guard operation.kind == .create else { return server }
        var record = local(operation, server)
        guard operation.hasTemporaryKey else { return record }
        // The server assigns the key.
        for name in entity.temporaryFields(of: operation.key) { record.set(name, nil) }
        return record
    }

    private static func unknown(_ field: String) -> String {
        "the server's value of \(field) is not known: it was changed here without being queued; fetch the record, "
            + "or queue the change"
    }

    /// The records that the URL of an operation refers to.
    func related(_ kind: OutboxOperation.Kind, _ relationship: String?, of record: Record) throws -> [OutboxRecord] {
        guard let requests = requests(of: record.entity),
            let (request, _) = requests.request(for: kind, relationship: relationship)
        else { return [] }
        return try related(request, of: record)
    }

    /// The records that the URL of a request for a record refers to.
    func related(_ request: WriteRequest, of record: Record) throws -> [OutboxRecord] {
        let variables = variables(record)
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
        guard operation.kind == .update, request.content(for: .update) == .changed, request.format != .mergePatch,
            request.values.isEmpty, request.headerVariables.isEmpty, !request.hasPlacesInLists
        else { return false }
        let keys = entity.key.compactMap { entity.field(id: $0)?.name }
        let read = requests.read ?? requests.update?.url ?? request.url
        return try [request.url, read].allSatisfy { url in
            try plans.template(url).variables.allSatisfy { keys.contains($0) }
        }
    }

    /// Checks that no variable of a URL has a temporary key: the server knows none.
    ///
    /// - Throws: `WriteError.request`.
    private func checkKeys(in template: String, _ variables: RecordVariables) throws {
        for name in try plans.template(template).variables {
            guard let value = try variables.value(of: name), value.hasTemporaryKey else { continue }
            throw WriteMessageBuilder.temporaryKey("{\(name)}")
        }
    }

    /// Checks that a body has no temporary key, neither in references nor as the record's own.
    ///
    /// - Throws: `WriteError.request`.
    func checkKeys(of record: Record, _ fields: Set<String>?, omitting omitted: Set<String>) throws {
        guard let entity = catalog.entity(record.entity) else { return }
        for field in record.fields where (fields?.contains(field.name) ?? true) && !omitted.contains(field.name) {
            guard field.value.hasTemporaryKey, let known = entity.field(field.name) else { continue }
            if case .reference = known.kind { throw WriteMessageBuilder.temporaryKey(field.name) }
            if entity.key.contains(known.id) { throw WriteMessageBuilder.temporaryKey(field.name) }
        }
    }

    static func temporaryKey(_ name: String) -> WriteError {
        .request(
            place: "",
            reason: "\(name) has a temporary key, which is never sent: the record was not created at the server; "
                + "discard the operation")
    }

    static func unknownKey(_ name: String) -> WriteError {
        .request(
            place: "",
            reason: "the body needs \(name), which refers to a missing record whose key is too long to be known; "
                + "fetch that record")
    }

    private func expanded(
        _ template: String, _ variables: RecordVariables, _ base: String?, _ known: ServerRecord
    ) throws -> String {
        let path = try plans.template(template)
        var values: [String: String] = [:]
        for name in path.variables {
            values[name] = try variables.urlText(of: name)
            let head = String(name.prefix { $0 != "." })
            if values[name] == nil, known.unknown.contains(head) {
                throw WriteError.request(place: "", reason: WriteMessageBuilder.unknown(head))
            }
        }
        let text = try path.expanded(values)
        return text.hasPrefix("/") ? (base ?? client.api.base) + text : text
    }

    // MARK: Records

    /// The record as the server has it: without the changes that have not reached it.
    func serverRecord(of operation: OutboxOperation, _ entity: Catalog.Entity) throws -> ServerRecord {
        let empty = ServerRecord(
            Record(entity: operation.entity, key: operation.key, fields: []).withKeyFields(entity))
        guard operation.kind != .create else { return empty }
        guard let deleted = operation.deleted else {
            return try access.serverRecord(entity, operation.key) ?? empty
        }
        var found = try access.outbox.serverRecord(ofDeletion: operation.id) ?? ServerRecord(deleted)
        found.record = found.record.withKeyFields(entity)
        return found
    }

    /// The record with the values of an operation.
    func local(_ operation: OutboxOperation, _ server: Record) -> Record {
        var record = server
        for change in operation.changes { record.set(change.name, change.after) }
        return record
    }

    func member(_ key: RecordKey, _ operation: OutboxOperation) throws -> Record? {
        guard let entity = operation.memberEntity.flatMap({ catalog.entity($0) }) else { return nil }
        return try access.serverRecord(entity, key)?.record
            ?? Record(entity: entity.name, key: key, fields: []).withKeyFields(entity)
    }

    // MARK: Fields that are not sent

    /// The fields of a stored entity that the description does not declare.
    func undeclared(of entity: String) -> Set<String> { plans.undeclared(of: entity, catalog, description) }

    private static let ownRequest = "it has a request of its own now: queue the change again, by itself"

    /// Returns the fields among the given ones whose changes a request does not send.
    func unsent(
        _ names: [String], _ kind: OutboxOperation.Kind, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> [UnsentField] {
        let apart = kind == .update && request.field == nil ? fieldRequests(of: entity.name) : [:]
        guard !apart.isEmpty, request.content(for: kind) != .none else {
            return try leftOut(names, kind, request, entity)
        }
        return try names.filter { apart[$0] != nil }
            .map { UnsentField(name: $0, reason: WriteMessageBuilder.ownRequest, isApart: true) }
            + leftOut(names.filter { apart[$0] == nil }, kind, request, entity)
    }

    /// Returns the fields among the given ones that the body of a request does not have.
    ///
    /// A body with the whole record also has fields whose changes it does not send.
    func leftOut(
        _ names: [String], _ kind: OutboxOperation.Kind, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> [UnsentField] {
        guard request.content(for: kind) != .none, !names.isEmpty else { return [] }
        let reasons = try unsendable(names, request, entity)
        var inRequest: Set<String> = []
        if kind == .create {
            let variables = try plans.template(request.url).variables + request.variables
            inRequest = Set(variables.map { String($0.prefix { $0 != "." }) })
        }
        return names.compactMap { name in
            guard let field = entity.field(name), !entity.key.contains(field.id), !inRequest.contains(name) else {
                return nil
            }
            if let fields = request.fields, !fields.contains(name) { return UnsentField(name: name) }
            return reasons[name].map { UnsentField(name: name, reason: $0) }
        }
    }

    /// The fields among the given ones that have no place in a request's body, with the reasons.
    private func unsendable(
        _ names: [String], _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> [String: String] {
        try bodies.unsendable(among: names, of: entity, options(of: request, entity.name))
    }

    /// The fields of a creation that the body of its request has.
    func sentFields(
        of creation: OutboxOperation, _ request: WriteRequest, _ entity: Catalog.Entity
    ) throws -> [String] {
        let names = creation.changes.map(\.name), reasons = try unsendable(names, request, entity)
        return names.filter { (request.fields?.contains($0) ?? true) && reasons[$0] == nil }
    }

    /// The request of an operation of which an earlier attempt may have arrived.
    private func repeated(
        _ request: WriteRequest, of operation: OutboxOperation, _ entity: Catalog.Entity
    ) throws -> WriteRequest {
        var request = request.repeating(operation)
        // A field may have lost its place since.
        if operation.kind == .create, operation.sentFields != nil {
            request.fields = Set(try sentFields(of: operation, request, entity))
        }
        return request
    }

    /// The reason why a body that replaces the whole record, or a list of it, lacks values of the
    /// server.
    private func incomplete(
        _ operation: OutboxOperation, _ request: WriteRequest, _ known: ServerRecord, _ entity: Catalog.Entity
    ) throws -> WriteError? {
        guard let (fields, replaced) = try replaced(by: operation, request, entity) else { return nil }
        let content = request.content(for: .update), changed = Set(operation.changes.map(\.name))
        let unsent = try leftOut(known.unknown.sorted(), .update, request, entity).map(\.name)
        let unknown = known.unknown.subtracting(changed).subtracting(unsent).sorted()
        let wayOut = "fetch the record, or declare entities.\(entity.name).write.read"
        if let first = unknown.first(where: { content == .all || fields?.contains($0) ?? true }) {
            return .request(
                place: request.place,
                reason: "\(request.method) replaces \(replaced), and the server's value of \(first) is not known: "
                    + "it was changed here without being queued; \(wayOut)")
        }
        guard known.record.isPartial else { return nil }
        let missing = fields?.filter { !changed.contains($0) && known.record[$0] == nil }.sorted()
        if let missing, missing.isEmpty { return nil }
        let lacking = missing.map { " (\($0.joined(separator: ", ")))" } ?? ""
        return .request(
            place: request.place,
            reason: "\(request.method) replaces \(replaced), and only a part of it is known\(lacking); \(wayOut)")
    }
}

extension Description {
    fileprivate func sendsWhole(_ name: String, _ catalog: Catalog) -> Bool {
        catalog.entity(name).flatMap { writes(of: $0, in: catalog)?.update }.map { $0.content(for: .update) == .all }
            ?? false
    }

    /// The operations that a queued one waits for because of the bodies and URLs of requests.
    package func requestWaits(of id: UInt64, _ reader: StoreReader) throws -> [OutboxQueueEntry.Wait] {
        try waits(of: id, reader.access, WritePlans())
    }

    fileprivate func waits(
        of id: UInt64, _ access: StoreAccess, _ plans: WritePlans
    ) throws -> [OutboxQueueEntry.Wait] {
        let fields = plans.fieldsInURLs(of: writes)
        return try access.outbox.waitsForWholeRecords(of: id) { sendsWhole($0, access.catalog) }
            + (fields.isEmpty ? [] : access.outbox.waitsForURLs(of: id) { fields.contains($0) })
    }
}

extension OutboxOperation {
    /// The key of the description that declares the operation's request.
    var declaration: String {
        guard let relationship else { return kind.rawValue }
        return "relationships.\(relationship).\(kind.rawValue)"
    }
}

extension WriteRequest {
    /// The request of a creation of which an earlier attempt may have arrived: it has the fields
    /// that this one has sent, whatever the description lists now.
    ///
    /// A server may refuse a known idempotency key with another body, and have the record.
    func repeating(_ operation: OutboxOperation) -> WriteRequest {
        guard operation.kind == .create, content(for: .create) != .none, let sent = operation.sentFields else {
            return self
        }
        var request = self
        request.fields = Set(sent)
        return request
    }

    /// The idempotency key of an operation's request.
    ///
    /// The body of an update may have values of the server or of the record, which change between
    /// attempts: another body has another key. A server may refuse a known key with another body.
    func idempotencyKey(of operation: OutboxOperation, _ body: [UInt8]?) -> String {
        let key = operation.idempotencyKey.lowercasedText
        guard operation.kind == .update, content(for: .update) == .all || !values.isEmpty || hasPlacesInLists, let body
        else { return key }
        return WriteRequest.key(derivedFrom: key, String(decoding: body, as: UTF8.self))
    }

    /// A key that follows from another one and a text: a UUID of version 8 (RFC 9562 §5.8).
    static func key(derivedFrom key: String, _ text: String) -> String {
        let digits = Array(SHA256.hexadecimal(key + "\n" + text).utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        return "\(part(0..<8))-\(part(8..<12))-8\(part(13..<16))-8\(part(17..<20))-\(part(20..<32))"
    }
}
