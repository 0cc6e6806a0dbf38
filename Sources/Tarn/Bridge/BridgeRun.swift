import TarnHTTP

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
        var message = try client.client.message(for: operation, place: place)
        message.isRead = true
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
                    + ". If it may be requested without credentials, add its base URL to \(section).follow")
        }
        var message = request(url, headers: operation.headers.fields)
        message.method = operation.method
        message.body = operation.body
        return message
    }
}
