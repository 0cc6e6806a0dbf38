// Background work that no answer waits for, such as revalidation: one task per key at a time.

import Locking

/// Background tasks by key.
final class BackgroundTasks: Sendable {
    private let underWay = Guarded<[[UInt8]: Task<Void, Never>]>([:])

    /// Starts a task, unless one with the same key is under way.
    func start(_ key: [UInt8], _ body: @escaping @Sendable () async -> Void) {
        underWay.withLock { underWay in
            guard underWay[key] == nil else { return }
            underWay[key] = Task {
                await body()
                self.underWay.withLock { _ = $0.removeValue(forKey: key) }
            }
        }
    }

    /// Cancels all tasks that are under way.
    func cancel() {
        for task in underWay.withLock({ Array($0.values) }) { task.cancel() }
    }

    /// Waits for all tasks that are under way.
    func finish() async {
        while let task = underWay.withLock({ $0.values.first }) { await task.value }
    }
}
