// A request to an endpoint: the URLs, messages and keys of its pages.

import TarnHTTP
import TarnStore

/// A request to an endpoint, with its parameters, its parent record and its auth scope.
///
/// It determines the first page of the list, the message that is sent for each page, and the key
/// under which a page's response is stored.
struct EndpointRequest: Sendable {
    /// The parts that are equal for all lists. The requests of the lists share them.
    private final class Constants: Sendable {
        let client: APIClient
        let endpoint: Endpoint
        let fingerprint: String
        /// The digest of what determines, besides the request, which records the endpoint lists;
        /// nil without a rule for orphans.
        let listing: String?
        let authScope: String
        /// The variant in the keys of responses.
        let variant: String
        /// The endpoint in the keys of responses.
        let key: String
        /// The servers to which links may lead, and the limits of a scan.
        let bounds: PageSequence.Bounds
        /// The path, parsed once for all lists; nil if it is invalid.
        let template: PathTemplate?
        /// The names of variables in the path, the body, the parameters and the text of `since`.
        let variables: Set<String>
        /// Whether the first request has nothing but a path with values of the parent record.
        let isPlain: Bool

        init(_ client: APIClient, _ endpoint: Endpoint, fingerprint: String, authScope: String) {
            self.client = client
            self.endpoint = endpoint
            bounds = client.bounds(of: endpoint)
            template = try? PathTemplate(endpoint.path)
            variables = Set(endpoint.variables)
            isPlain =
                endpoint.parameters.isEmpty && endpoint.body == nil && !endpoint.followsURL
                && endpoint.incremental?.text == nil
            self.fingerprint = fingerprint
            listing = endpoint.orphans.map { _ in
                Description.listing(of: endpoint, keyedBy: client.keyFingerprint)
            }
            self.authScope = authScope
            variant = client.variant(of: client.headers(endpoint.headers))
            key = RequestKey.endpoint(endpoint.name, mapping: fingerprint)
        }
    }

    private var constants: Constants
    var client: APIClient { constants.client }
    /// The endpoint, with the parameters of its API.
    ///
    /// Lent: a copy counts the references of all its parts, for each use.
    var endpoint: Endpoint { _read { yield constants.endpoint } }
    /// The fingerprint of the endpoint's mapping: another one changes the keys of responses.
    var fingerprint: String { constants.fingerprint }
    /// The digest of what determines, besides the request, which records the endpoint lists.
    var listing: String? { constants.listing }
    var authScope: String { constants.authScope }
    /// A keyed hash of the credentials in header fields: others are other responses.
    var variant: String { constants.variant }
    /// The record that the endpoint is requested for; nil without `for_each`.
    var parent: ParentRecord?
    /// The values of the endpoint's partitions for this list.
    private(set) var partition: [Endpoint.Parameter] = []
    /// The value that the scan sends to get what has changed since; nil to get everything.
    var since: String?
    /// The end of the window that the scan requests; nil without one.
    var until: String?
    /// The priority among requests that wait for the pace or for a limit.
    var priority = TaskPriority.medium

    init(client: APIClient, endpoint: Endpoint, fingerprint: String, authScope: String) {
        constants = Constants(
            client, endpoint.completed(by: client.api), fingerprint: fingerprint, authScope: authScope)
    }

    /// The place of the endpoint's declaration, for errors about a scan of it.
    var place: String { "\(endpoint.place), endpoint \(endpoint.name)" }

    /// Returns the request for one list: of a partition, of a parent record, or of both.
    func list(_ partition: [Endpoint.Parameter], _ parent: ParentRecord?) -> EndpointRequest {
        var request = self
        request.parent = parent
        request.partition = partition
        if !partition.isEmpty {
            var endpoint = endpoint
            endpoint.replaceParameters(by: partition)
            request.constants = Constants(client, endpoint, fingerprint: fingerprint, authScope: authScope)
        }
        return request
    }

    /// The name of the list's checkpoint.
    ///
    /// - Parameter own: the name of the endpoint, or of a variant of it.
    func checkpointName(_ own: String) -> String {
        let name = own + EndpointRequest.suffix(of: partition)
        return parent.map { EndpointRequest.checkpointName(name, of: $0.key) } ?? name
    }

    /// The part of a checkpoint's name that tells the lists of partitions apart.
    static func suffix(of partition: [Endpoint.Parameter]) -> String {
        partition.isEmpty ? "" : " [\(partition.map { "\($0.name)=\($0.value)" }.joined(separator: "&"))]"
    }

    /// The name of the checkpoint of a list that is requested for a parent record.
    static func checkpointName(_ own: String, of parent: RecordKey) -> String { "\(own) \(parent)" }

    /// The request for the first page.
    ///
    /// - Throws: if a variable of the path has no value.
    func firstPage() throws -> PageRequest {
        let template = try constants.template ?? PathTemplate(endpoint.path)
        if constants.isPlain, since == nil, let parent,
            parent.values.keys.allSatisfy({ constants.variables.contains($0) })
        {
            return PageRequest(url: try url(below: try template.expanded(parent.values)))
        }
        try checkQuotes()
        try checkSinceField()
        var values = parent?.values.mapValues { [$0] } ?? [:]
        for parameter in parameters { values[parameter.name, default: []].append(parameter.value) }
        var first = try endpoint.followsURL ? followedPage(template, values) : page(template, values)
        if let until, let place = endpoint.incremental?.until {
            first = first.setting(place, to: until, isNumber: until.isJSONInteger)
        }
        guard let rule = endpoint.incremental, let place = rule.sends else { return first }
        // A text is the query of the list: each request sends it, perhaps with the initial value.
        guard let since = since ?? (rule.text == nil ? nil : rule.initial) else { return first }
        guard let text = rule.text else {
            return endpoint.pagination.request(after: since, sentAt: place, like: first, base: client.api.base)
                ?? first.setting(place, to: since, isNumber: since.isJSONInteger)
        }
        var texts = values.compactMapValues(\.first)
        texts[Incremental.variable] = since
        return first.setting(place, to: Endpoint.filled(text, texts))
    }

    /// The parameters of the endpoint, with the values of the parent record that they name.
    var parameters: [Endpoint.Parameter] {
        guard let parent, endpoint.forEach != nil, !parent.values.isEmpty else { return endpoint.parameters }
        return endpoint.parameters.map { .init($0.name, Endpoint.filled($0.value, parent.values)) }
    }

    private func page(_ template: PathTemplate, _ values: [String: [String]]) throws -> PageRequest {
        let used = Set(template.variables)
        let query = parameters.filter { !constants.variables.contains($0.name) }.map { ($0.name, $0.value) }
        let path = try template.expanded(lists: values.filter { used.contains($0.key) })
        return PageRequest(
            url: QueryParameters.append(query, to: try url(below: path)),
            body: endpoint.body?.filled(values.compactMapValues(\.first)))
    }

    /// The URL of a path below the base URL.
    ///
    /// - Throws: `MirrorError.endpoint` if the path would continue the name of the server, or that
    ///   of the base's last folder.
    func url(below path: String) throws -> String {
        guard let first = path.utf8.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?") else {
            return client.api.base + path
        }
        throw MirrorError.endpoint(
            place: endpoint.place,
            message: "the path \(Redaction.shown(path)) does not begin with /: it is appended to the base URL")
    }

    /// The pages of the list, positioned at its first page.
    func pages() throws -> PageSequence { try pages(from: try firstPage()) }

    /// The pages of the list.
    ///
    /// - Parameter first: the request for the first page.
    func pages(from first: PageRequest) throws -> PageSequence {
        var pages = try PageSequence(
            endpoint.pagination, first, constants.bounds, deep: endpoint.deep)
        if let since, case .link? = endpoint.incremental?.source { try pages.resume(at: since, ordinal: 1) }
        return pages
    }

    /// The values by which changes are requested; nil for an endpoint that always lists everything.
    var increments: IncrementalValues? {
        endpoint.incremental.map {
            IncrementalValues($0, entity: endpoint.entity, client.description, place: endpoint.place)
        }
    }

    /// The key under which the response to a page's request is stored.
    func key(of page: PageRequest) -> RequestKey {
        var digest = page.body.map { "#" + SHA256.shortHexadecimal($0.text) } ?? ""
        // Changes have the URL of the whole list, and do not replace its pages.
        if let field = sinceField {
            digest += "#" + SHA256.shortHexadecimal("\(field.name): \(field.value)")
        } else if let since, endpoint.incremental?.endsAtValue == true {
            digest += "#" + SHA256.shortHexadecimal("since \(since)")
        }
        return RequestKey(
            method: endpoint.method, url: page.url + digest, endpoint: constants.key,
            authScope: authScope, variant: variant)
    }

    /// The message that requests a page, without conditions and credentials.
    func message(for page: PageRequest) -> TransportRequest {
        var message = client.request(page.url, headers: endpoint.headers)
        message.method = endpoint.method
        message.isRead = true
        message.priority = priority.rawValue
        if let field = sinceField { message.headers[field.name] = field.value }
        if let body = page.body {
            message.body = Array(body.text.utf8)
            if message.headers["Content-Type"] == nil { message.headers["Content-Type"] = body.contentType }
        }
        return message
    }

    /// The text that distinguishes the first request of a scan from others.
    static func text(of page: PageRequest) -> String {
        page.url + (page.body.map { "\n" + $0.text } ?? "")
    }
}

extension Endpoint {
    /// The names of variables in the path, the body, the parameters and the text of `since`.
    package var variables: [String] {
        var names = pathVariables
        let others = (body?.placeholders ?? []) + parameterVariables + (incremental?.variables ?? [])
        for name in others where !names.contains(name) { names.append(name) }
        return names
    }
}
