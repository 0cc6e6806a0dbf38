import Locking
import TarnHTTP

/// The operations of a request that are still to be sent.
final class BridgeRun<B: Bridge>: Sendable {
    private struct State: Sendable {
        var pending: ArraySlice<RemoteOperation<B.Info>>
        var seen: Set<Sent> = []
    }

    private struct Sent: Hashable {
        var method: String
        var url: String
        var fields: [String]
        var body: [UInt8]?
    }

    private let client: RecordClient
    private let bridge: B
    private let state: Guarded<State>
    /// The endpoint by whose rules the operations are sent.
    let endpoint: Endpoint
    /// The options of the call.
    let options: RequestOptions
    /// The end of the time that the operations may take; nil for no limit.
    private let deadline: RequestDeadline?

    init(_ client: RecordClient, _ bridge: B, _ request: B.Request, _ operations: [RemoteOperation<B.Info>]) {
        self.client = client
        self.bridge = bridge
        state = Guarded(State(pending: operations[...]))
        let described = request as? any DescribedRequest
        endpoint = described?.endpoint ?? Endpoint(name: "bridge", path: "/", entity: "")
        options = described?.options ?? RequestOptions()
        deadline = options.deadline
    }

    var hasNext: Bool { state.withLock { !$0.pending.isEmpty } }

    /// An operation with its answer.
    struct Step: Sendable {
        var operation: RemoteOperation<B.Info>
        var response: TransportResponse
        var answer: RemoteAnswer<B.Info>
        /// The URL as errors show it.
        var source: String
    }

    /// Sends the next operation, and asks the bridge for the meaning of its response.
    ///
    /// - Parameter pageDeadline: the end of the time that it may take, in place of that of the run.
    /// - Returns: nil if there is no operation.
    func step(_ pageDeadline: RequestDeadline? = nil) async throws -> Step? {
        try Task.checkCancellation()
        guard let operation = state.withLock({ $0.pending.popFirst() }) else { return nil }
        let place = "the bridge \(B.self)"
        var message = try client.client.message(for: operation, place: place)
        message.isRead = true
        message.priority = options.transfer.priority.rawValue
        let source = Redaction.url(message.url)
        try note(message, source)
        let transport = client.client.transport(for: endpoint, logger: options.transfer.logger), sent = message
        let response: TransportResponse
        do {
            response = try await (pageDeadline ?? deadline).run(method: message.method, url: source) {
                try await transport.send(sent)
            }
        } catch {
            let failure = MirrorError(error, url: source, place: place)
            if case .cancelled = failure { throw CancellationError() }
            throw failure
        }
        let answer = try bridge.answer(response, to: operation)
        state.withLock { $0.pending += answer.next }
        return Step(operation: operation, response: response, answer: answer, source: source)
    }

    /// Notes an operation that is about to be sent.
    ///
    /// - Throws: `RemoteError` if it was sent before, or if there are too many.
    private func note(_ message: TransportRequest, _ source: String) throws {
        let limit = client.client.options.pageLimit
        let sent = Sent(
            method: message.method, url: message.url, fields: message.headers.fields.map { "\($0.name): \($0.value)" },
            body: message.body)
        let (isFull, isNew) = state.withLock { state in
            state.seen.count < limit ? (false, state.seen.insert(sent).inserted) : (true, true)
        }
        guard !isFull else { throw RemoteError("more than \(limit) operations for one request") }
        guard isNew else { throw RemoteError("loop: the same operation is to be sent again: \(source)") }
    }
}

/// A request with the endpoint and the options that its operations have through any bridge.
protocol DescribedRequest: Sendable {
    var endpoint: Endpoint { get }
    var options: RequestOptions { get }
}

extension RecordRequest: DescribedRequest {}

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
