public import TarnHTTP
public import TarnImport

/// The requests of a program by their paths: finds the one that a URL belongs to.
///
/// A program that fetches with another HTTP client hands over what it has fetched, whatever it is:
///
/// ```swift
/// var routes = RequestRoutes()
/// routes.add("/repos/{+repository}/issues") { .issues($0["repository"]) }
/// routes.add("/repos/{+repository}/issues/{number}") { .issue($0["number"]) }
/// let records = try await forge.accept(url: url, headers: fields, body: bytes, by: routes)
/// ```
public struct RequestRoutes: Sendable {
    /// The values of a path's variables.
    public struct Values: Sendable {
        let values: [String: String]

        /// The value of a variable, decoded.
        ///
        /// - Precondition: the template has the variable.
        public subscript(name: String) -> String {
            guard let value = values[name] else {
                preconditionFailure("the route has no variable \(name), only \(values.keys.sorted())")
            }
            return value
        }
    }

    typealias Acceptance =
        @Sendable (RecordClient, String, TransportResponse, Values) async throws -> [any MappedRecord]

    private var routes: [(template: RouteTemplate, accept: Acceptance)] = []

    /// Creates an empty list of routes.
    public init() {}

    /// Adds the requests whose path matches a template.
    ///
    /// `{name}` matches a part of one segment, `{+name}` also several segments. If several
    /// templates match a path, the one with most literal text is chosen.
    ///
    /// - Parameters:
    ///   - path: the template, below the base URL.
    ///   - make: returns the request for the values of the path.
    /// - Precondition: the template has no other expressions.
    public mutating func add<Value>(
        _ path: String, _ make: @escaping @Sendable (Values) -> RecordRequest<Value>
    ) {
        guard let template = RouteTemplate(path) else {
            preconditionFailure("a route has only the expressions {name} and {+name}, with text between them: \(path)")
        }
        let accept: Acceptance = { client, url, response, values in
            try await client.accept(
                make(values), url: url, status: response.status, headers: response.headers, body: response.body
            ).records
        }
        // The first of equally specific ones stays first.
        let place = routes.firstIndex { $0.template.specificity < template.specificity } ?? routes.endIndex
        routes.insert((template, accept), at: place)
    }

    /// Returns the route of a path, and the values of its variables; nil if there is none.
    func route(of path: String) -> (accept: Acceptance, values: Values)? {
        for route in routes {
            if let values = route.template.values(in: path) { return (route.accept, Values(values: values)) }
        }
        return nil
    }
}

extension RecordClient {
    /// Imports a response that another HTTP client has fetched, by the route of its URL.
    ///
    /// - Parameters:
    ///   - url: the URL that was requested, with its query: below the base of the API, or an alias.
    ///   - status: the status code.
    ///   - headers: the header fields of the response.
    ///   - body: the body, decoded from its content coding.
    ///   - routes: the requests of the program.
    /// - Returns: the records; nil if the URL belongs to no request, or not to the API.
    /// - Throws: as ``accept(_:url:status:headers:body:)``.
    public func accept(
        url: String, status: Int = 200, headers: TransportHeaders, body: [UInt8], by routes: RequestRoutes
    ) async throws -> [any MappedRecord]? {
        let api = client.api
        guard let own = HTTPURL.rebase(link: url, from: [api.base] + api.aliases, onto: api.base),
            let path = try? HTTPURL(own).path, let root = try? HTTPURL(api.base).path
        else { return nil }
        // `rebase` puts the path below that of the base.
        let isRoot = root == "/" || root.isEmpty
        guard let route = routes.route(of: isRoot ? path : String(path.dropFirst(root.count))) else { return nil }
        return try await route.accept(
            self, own, TransportResponse(status: status, headers: headers, body: body), route.values)
    }
}
