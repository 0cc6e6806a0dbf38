/// A response that comes before the response, such as 103 (RFC 9110 §15.2).
public struct InterimResponse: Sendable, Hashable {
    /// The status code: 100 to 199, but for 101.
    public var status: Int
    /// Its own: the response's come later.
    public var headers: HTTPHeaders

    /// An interim response.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }

    /// Lets a closure send requests, and tells another one of the interim responses to them: of each in its order, before the request's answer
    /// is returned, on a thread of the transport, which it must not hold up. Of 101 nobody is told.
    ///
    /// ``CurlTransport`` does so; who shares the transfer of somebody else (`CachedTransport`) is told of nothing. What is still under way when the
    /// closure has returned, such as a revalidation in the background, is told of all the same.
    ///
    ///     let page = try await InterimResponse.receiving { print($0.status) } while: { try await transport.send(request) }
    public static func receiving<Result>(
        _ receive: @escaping @Sendable (InterimResponse) -> Void, isolation: isolated (any Actor)? = #isolation, while body: () async throws -> Result
    ) async rethrows -> Result {
        try await $receiver.withValue(Receiver(receive), operation: body)
    }

    /// A class: the optimizer of Swift 6.3 loses the type of a closure that is a task-local value, and the process dies.
    final class Receiver: Sendable {
        let receive: @Sendable (InterimResponse) -> Void

        init(_ receive: @escaping @Sendable (InterimResponse) -> Void) { self.receive = receive }
    }

    @TaskLocal static var receiver: Receiver?
}
