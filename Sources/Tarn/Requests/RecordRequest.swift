public import TarnHTTP
public import TarnImport
import TarnStore

/// A request to an API, as a value: its path, its parameters, and where its records are.
///
/// A program declares its requests once, as static functions, and names them where it needs them:
///
/// ```swift
/// extension RecordRequest where Value == Issue {
///     static func issues(_ repository: String, state: State? = nil) -> Self {
///         .get(
///             "/repos/{+repository}/issues",
///             ["repository": repository, "state": state?.rawValue])
///     }
///     static func issue(_ number: Int, in repository: String) -> Self {
///         .get(
///             "/repos/{+repository}/issues/{number}",
///             ["repository": repository, "number": "\(number)"])
///     }
/// }
/// let issues = try await forge.all(.issues("acme/anvil", state: .open))
/// ```
///
/// `Value` is the type of the records that the response lists. See ``RecordClient``.
public struct RecordRequest<Value: MappedRecord>: Sendable {
    /// The request, its pagination and its limits.
    var endpoint: Endpoint
    /// The options of a call.
    var options = RequestOptions()

    /// The values of parameters, in order. One that is nil is left out.
    public typealias Parameters = KeyValuePairs<String, String?>

    /// Returns a GET request for records.
    ///
    /// - Parameters:
    ///   - path: the path below the base URL, a template of RFC 6570. A group in parentheses is
    ///     left out if a variable in it has no value: `/users(/{username})`.
    ///   - parameters: the values of the path's variables; the others become the query.
    ///   - records: the key path of the records in the response; by default, the whole response is
    ///     the list, or the one record.
    ///   - pagination: the style of pages; by default, it is found out from the responses.
    public static func get(
        _ path: String, _ parameters: Parameters = [:], records: JSONPath = JSONPath(keys: []),
        pagination: Pagination = .automatic
    ) -> RecordRequest {
        RecordRequest(path, parameters, method: "GET", records, pagination)
    }

    /// Returns a POST request for records, for an API whose queries are in the body.
    ///
    /// Its response is imported, and not kept as the answer of the request.
    ///
    /// - Parameters:
    ///   - path: the path below the base URL, as in ``get(_:_:records:pagination:)``.
    ///   - body: the body. A string that is `{name}` is replaced by a parameter.
    ///   - parameters: the values of variables; the others become the query.
    ///   - records: the key path of the records in the response.
    ///   - pagination: the style of pages.
    public static func post(
        _ path: String, body: TransportBody, _ parameters: Parameters = [:], records: JSONPath = JSONPath(keys: []),
        pagination: Pagination = .automatic
    ) -> RecordRequest {
        var request = RecordRequest(path, parameters, method: "POST", records, pagination)
        request.endpoint.body = body
        return request
    }

    private init(
        _ path: String, _ parameters: Parameters, method: String, _ records: JSONPath, _ pagination: Pagination
    ) {
        let values = parameters.compactMap { name, value in value.map { Endpoint.Parameter(name, $0) } }
        let known = Set(values.map(\.name))
        let path = PathGroups.resolved(path) { known.contains($0) }
        endpoint = Endpoint(
            name: RecordRequest.name(method, path), path: path, parameters: values, records: records,
            entity: Value.entity,
            pagination: pagination)
        endpoint.method = method
        endpoint.place = "the request \(method) \(path)"
        endpoint.isTypedRequest = true
    }

    /// The name under which responses are stored: the entity and the path, without spaces.
    private static func name(_ method: String, _ path: String) -> String {
        let name = (method == "GET" ? "" : method) + Value.entity + ":" + path
        return String(name.map { $0.isWhitespace ? "_" : $0 })
    }

    func with(_ change: (inout RecordRequest) -> Void) -> RecordRequest {
        var request = self
        change(&request)
        return request
    }

    /// The name of the scan that the request's responses belong to.
    var scanName: String { SiblingLists.name(of: endpoint, options.transfer.hooks) }

    /// The options of its transfers.
    var transferOptions: TransferOptions {
        var transfer = options.transfer
        transfer.scan = scanName
        return transfer
    }

    /// The request as the cache knows it.
    func cacheRequest(_ next: CacheRequest? = nil) -> CacheRequest {
        var request = next ?? CacheRequest(endpoint.name)
        let directives = options.directives
        request.directives = directives.isEmpty ? nil : directives.joined(separator: ", ")
        return request
    }
}

extension RecordRequest: CustomStringConvertible {
    /// The method and the path, without the values of parameters.
    public var description: String { "\(endpoint.method) \(endpoint.path)" }
}
