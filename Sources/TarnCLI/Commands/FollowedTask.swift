import Tarn

/// What goes on until it is interrupted.
enum FollowedTask {
    /// Runs the closure in a task that SIGINT and SIGTERM cancel; being cancelled ends the process with the code for that.
    static func run(_ body: @escaping () async throws -> Void) async throws {
        nonisolated(unsafe) let body = body
        // Signals are handled before anything is written: a reader of the output may send one at once.
        let (begin, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in begin { break }
            try await body()
        }
        let interrupts = Interrupts { task.cancel() }
        defer { interrupts.stop() }
        beginning.yield()
        beginning.finish()
        try await task.value
        if task.isCancelled { throw Failure(.interrupted, "") }
    }
}
