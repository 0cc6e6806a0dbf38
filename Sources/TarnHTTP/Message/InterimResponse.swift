/// An interim response, which precedes the final one, such as 103 (RFC 9110 §15.2).
package struct InterimResponse: Sendable, Hashable {
    /// The status code: 100 to 199, except 101.
    package var status: Int
    /// The header fields of the interim response.
    package var headers: TransportHeaders

    /// Creates an interim response.
    init(status: Int, headers: TransportHeaders = TransportHeaders()) {
        self.status = status
        self.headers = headers
    }

    /// Runs a closure and reports the interim responses to the requests that it sends.
    ///
    /// The interim responses to a request are reported in order, before the final response is
    /// returned. They are reported on a thread of the transport, which `receive` must not block.
    /// 101 is not reported.
    ///
    /// ``CurlTransport`` supports it. A request that shares the transfer of another one (in
    /// `CachedTransport`) reports nothing. A transfer that continues after the closure has
    /// returned, such as a revalidation in the background, still reports.
    ///
    ///     let page = try await InterimResponse.receiving { print($0.status) } while: {
    ///         try await transport.send(request)
    ///     }
    package static func receiving<Result>(
        _ receive: @escaping @Sendable (InterimResponse) -> Void, isolation: isolated (any Actor)? = #isolation,
        while body: () async throws -> Result
    ) async rethrows -> Result {
        try await $receiver.withValue(Receiver(receive), operation: body)
    }

    /// The closure in a task-local value.
    ///
    /// It needs a class: the optimizer of Swift 6.3 loses the type of a closure that is a
    /// task-local value, and the process crashes.
    final class Receiver: Sendable {
        let receive: @Sendable (InterimResponse) -> Void

        init(_ receive: @escaping @Sendable (InterimResponse) -> Void) { self.receive = receive }
    }

    @TaskLocal static var receiver: Receiver?
}
