public import TarnHTTP
public import TarnImport
import TarnStore

/// The bridge of REST requests: a ``RecordRequest`` becomes one operation a page.
///
/// Its pages are those of the request's pagination, and a change becomes the request that the
/// description declares for it: an outbox sends through this bridge as it does without one.
/// Requests need no bridge: ``RecordClient`` answers them from its cache, too. The bridge is for
/// code over any ``Bridge``.
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

    /// Returns the operation for the first page of a request.
    ///
    /// - Throws: `MirrorError.endpoint` if the request has an option that a bridge cannot honour:
    ///   closures that edit JSON or drafts, orphans, `persisting(false)`, or answers of the store
    ///   only.
    public func operations(for request: RecordRequest<Value>) throws -> [RemoteOperation<Info>] {
        if let reason = RESTBridge.refusal(of: request.options) {
            throw MirrorError.endpoint(place: request.endpoint.place, message: reason)
        }
        let target = EndpointRequest(client: client.client, endpoint: request.endpoint, fingerprint: "", authScope: "")
        return [RESTBridge.operation(target, try target.pages())]
    }

    /// The reason why a bridge cannot honour the options of a request; nil if it can.
    private static func refusal(of options: RequestOptions) -> String? {
        if !options.transfer.hooks.isEmpty { return "closures that edit JSON or drafts are not called by a bridge" }
        if options.orphans != nil { return "a bridge does not look for orphans: use all, batch or pages" }
        if !options.transfer.isPersisted { return "a bridge stores the records: persisting(false) is not possible" }
        if options.policy == .cacheOnly {
            return "a bridge always asks the server: the policy cacheOnly is not possible"
        }
        return nil
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
        switch operation.info.answer {
        case .record(let kind, let entity, let records):
            guard (200..<300).contains(response.status) else { throw refusal(response, operation, nil) }
            let hasRecord = !response.body.isEmpty && (kind == .create || kind == .update)
            return RemoteAnswer(hasRecord ? [RemotePart(entity, .path(records))] : [])
        case .page(let target, let pages):
            let sent = target.message(for: pages.request).headers
            switch target.decision(about: response, sent: sent) {
            case .records(let isEmpty):
                do { return try page(response, target, pages, isEmpty: isEmpty) } catch {
                    throw MirrorError(error, url: Redaction.url(operation.url), place: target.endpoint.place)
                }
            // The list ends before this page.
            case .ignored: return RemoteAnswer()
            case .last:
                _ = try target.ending(of: pages, refusedBy: response)
                return RemoteAnswer()
            case .failed(let message): throw refusal(response, operation, message)
            case .notModified, .refused: throw refusal(response, operation, nil)
            }
        }
    }

    private func refusal(
        _ response: TransportResponse, _ operation: RemoteOperation<Info>, _ message: String?
    ) -> MirrorError {
        .refusal(
            response, method: operation.method, url: Redaction.url(operation.url),
            message: message ?? response.refusalMessage)
    }

    /// The answer of a page, and the operation for the next one.
    private func page(
        _ response: TransportResponse, _ target: EndpointRequest, _ known: PageSequence, isEmpty: Bool
    ) throws -> RemoteAnswer<Info> {
        var pages = known
        let endpoint = target.endpoint, lists = endpoint.envelope.map(\.path)
        let importer = try PageImporter(target, pages.wants)
        let page = PageImporter.Page(url: pages.url, shownURL: Redaction.url(pages.url), position: pages.listed)
        // RFC 9110 §15.3.5: such a response lists nothing. A 200 has a document.
        guard isEmpty || !response.body.isEmpty || response.status == 200 else {
            try importer.checkListsNothing(response, page)
            return RemoteAnswer()
        }
        let lent = try client.cache.importers.take(client.store)
        defer { client.cache.importers.give(back: lent) }
        let entry = try importer.facts(
            isEmpty ? nil : lists.isEmpty ? [endpoint.records] : lists, of: response, lent.value)
        var answer = RemoteAnswer<Info>(isEmpty ? [] : RESTBridge.parts(of: endpoint, pages))
        for (name, text) in PageMetadata.declared(in: entry.listing.metadata) {
            answer.metadata[name] = try JSONValue(text)
        }
        if !isEmpty {
            if entry.listing.count == 0 { try importer.checkListsNothing(response, page) }
            if let failure = importer.partialFailure(response, page) { answer.errors = [RemoteError("\(failure)")] }
        }
        let answeredBy = response.redirectedTo.map(client.client.canonicalURL)
        if try pages.advance(entry.pageFacts, answeredBy: answeredBy) {
            answer.next = [RESTBridge.operation(target, pages)]
        }
        return answer
    }

    private static func parts(of endpoint: Endpoint, _ pages: PageSequence) -> [RemotePart] {
        let places =
            endpoint.envelope.isEmpty
            ? [EnvelopePart(endpoint.records, endpoint.entity)] : endpoint.envelope
        var parameters: [String: String] = [:]
        for parameter in endpoint.parameters { parameters[parameter.name] = parameter.value }
        // If the query repeats a parameter, its first value counts.
        for (name, value) in QueryParameters.values(in: pages.url).reversed() { parameters[name] = value }
        return places.map { place in
            var part = RemotePart(place.entity, .path(place.path))
            part.isOptional = place.isOptional
            part.exceptions = place.exceptions
            part.columns = endpoint.columns
            part.parameters = parameters
            part.firstPosition = endpoint.envelope.isEmpty ? pages.listed : 0
            return part
        }
    }
}

extension RESTBridge: DeclaredChangeBridge {}

extension PageImporter {
    /// Reads the facts about a page without drafting its records: an entry that is not stored.
    ///
    /// - Parameter lists: the key paths of the lists; nil for a page without records, whose body is
    ///   not read.
    fileprivate func facts(
        _ lists: [JSONPath]?, of response: TransportResponse, _ importer: Importer
    ) throws -> ResponseEntry {
        let added =
            try lists.map { lists in
                let body = try importer.naming(request.endpoint.columns, in: response.body)
                return try importer.facts(of: body, lists: lists, asking: questions)
            }
            ?? Importer.Added(listed: [], count: 0)
        return entry(
            request.key(of: try request.firstPage()), response, headers: response.headers, added,
            at: request.client.now)
    }
}
