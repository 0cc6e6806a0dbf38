// One transfer for all who ask for the same at the same time, in this process.

import Synchronization

/// Tasks by what they fetch.
final class Flights<Value: Sendable>: Sendable {
    private let underWay = Mutex<[[UInt8]: Task<Value, any Error>]>([:])

    /// The task that fetches something, or a new one. It goes on if those who wait for it give up.
    ///
    /// - Returns: the task, and whether it was under way already.
    func task(_ key: [UInt8], _ body: @escaping @Sendable () async throws -> Value) -> (task: Task<Value, any Error>, isShared: Bool) {
        underWay.withLock { underWay in
            if let task = underWay[key] { return (task, true) }
            let task = Task {
                defer { self.underWay.withLock { _ = $0.removeValue(forKey: key) } }
                return try await body()
            }
            underWay[key] = task
            return (task, false)
        }
    }

    /// Waits for everything that is under way.
    func finish() async {
        while let task = underWay.withLock({ $0.values.first }) { _ = await task.result }
    }
}
