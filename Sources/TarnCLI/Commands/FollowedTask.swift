/// A task that runs until it is interrupted.
enum FollowedTask {
    /// Runs the closure in a task that SIGINT, SIGTERM and SIGHUP cancel.
    ///
    /// - Throws: The closure's error; `Failure` with `.interrupted` after a cancellation.
    static func run(_ body: @escaping () async throws -> Void) async throws { try await value(body) }

    /// Returns the value of a closure, which runs in such a task.
    static func value<Value: Sendable>(_ body: @escaping () async throws -> Value) async throws -> Value {
        nonisolated(unsafe) let body = body
        // Signal handlers come first: a reader of the output may send a signal at once.
        let (begin, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in begin { break }
            return try await body()
        }
        let interrupts = Interrupts { task.cancel() }
        defer { interrupts.stop() }
        beginning.yield()
        beginning.finish()
        let value = try await task.value
        if task.isCancelled { throw Failure(.interrupted, "") }
        return value
    }
}
