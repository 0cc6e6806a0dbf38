public import TarnHTTP
import TarnImport
import TarnStore

/// The bridge of GraphQL over HTTP: documents with variables, and connections with cursors.
///
/// Errors beside data are reported with their paths, and the data is imported, but null clears
/// nothing: it may be a value that the server could not read. Errors refuse the operation if all
/// places of its records are null, such as the payload of a mutation. A mutation is refused without
/// errors, too, if all of its places are null, and by any error if it names no place.
///
/// ```swift
/// let bridge = GraphQLBridge(entities: ["PullRequest": "Pull"])
/// let result = try await forge.fetch(request, through: bridge)
/// let issues = try forge.records(Issue.self, of: result)
/// ```
public struct GraphQLBridge: Bridge {
    public typealias Request = GraphQLRequest
    /// The request of an operation, with the variables that were sent; `userInfo` is the caller's.
    public typealias Info = GraphQLRequest

    private let path: String
    private let entities: [String: String]
    private let mutations: @Sendable (RemoteChange) throws -> GraphQLRequest

    /// Creates a bridge.
    ///
    /// - Parameters:
    ///   - path: the URL of the API's GraphQL endpoint, or its path below the base URL.
    ///   - entities: the entities of types whose names differ, by `__typename`.
    ///   - mutations: returns the mutation of a change, with the place of the record in its data;
    ///     ``RemoteChange/body`` is the input. By default, changes are refused.
    public init(
        path: String = "/graphql", entities: [String: String] = [:],
        mutations: @escaping @Sendable (RemoteChange) throws -> GraphQLRequest = { change in
            throw RemoteError("no mutation is declared for a \(change.operation.kind) of \(change.operation.entity)")
        }
    ) {
        self.path = path
        self.entities = entities
        self.mutations = mutations
    }

    public func operations(for request: GraphQLRequest) throws -> [RemoteOperation<GraphQLRequest>] {
        try request.check()
        return [operation(request)]
    }

    public func operations(for change: RemoteChange) throws -> [RemoteOperation<GraphQLRequest>] {
        var request = try mutations(change)
        request.isChange = true
        return try operations(for: request)
    }

    private func operation(_ request: GraphQLRequest) -> RemoteOperation<GraphQLRequest> {
        let variables = request.variables.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value) }
        var operation = RemoteOperation(
            "POST", path,
            json: .object([.init("query", .string(request.document)), .init("variables", .object(variables))]),
            info: request)
        operation.headers["Accept"] = "application/graphql-response+json, application/json"
        return operation
    }

    // MARK: Answers

    public func answer(
        _ response: TransportResponse, to operation: RemoteOperation<GraphQLRequest>
    ) throws -> RemoteAnswer<GraphQLRequest> {
        let request = operation.info, document = try document(of: response, to: operation)
        let errors = GraphQLBridge.errors(
            of: response.shownBody == response.body
                ? document : try? JSONValue(String(decoding: response.shownBody, as: UTF8.self)))
        guard let data = document?["data"], response.isGraphQL, data.isUsable(for: request, despite: errors) else {
            if !errors.isEmpty { throw RemoteError(joining: errors) }
            guard (200..<300).contains(response.status) else { throw refusal(response, operation) }
            let reason = document?["data"].flatMap { request.isChange ? $0.refusal(of: request) : nil }
            throw RemoteError(
                reason ?? "\(operation.method) \(Redaction.url(operation.url)): the response (\(response.status)) has "
                    + "neither data nor errors")
        }
        var answer = RemoteAnswer<GraphQLRequest>(errors: errors), following: [String: JSONValue] = [:]
        var listed = request.listedBefore
        if listed.isEmpty { listed = request.records.map { _ in nil } }
        for (index, place) in request.records.enumerated() {
            let before = listed[index], isFirstPage = request.listedBefore.isEmpty
            // A place of one page is on every page of the others.
            guard isFirstPage || place.cursor != nil else { continue }
            guard
                let value = try GraphQLBridge.value(at: place, of: request, in: data, errors, isFollowed: before != nil)
            else {
                continue
            }
            let elements = try GraphQLBridge.elements(
                value, place, isStrict: errors.isEmpty && !request.isChange)
            answer.parts += try parts(of: elements, place, from: before ?? 0)
            listed[index] = (before ?? 0) + elements.count
            guard let cursor = place.cursor, let next = try GraphQLBridge.cursor(value, place, errors) else { continue }
            following[cursor] = next
        }
        for (name, path) in request.metadata { answer.metadata[name] = data[path] }
        if !following.isEmpty {
            var next = request.following(following, data)
            next.listedBefore = listed
            answer.next = [self.operation(next)]
        }
        return answer
    }

    /// The document of a response; nil if it is none, and the response a refusal.
    private func document(
        of response: TransportResponse, to operation: RemoteOperation<GraphQLRequest>
    ) throws -> JSONValue? {
        let text = String(validating: response.body, as: UTF8.self)
        do throws(ImportError) {
            guard let text else {
                let valid = String(decoding: response.body, as: UTF8.self).utf8
                throw ImportError.invalidJSON(
                    reason: "not valid UTF-8.", offset: zip(valid, response.body).prefix { $0 == $1 }.count, path: "$",
                    beginning: "")
            }
            return try JSONValue(text)
        } catch {
            // Also a refusal may have errors, as "application/graphql-response+json" (GraphQL over
            // HTTP).
            guard (200..<300).contains(response.status) else { return nil }
            throw RemoteError(
                "\(operation.method) \(Redaction.url(operation.url)): the response (\(response.status)) is \(error)")
        }
    }

    private func refusal(
        _ response: TransportResponse, _ operation: RemoteOperation<GraphQLRequest>
    ) -> MirrorError {
        .refusal(
            response, method: operation.method, url: Redaction.url(operation.url), message: response.refusalMessage)
    }

    /// The value at a place of records; nil if it is null.
    ///
    /// - Parameter isFollowed: whether an earlier page has had a value there.
    /// - Throws: `RemoteError` if the data has no such place, or no longer a value there.
    private static func value(
        at place: GraphQLRequest.Records, of request: GraphQLRequest, in data: JSONValue, _ errors: [RemoteError],
        isFollowed: Bool
    ) throws -> JSONValue? {
        let (value, isAbsent) = data.found(at: place.path)
        if let value { return value }
        if isFollowed {
            if !errors.isEmpty { throw RemoteError(joining: errors) }
            throw RemoteError("the list is no longer there on a later page", path: [place.path.description])
        }
        // A field with an error may be left out, and a mutation is done.
        if isAbsent, errors.isEmpty, !request.isChange {
            throw RemoteError("the data has no such place of records", path: [place.path.description])
        }
        return nil
    }

    /// The errors of a response, with their paths.
    private static func errors(of document: JSONValue?) -> [RemoteError] {
        guard case .array(let errors)? = document?["errors"] else { return [] }
        return errors.map { error in
            var found = RemoteError(error["message"]?.plainText ?? "an error without a message")
            if case .array(let path)? = error["path"] { found.path = path.compactMap(\.plainText) }
            found.code = error["extensions"]?["code"]?.plainText ?? error["type"]?.plainText
            return found
        }
    }

    /// The elements of a connection, a list, or one object.
    ///
    /// - Parameter isStrict: whether what is absent was not asked for. A field with an error may be
    ///   left out, and a mutation is done.
    /// - Throws: `RemoteError` if the document does not ask for the records: they would be none.
    private static func elements(
        _ value: JSONValue, _ place: GraphQLRequest.Records, isStrict: Bool
    ) throws -> [JSONValue] {
        func refusal(_ reason: String) -> RemoteError { RemoteError(reason, path: [place.path.description]) }
        let found: [JSONValue]
        if case .array(let elements) = value {
            found = elements
        } else if case .array(let nodes)? = value["nodes"] {
            found = nodes
        } else if case .array(let edges)? = value["edges"] {
            if isStrict, edges.contains(where: { $0 != .null && $0["node"] == nil }) {
                throw refusal("the edges have no node: ask for it")
            }
            found = edges.map { $0["node"] ?? .null }
        } else if value["pageInfo"] != nil || value["nodes"] != nil || value["edges"] != nil {
            if isStrict, value["nodes"] == nil, value["edges"] == nil {
                throw refusal("the connection has neither nodes nor edges: ask for them")
            }
            // A connection whose nodes are null.
            found = []
        } else {
            found = [value]
        }
        return found.filter { $0 != .null }
    }

    /// The parts of elements: runs of one entity, so that the order is kept.
    ///
    /// - Parameter position: the number of records of the place on the pages before.
    private func parts(
        of elements: [JSONValue], _ place: GraphQLRequest.Records, from position: Int
    ) throws -> [RemotePart] {
        var runs: [(entity: String, elements: [JSONValue])] = []
        for element in elements {
            let entity: String
            if let declared = place.entity {
                entity = declared
            } else if case .string(let type)? = element["__typename"] {
                entity = entities[type] ?? type
            } else {
                throw RemoteError(
                    "the records have no __typename, and no entity is declared", path: [place.path.description])
            }
            if runs.last?.entity == entity {
                runs[runs.count - 1].elements.append(element)
            } else {
                runs.append((entity, [element]))
            }
        }
        var next = position
        return runs.map { run in
            var part = RemotePart(run.entity, .json(.array(run.elements)), parent: place.parent)
            part.firstPosition = next
            next += run.elements.count
            return part
        }
    }

    /// The cursor of the next page of a connection; nil after the last page.
    ///
    /// - Throws: `RemoteError` if the connection does not say whether there is one, or has no list:
    ///   a part of a list must not pass for the whole.
    private static func cursor(
        _ connection: JSONValue, _ place: GraphQLRequest.Records, _ errors: [RemoteError]
    ) throws -> JSONValue? {
        func refusal(_ reason: String) -> RemoteError { RemoteError(reason, path: [place.path.description]) }
        guard let info = connection["pageInfo"] else {
            throw refusal("the connection has no pageInfo: ask for hasNextPage and endCursor")
        }
        if errors.isEmpty, !["nodes", "edges"].contains(where: { connection[$0]?.isList ?? false }) {
            throw refusal("the connection has neither nodes nor edges")
        }
        guard case .bool(let hasNext)? = info["hasNextPage"] else {
            throw refusal("pageInfo does not say whether there is a next page: ask for hasNextPage and endCursor")
        }
        guard hasNext else { return nil }
        guard case .string(let cursor)? = info["endCursor"], !cursor.isEmpty else {
            throw refusal("there is a next page, and no endCursor")
        }
        return .string(cursor)
    }
}

extension RemoteError {
    /// One error of several.
    fileprivate init(joining errors: [RemoteError]) {
        let first = errors[0]
        self =
            errors.count == 1
            ? first
            : RemoteError(errors.map(\.description).joined(separator: "; "), path: first.path, code: first.code)
    }
}

extension TransportResponse {
    /// Whether the data of the body is that of a GraphQL server.
    ///
    /// A refusal as `application/json` may come from a server in between (GraphQL over HTTP §6.4).
    fileprivate var isGraphQL: Bool {
        (200..<300).contains(status)
            || (headers["Content-Type"] ?? "").lowercased().hasPrefix("application/graphql-response+json")
    }
}

extension GraphQLRequest {
    /// The request for the next pages.
    ///
    /// Lists that are at their end are asked for what follows their last record: nothing.
    fileprivate func following(_ cursors: [String: JSONValue], _ data: JSONValue) -> GraphQLRequest {
        var request = self
        for place in records {
            guard let name = place.cursor else { continue }
            let end = data[place.path]?["pageInfo"]?["endCursor"].flatMap { $0 == .null ? nil : $0 }
            if let cursor = cursors[name] ?? end { request.variables[name] = cursor }
        }
        return request
    }
}

extension JSONValue {
    /// Whether the data is usable.
    ///
    /// Without errors it always is, and otherwise if a place of records, or without such places any
    /// field, has a value. That of a mutation needs such a place, or no errors.
    fileprivate func isUsable(for request: GraphQLRequest, despite errors: [RemoteError]) -> Bool {
        guard case .object(let members) = self else { return false }
        if request.records.isEmpty {
            return errors.isEmpty || !request.isChange && members.contains { $0.value != .null }
        }
        return errors.isEmpty && !request.isChange || request.records.contains { found(at: $0.path).value != nil }
    }

    /// The reason why the data of a mutation has no record.
    ///
    /// Some servers have it beside the record, in a list of errors with messages.
    fileprivate func refusal(of request: GraphQLRequest) -> String {
        var reasons: [String] = []
        for place in request.records {
            guard let payload = found(at: JSONPath(keys: Array(place.path.keys.dropLast()))).value else { continue }
            for name in ["userErrors", "errors"] {
                guard case .array(let errors)? = payload[name] else { continue }
                reasons += errors.compactMap { $0["message"]?.plainText }
            }
        }
        let places = request.records.map(\.path.description).joined(separator: ", ")
        return reasons.isEmpty
            ? "the mutation was answered without a record: \(places)" : reasons.joined(separator: "; ")
    }

    /// The value at a path of keys; nil if it, or an object on the way, is null or absent.
    fileprivate func found(at path: JSONPath) -> (value: JSONValue?, isAbsent: Bool) {
        var value = self
        for key in path.keys {
            if value == .null { return (nil, false) }
            guard let next = value[key] else { return (nil, true) }
            value = next
        }
        return value == .null ? (nil, false) : (value, false)
    }

    fileprivate var isList: Bool { if case .array = self { true } else { false } }

    /// The value at a path of keys; nil if it is absent.
    fileprivate subscript(path: JSONPath) -> JSONValue? {
        path.keys.reduce(self) { value, key in value?[key] }
    }

    /// The text of a scalar.
    fileprivate var plainText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
