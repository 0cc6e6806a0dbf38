public import TarnHTTP
public import TarnImport
import TarnStore

/// The bridge of REST requests: a ``RecordRequest`` becomes one operation a page.
///
/// Its pages are those of the request's pagination, and a change becomes the request that the
/// description declares for it. Requests need no bridge: ``RecordClient``
/// answers them from its cache, too. The bridge is for code over any ``Bridge``.
public struct RESTBridge<Value: MappedRecord>: Bridge {
    public typealias Request = RecordRequest<Value>

    /// The page of a request, or the record of a change, that an operation is for.
    public struct Info: Sendable {
        enum Answer: Sendable {
            case page(EndpointRequest, PageSequence)
            case record(OutboxOperation.Kind, entity: String, records: JSONPath)
        }

        let answer: Answer
    }

    private let client: RecordClient

    /// Creates a bridge.
    public init(_ client: RecordClient) { self.client = client }

    public func operations(for request: RecordRequest<Value>) throws -> [RemoteOperation<Info>] {
        guard request.options.transfer.hooks.isEmpty else {
            throw MirrorError.endpoint(
                place: request.endpoint.place, message: "closures that edit JSON or drafts are not called by a bridge")
        }
        let target = EndpointRequest(client: client.client, endpoint: request.endpoint, fingerprint: "", authScope: "")
        return [RESTBridge.operation(target, try target.pages())]
    }

    /// Returns the declared request of a change: see ``WriteRequests``.
    public func operations(for change: RemoteChange) -> [RemoteOperation<Info>] {
        let message = change.message, entity = change.operation.entity
        return [
            RemoteOperation(
                message.method, message.url, headers: message.headers, body: message.body,
                info: Info(answer: .record(change.operation.kind, entity: entity, records: change.records)))
        ]
    }

    private static func operation(_ target: EndpointRequest, _ pages: PageSequence) -> RemoteOperation<Info> {
        var headers = TransportHeaders(target.endpoint.headers)
        let body = pages.request.body
        if let body, headers["Content-Type"] == nil { headers["Content-Type"] = body.contentType }
        return RemoteOperation(
            target.endpoint.method, pages.url, headers: headers, body: body.map { Array($0.text.utf8) },
            info: Info(answer: .page(target, pages)))
    }

    public func answer(
        _ response: TransportResponse, to operation: RemoteOperation<Info>
    ) throws -> RemoteAnswer<Info> {
        guard (200..<300).contains(response.status) else {
            throw MirrorError.refusal(
                response, method: operation.method, url: Redaction.url(operation.url), message: response.refusalMessage)
        }
        switch operation.info.answer {
        case .record(let kind, let entity, let records):
            let hasRecord = !response.body.isEmpty && (kind == .create || kind == .update)
            return RemoteAnswer(hasRecord ? [RemotePart(entity, .path(records))] : [])
        case .page(let target, var pages):
            // RFC 9110 §15.3.5: such a response lists nothing. A 200 has a document.
            guard !response.body.isEmpty || response.status == 200 else { return RemoteAnswer() }
            let endpoint = target.endpoint, lists = endpoint.envelope.map(\.path)
            let importer = try PageImporter(target, pages.wants)
            let lent = try client.cache.importers.take(client.store)
            defer { client.cache.importers.give(back: lent) }
            let entry = try importer.facts(response, lists.isEmpty ? [endpoint.records] : lists, lent.value)
            var answer = RemoteAnswer<Info>(RESTBridge.parts(of: endpoint, pages))
            for (name, text) in PageMetadata.declared(in: entry.listing.metadata) {
                answer.metadata[name] = try JSONValue(text)
            }
            let answeredBy = response.redirectedTo.map(client.client.canonicalURL)
            if try pages.advance(entry.pageFacts, answeredBy: answeredBy) {
                answer.next = [RESTBridge.operation(target, pages)]
            }
            return answer
        }
    }

    private static func parts(of endpoint: Endpoint, _ pages: PageSequence) -> [RemotePart] {
        let places =
            endpoint.envelope.isEmpty
            ? [EnvelopePart(endpoint.records, endpoint.entity)] : endpoint.envelope
        var parameters: [String: String] = [:]
        for parameter in endpoint.parameters { parameters[parameter.name] = parameter.value }
        return places.map { place in
            var part = RemotePart(place.entity, .path(place.path))
            part.isOptional = place.isOptional
            part.parameters = parameters
            part.firstPosition = endpoint.envelope.isEmpty ? pages.listed : 0
            return part
        }
    }
}

extension PageImporter {
    /// Reads the facts about a page without drafting its records: an entry that is not stored.
    fileprivate func facts(
        _ response: TransportResponse, _ lists: [JSONPath], _ importer: Importer
    ) throws -> ResponseEntry {
        let added = try importer.facts(of: response.body, lists: lists, asking: questions)
        return entry(
            request.key(of: try request.firstPage()), response, headers: response.headers, added,
            at: request.client.now)
    }
}
