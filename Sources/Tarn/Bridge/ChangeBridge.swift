import TarnHTTP

/// The change side of a bridge, without the types of its requests.
struct ChangeBridge: Sendable {
    /// One operation of a change.
    struct Step: Sendable {
        var operation: RemoteOperation<Void>
        var answer: @Sendable (TransportResponse) throws -> Answer
    }

    /// The meaning of a response.
    struct Answer: Sendable {
        var parts: [RemotePart]
        /// The operations that follow.
        var next: [Step]
        /// The errors that the server reports beside data.
        var errors: [RemoteError]
    }

    let steps: @Sendable (RemoteChange) throws -> [Step]

    init<B: Bridge>(_ bridge: B) {
        @Sendable func step(_ operation: RemoteOperation<B.Info>) -> Step {
            Step(
                operation: RemoteOperation(
                    operation.method, operation.url, headers: operation.headers, body: operation.body, info: ())
            ) { response in
                let answer = try bridge.answer(response, to: operation)
                return Answer(parts: answer.parts, next: answer.next.map(step), errors: answer.errors)
            }
        }
        steps = { change in try bridge.operations(for: change).map(step) }
    }
}

/// A bridge whose changes are the declared requests: an outbox sends them as without a bridge.
protocol DeclaredChangeBridge {}

extension Outbox {
    /// Returns the outbox whose operations a bridge turns into requests.
    ///
    /// The description, or the program, declares the changes that an entity has, and what their
    /// bodies contain; the bridge decides what is sent. The outbox does the rest: order, attempts,
    /// back-off, dead letters, the server's keys. If an answer of the bridge throws, the server has
    /// refused the operation for good. ``RESTBridge`` sends the declared requests, as an outbox
    /// without a bridge does; with another bridge, a conflict that the server reports is a refusal.
    ///
    /// If a change has several operations and one fails, all of them are sent again, from the
    /// first: each has a key of its own, by which a server that honours keys repeats its answer.
    public func sending(through bridge: some Bridge) -> Outbox {
        var outbox = self
        outbox.bridge = bridge is any DeclaredChangeBridge ? nil : ChangeBridge(bridge)
        return outbox
    }
}
