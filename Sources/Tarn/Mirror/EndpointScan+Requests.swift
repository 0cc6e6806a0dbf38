// The requests of a scan: its pages, its parents, and the questions to its documents.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Prefetches the next page while the current one is committed.
    mutating func prepare(_ request: PageRequest) throws {
        if let ahead, ahead.request != request {
            ahead.task.cancel()
            self.ahead = nil
        }
        if ahead == nil, mirror.options.prefetches { ahead = try ask(request) }
    }

    /// Sends the request for a page, with the validators of its stored response.
    func ask(_ page: PageRequest) throws -> PageFetch {
        let digest = page.body.map { "#" + SHA256.hexadecimal($0.text).prefix(16) } ?? ""
        let key = RequestKey(
            method: endpoint.method, url: page.url + digest, endpoint: "\(endpoint.name) \(fingerprint)",
            authScope: authScope)
        var request = mirror.request(page.url)
        request.method = endpoint.method
        if let body = page.body {
            request.body = Array(body.text.utf8)
            if request.headers["Content-Type"] == nil { request.headers["Content-Type"] = body.contentType }
        }
        // A matching condition yields a 304 only for GET and HEAD (RFC 9110 §13.1.2).
        let isConditional =
            endpoint.method == "GET" && !mirror.options.refetches && !isUnconditional
            && !overtakenRequests.contains(key)
        let stored = try isConditional ? mirror.store.read { try $0.response(to: key) } : nil
        if let stored { Validators(TransportHeaders(flat: stored.validation.headers)).apply(to: &request) }
        let shownURL = Redaction.shown(request.url)
        progress(snapshot(requesting: shownURL))
        let mirror = mirror
        return PageFetch(
            page, key: key, stored: stored, shownURL: shownURL, sending: request, over: transport,
            pausing: { await mirror.pause() })
    }

    /// A stored record that an endpoint with `for_each` is scanned for.
    struct Parent {
        var key: RecordKey
        /// Values of the record for the path and the body, by the names of their variables.
        var values: [String: String]
    }

    /// The records that the endpoint is scanned for, and the count of those that lack a value.
    func parents(_ forEach: Endpoint.ForEach) throws -> (parents: [Parent], skipped: [SkippedParents]) {
        let names = endpoint.variables.filter { $0.hasPrefix(forEach.variable + ".") }
        return try mirror.store.read { reader in
            var parents: [Parent] = [], skipped: [SkippedParents] = []
            try reader.forEach(forEach.entity) { record in
                var parent = Parent(key: record.key, values: [:])
                for name in names {
                    let path = name.dropFirst(forEach.variable.count + 1).split(separator: ".").map(String.init)
                    // A partial record may lack a value for the path; a later sync will have it.
                    guard let value = try EndpointScan.value(at: path[...], of: record, reader) else {
                        if let known = skipped.firstIndex(where: { $0.name == name }) {
                            skipped[known].count += 1
                        } else {
                            skipped.append(
                                SkippedParents(entity: forEach.entity, name: name, count: 1, first: "\(record.key)"))
                        }
                        return true
                    }
                    parent.values[name] = value
                }
                parents.append(parent)
                return true
            }
            return (parents, skipped)
        }
    }

    /// The text of an attribute, of a record or of a target of its to-one relationships.
    ///
    /// - Returns: nil if there is no value.
    static func value(at path: ArraySlice<String>, of record: Record, _ reader: StoreReader) throws -> String? {
        guard let name = path.first else { return nil }
        if path.count == 1 {
            guard let value = record[name], value != .null else { return nil }
            return value.plainText
        }
        var target: Record?
        try reader.forEachRelated(record.entity, record.key, name) {
            target = $0.record
            return false
        }
        return try target.flatMap { try value(at: path.dropFirst(), of: $0, reader) }
    }

    func firstRequest(_ parent: Parent?) throws -> PageRequest {
        let template = try PathTemplate(endpoint.path)
        var values = parent?.values.mapValues { [$0] } ?? [:]
        for parameter in endpoint.parameters { values[parameter.name, default: []].append(parameter.value) }
        let used = Set(template.variables)
        let query = endpoint.parameters.filter { !endpoint.variables.contains($0.name) }.map { ($0.name, $0.value) }
        return PageRequest(
            url: QueryParameters.append(
                query,
                to: mirror.description.api.base
                    + (try template.expanded(lists: values.filter { used.contains($0.key) }))),
            body: endpoint.body?.filled(values.compactMapValues(\.first)))
    }

    /// The text that distinguishes the first request of a scan from others.
    static func text(of request: PageRequest) -> String {
        request.url + (request.body.map { "\n" + $0.text } ?? "")
    }

    var bounds: PageSequence.Bounds { mirror.bounds(of: endpoint) }

    /// The questions to each document that a pagination needs.
    ///
    /// - Throws: `MirrorError.endpoint` if a path of the pagination is invalid.
    func questions(_ wants: PageWants) throws -> DocumentQuestions {
        func path(_ text: String) throws -> JSONPath {
            guard let path = JSONPath(text) else {
                throw MirrorError.endpoint(
                    place: place, message: "the pagination asks for \"\(text)\", which is not a key path")
            }
            return path
        }
        return DocumentQuestions(
            values: try wants.values.map(path), record: try wants.record.map(path),
            documents: endpoint.metadata.map(\.path),
            members: EndpointScan.pageMembers)
    }

    /// The members of envelopes that are evidence of other pages.
    private static let pageMembers = MemberNames(
        scalars: PageEvidence.memberNames.scalars, nested: PageEvidence.memberNames.nested,
        objects: PageEvidence.memberNames.objects)

    /// The server's message about a refusal, on one line.
    ///
    /// It is one of the usual members of a JSON body, else the beginning of the text.
    static func message(of response: TransportResponse) -> String {
        // Tarn's transports cut the body at this length. A transport of the user may not.
        let body = response.body.prefix(TransportRequest.ResponseLimits.records.refusal)
        let object = body.count == response.body.count ? JSONBody(parsing: body) : nil
        let said = ["message", "error", "detail", "title", "error_description"].lazy.compactMap { object?.text(of: $0) }
            .first
        // Cut by scalars: a character may consist of any number of them.
        let text =
            said.map { String($0.unicodeScalars.prefix(400)) } ?? String(decoding: body.prefix(200), as: UTF8.self)
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let message = line.count > 160 ? line.prefix(160) + "…" : line
        guard let wait = RateLimit.wait(status: response.status, response.headers, now: Date()), wait > .zero else {
            return message
        }
        let until = HTTPDate.text(Date().addingTimeInterval(Double(wait.components.seconds)))
        return message + (message.isEmpty ? "" : "; ") + "it asks to wait until \(until)"
    }
}

extension APIMirror {
    /// The scope of links in an endpoint's pages, and the limits of its scan.
    func bounds(of endpoint: Endpoint) -> PageSequence.Bounds {
        let api = description.api
        var bounds = PageSequence.Bounds(
            base: api.base, aliases: api.aliases + [options.base].compactMap(\.self), follows: api.follows,
            pageLimit: min(options.pageLimit, endpoint.limits.pages ?? .max), recordLimit: endpoint.limits.records,
            stopsAtLimit: endpoint.limits.stopsQuietly, secretParameter: api.authentication.queryParameter)
        bounds.more = endpoint.more
        return bounds
    }
}

extension Endpoint {
    /// The names of variables in the path and the body.
    var variables: [String] {
        var names = pathVariables
        for name in body?.placeholders ?? [] where !names.contains(name) { names.append(name) }
        return names
    }
}

extension RequestBody {
    /// The names in strings that are `{name}` and nothing else.
    var placeholders: [String] {
        switch self {
        case .json(let value): value.placeholders
        case .form(let fields): fields.compactMap { RequestBody.placeholder($0.value) }
        }
    }

    /// Returns the body with placeholders replaced by values.
    func filled(_ values: [String: String]) -> RequestBody {
        switch self {
        case .json(let value): .json(value.filled(values))
        case .form(let fields):
            .form(fields.map { .init($0.name, RequestBody.placeholder($0.value).flatMap { values[$0] } ?? $0.value) })
        }
    }

    static func placeholder(_ text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}"), text.utf8.count > 2 else { return nil }
        let name = text.dropFirst().dropLast()
        let isName = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".")
        }
        return isName ? String(name) : nil
    }
}

extension JSONBody {
    fileprivate var placeholders: [String] {
        switch self {
        case .string(let text): RequestBody.placeholder(text).map { [$0] } ?? []
        case .array(let values): values.flatMap(\.placeholders)
        case .object(let members): members.flatMap(\.value.placeholders)
        case .null, .bool, .number: []
        }
    }

    fileprivate func filled(_ values: [String: String]) -> JSONBody {
        switch self {
        case .string(let text): RequestBody.placeholder(text).flatMap { values[$0] }.map(JSONBody.string) ?? self
        case .array(let elements): .array(elements.map { $0.filled(values) })
        case .object(let members): .object(members.map { .init($0.key, $0.value.filled(values)) })
        case .null, .bool, .number: self
        }
    }
}
