// The request for the first value of a change feed.

import TarnHTTP
import TarnImport

extension EndpointRequest {
    /// The request for the first value.
    ///
    /// It has the method and the body of the endpoint. Its query is that of its path, with the
    /// parameters of the API.
    func startPage(_ start: Incremental.Start) throws -> PageRequest {
        guard let path = start.path else {
            var own = self
            own.since = nil
            return endpoint.pagination.firstPage(of: try own.firstPage())
        }
        let template = try PathTemplate(path), used = Set(template.variables)
        var values: [String: [String]] = [:]
        for parameter in parameters { values[parameter.name, default: []].append(parameter.value) }
        let shared = client.api.parameters.filter {
            !endpoint.variables.contains($0.name) && !used.contains($0.name)
        }
        return PageRequest(
            url: QueryParameters.append(
                shared.map { ($0.name, $0.value) },
                to: try url(below: try template.expanded(lists: values.filter { used.contains($0.key) }))),
            body: endpoint.body?.filled(values.compactMapValues(\.first)))
    }

    /// The message for ``startPage(_:)``.
    func startMessage(_ start: Incremental.Start) throws -> TransportRequest {
        var whole = self
        whole.since = nil
        return whole.message(for: try startPage(start))
    }

    /// Reads the first value in the response.
    ///
    /// - Parameter url: the URL as errors show it.
    /// - Throws: `MirrorError` for a refusal that is not declared, and for a response without the
    ///   value.
    func startValue(_ start: Incremental.Start, in response: TransportResponse, url: String) throws -> String {
        let isTaken = start.statuses.contains { $0.contains(response.status) }
        guard (200..<300).contains(response.status) || isTaken else {
            throw MirrorError.refusal(
                response, method: endpoint.method, url: url, message: response.refusalMessage)
        }
        let keys = JSONPath(start.value)?.steps.compactMap { step -> String? in
            switch step {
            case .key(let key): key
            case .index(let index): "[\(index)]"
            default: nil
            }
        }
        let body = JSONBody(parsing: String(decoding: response.body, as: UTF8.self))
        guard let keys, let value = body?[keys]?.scalarText, !value.isEmpty,
            value.utf8.count <= PageSequence.linkLimit
        else {
            throw MirrorError.status(
                code: response.status, method: endpoint.method, url: url,
                message: "since.start: the response has no value at `\(start.value)` (\(place))")
        }
        return value
    }
}
