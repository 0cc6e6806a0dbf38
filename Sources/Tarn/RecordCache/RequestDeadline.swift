import TarnHTTP

/// The end of the time that a call may take, with its waits and retries.
struct RequestDeadline: Sendable {
    /// The time that the call may take.
    let limit: Duration
    private let end: ContinuousClock.Instant

    /// Creates a deadline from now on.
    init(_ limit: Duration) {
        self.limit = min(limit, .seconds(1 << 32))
        end = .now + self.limit
    }

    /// The error of a call that has not ended in time.
    func error(method: String, url: String) -> MirrorError {
        .transport(
            TransportError(
                .timeout, method: method, url: url, detail: "no answer within \(limit), the deadline of the call"))
    }

    /// Runs a closure until the deadline, and cancels it then.
    ///
    /// - Throws: what the closure throws; `MirrorError.transport` at the deadline.
    func run<Result: Sendable>(
        method: String, url: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let error = error(method: method, url: url)
        guard .now < end else { throw error }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask { [end] in
                try await Task.sleep(until: end, clock: .continuous)
                throw error
            }
            guard let result = try await group.next() else { throw error }
            return result
        }
    }
}

extension RequestDeadline? {
    /// Runs a closure until the deadline, if there is one.
    func run<Result: Sendable>(
        method: String, url: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let deadline = self else { return try await body() }
        return try await deadline.run(method: method, url: url, body)
    }
}
