public import TarnHTTP
import TarnImport
import TarnStore

/// The bridge of GraphQL over HTTP: documents with variables, and connections with cursors.
///
/// Errors beside data are reported with their paths, and the data is imported. Errors refuse the
/// operation if all places of its records are null, such as the payload of a mutation.
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

    public func operations(for request: GraphQLRequest) -> [RemoteOperation<GraphQLRequest>] { [operation(request)] }

    public func operations(for change: RemoteChange) throws -> [RemoteOperation<GraphQLRequest>] {
        [operation(try mutations(change))]
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
        // Also a refusal may have errors: GraphQL over HTTP, "application/graphql-response+json".
        let document = try? JSONValue(String(decoding: response.body, as: UTF8.self))
        let errors = GraphQLBridge.errors(
            of: response.shownBody == response.body
                ? document : try? JSONValue(String(decoding: response.shownBody, as: UTF8.self)))
        let request = operation.info
        guard let data = document?["data"], data.hasAny(of: request, despite: errors) else {
            if let first = errors.first {
                throw errors.count == 1
                    ? first
                    : RemoteError(errors.map(\.description).joined(separator: "; "), path: first.path, code: first.code)
            }
            guard (200..<300).contains(response.status) else {
                throw MirrorError.refusal(
                    response, method: operation.method, url: Redaction.url(operation.url),
                    message: response.refusalMessage)
            }
            throw RemoteError("the response has neither data nor errors")
        }
        var answer = RemoteAnswer<GraphQLRequest>(errors: errors), following: [String: JSONValue] = [:]
        for place in request.records {
            guard let value = data[place.path], value != .null else { continue }
            answer.parts += try parts(of: GraphQLBridge.elements(value), place)
            guard let cursor = place.cursor, let next = try GraphQLBridge.cursor(value, place) else { continue }
            following[cursor] = next
        }
        for (name, path) in request.metadata { answer.metadata[name] = data[path] }
        if !following.isEmpty { answer.next = [self.operation(request.following(following, data))] }
        return answer
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
    private static func elements(_ value: JSONValue) -> [JSONValue] {
        let found: [JSONValue]
        if case .array(let elements) = value {
            found = elements
        } else if case .array(let nodes)? = value["nodes"] {
            found = nodes
        } else if case .array(let edges)? = value["edges"] {
            found = edges.map { $0["node"] ?? .null }
        } else if value["pageInfo"] != nil || value["nodes"] != nil || value["edges"] != nil {
            // A connection whose nodes are null, or were not asked for.
            found = []
        } else {
            found = [value]
        }
        return found.filter { $0 != .null }
    }

    /// The parts of elements: runs of one entity, so that the order is kept.
    private func parts(of elements: [JSONValue], _ place: GraphQLRequest.Records) throws -> [RemotePart] {
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
        return runs.map { RemotePart($0.entity, .json(.array($0.elements)), parent: place.parent) }
    }

    /// The cursor of the next page of a connection; nil after the last page.
    private static func cursor(_ connection: JSONValue, _ place: GraphQLRequest.Records) throws -> JSONValue? {
        guard let info = connection["pageInfo"] else {
            throw RemoteError(
                "the connection has no pageInfo: ask for hasNextPage and endCursor", path: [place.path.description])
        }
        guard info["hasNextPage"] == .bool(true) else { return nil }
        guard case .string(let cursor)? = info["endCursor"], !cursor.isEmpty else {
            throw RemoteError("there is a next page, and no endCursor", path: [place.path.description])
        }
        return .string(cursor)
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
    /// Whether the data is usable: without errors always, and otherwise if a place of records, or
    /// without such places any field, has a value.
    fileprivate func hasAny(of request: GraphQLRequest, despite errors: [RemoteError]) -> Bool {
        guard case .object(let members) = self else { return false }
        guard !errors.isEmpty else { return true }
        guard !request.records.isEmpty else { return members.contains { $0.value != .null } }
        return request.records.contains { self[$0.path].map { $0 != .null } ?? false }
    }

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
