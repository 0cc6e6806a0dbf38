// Requests and changes through a bridge: sent, answered, drafted, and imported as one change.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Fetches a request through a bridge, and imports all its answers as one change of the store.
    ///
    /// The answers are not kept as cached ones: see ``all(_:)`` for requests that the cache knows.
    ///
    /// - Throws: ``RemoteError`` if the server refuses an operation; `MirrorError`; errors of the
    ///   bridge; `CancellationError`. Nothing is stored then.
    public func fetch<B: Bridge>(_ request: B.Request, through bridge: B) async throws -> BridgeResult<B.Info> {
        try await imported(BridgeRun(self, bridge, try bridge.operations(for: request)))
    }

    /// Fetches a request through a bridge, and imports each answer when it is asked for.
    ///
    /// What a loop has seen is in the store, also if it is left.
    public func pages<B: Bridge>(
        _ request: B.Request, through bridge: B
    ) throws -> some AsyncSequence<BridgeResult<B.Info>, any Error> & Sendable {
        BridgePages(client: self, first: BridgeRun(self, bridge, try bridge.operations(for: request)))
    }

    /// Performs operations until there are none, and imports their answers as one change.
    private func imported<B>(_ first: BridgeRun<B>) async throws -> BridgeResult<B.Info> {
        var run = first
        let lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.keyLimit = client.options.keyLimit
        var result = BridgeResult<B.Info>()
        while run.hasNext {
            let step = try await run.step()
            run = step.rest
            try result.add(step, to: lent.value)
        }
        result.report = try await lent.value.commit(to: store)
        return result.withoutDropped()
    }

    /// Performs one operation, and imports its answer.
    fileprivate func page<B>(_ run: BridgeRun<B>) async throws -> (BridgeResult<B.Info>, rest: BridgeRun<B>) {
        let step = try await run.step(), lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.keyLimit = client.options.keyLimit
        var result = BridgeResult<B.Info>()
        try result.add(step, to: lent.value)
        result.report = try await lent.value.commit(to: store)
        return (result.withoutDropped(), step.rest)
    }
}

extension BridgeResult {
    /// Drafts the records of an answer, and adds the rest of it.
    fileprivate mutating func add<B: Bridge>(_ step: BridgeRun<B>.Step, to importer: Importer) throws
    where B.Info == Info {
        for part in step.answer.parts {
            let added: Importer.Added
            do throws(ImportError) {
                added = try part.draft(step.response, source: step.source, into: importer)
            } catch {
                throw MirrorError.response(error, url: step.source, place: "the bridge \(B.self)")
            }
            listed += added.listed
        }
        metadata.merge(step.answer.metadata) { $1 }
        errors += step.answer.errors
        infos.append(step.operation.info)
    }

    /// The result without the records that the store has refused.
    fileprivate func withoutDropped() -> BridgeResult {
        let dropped = Set(report.dropped)
        var result = self
        if !dropped.isEmpty { result.listed.removeAll { dropped.contains($0) } }
        return result
    }
}

/// The answers of a bridge, each imported when it is asked for.
private struct BridgePages<B: Bridge>: AsyncSequence, Sendable {
    let client: RecordClient
    let first: BridgeRun<B>

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, run: first) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let client: RecordClient
        var run: BridgeRun<B>

        /// Returns the result of the next answer; nil after the last one, and after an error.
        mutating func next() async throws -> BridgeResult<B.Info>? {
            guard run.hasNext else { return nil }
            let known = run
            run = known.ended
            let (result, rest) = try await client.page(known)
            run = rest
            return result
        }
    }
}

extension RemotePart {
    /// Drafts the records of the part.
    package func draft(
        _ response: TransportResponse, source: String, into importer: Importer
    ) throws(ImportError) -> Importer.Added {
        var context = ImportContext(
            headers: response.headers.fields.map { ($0.name, $0.value) }, parameters: parameters,
            firstPosition: firstPosition, source: source)
        context.parameters = parameters
        switch content {
        case .json(let json):
            return try importer.add(Array(json.text.utf8), entity: entity, parent: parent, context: context)
        case .path(let path) where isOptional:
            return try importer.add(
                response.body, envelope: [EnvelopePart(path, entity, optional: true)], context: context)
        case .path(let path):
            return try importer.add(response.body, records: path, entity: entity, parent: parent, context: context)
        }
    }
}

/// The operations of a request that are still to be sent.
struct BridgeRun<B: Bridge>: Sendable {
    private let client: RecordClient
    private let bridge: B
    private var pending: [RemoteOperation<B.Info>]
    private var seen: Set<Sent> = []
    private let endpoint = Endpoint(name: "bridge", path: "/", entity: "")

    private struct Sent: Hashable {
        var method: String
        var url: String
        var body: [UInt8]?
    }

    init(_ client: RecordClient, _ bridge: B, _ operations: [RemoteOperation<B.Info>]) {
        self.client = client
        self.bridge = bridge
        pending = operations
    }

    var hasNext: Bool { !pending.isEmpty }

    /// The run without its operations.
    var ended: BridgeRun {
        var run = self
        run.pending = []
        return run
    }

    /// An operation with its answer, and the run after it.
    struct Step: Sendable {
        var operation: RemoteOperation<B.Info>
        var response: TransportResponse
        var answer: RemoteAnswer<B.Info>
        /// The URL as errors show it.
        var source: String
        var rest: BridgeRun
    }

    /// Sends the next operation, and asks the bridge for the meaning of its response.
    ///
    /// - Precondition: there is one.
    func step() async throws -> Step {
        try Task.checkCancellation()
        var rest = self
        let operation = rest.pending.removeFirst(), place = "the bridge \(B.self)"
        let message = try client.client.message(for: operation, place: place)
        let limit = client.client.options.pageLimit, source = Redaction.url(message.url)
        guard seen.count < limit else { throw RemoteError("more than \(limit) operations for one request") }
        let sent = Sent(method: message.method, url: message.url, body: message.body)
        guard rest.seen.insert(sent).inserted else {
            throw RemoteError("loop: the same operation is to be sent again: \(source)")
        }
        let response: TransportResponse
        do {
            response = try await client.client.transport(for: endpoint).send(message)
        } catch {
            throw MirrorError(error, url: source, place: place)
        }
        let answer = try bridge.answer(response, to: operation)
        rest.pending += answer.next
        return Step(operation: operation, response: response, answer: answer, source: source, rest: rest)
    }
}

extension APIClient {
    /// The message of a bridge's operation, without credentials.
    ///
    /// - Throws: `MirrorError` if it leads to a server that the description does not allow.
    func message<Info>(for operation: RemoteOperation<Info>, place: String) throws -> TransportRequest {
        let base = description.api.base, endpoint = Endpoint(name: "bridge", path: "/", entity: ""), url: String
        do throws(PaginationError) {
            url = try bounds(of: endpoint).permitted(
                operation.url.hasPrefix("/") ? base + operation.url : operation.url, relativeTo: base)
        } catch {
            guard case .foreign(let link, let allowed) = error else {
                throw MirrorError.pagination(error, place: place)
            }
            throw MirrorError.endpoint(
                place: place,
                message:
                    "the operation leads to another server: \(Redaction.shown(link)); allowed: "
                    + allowed.map { Redaction.shown($0) }.joined(separator: ", ")
                    + ". If it may be requested without credentials, add its base URL to api.follow")
        }
        var message = request(url, headers: operation.headers.fields)
        message.method = operation.method
        message.body = operation.body
        return message
    }
}
