import Locking
import TestSupport

@testable import TarnService

/// A queue whose only turn is taken, so that others have to wait.
struct RefreshQueueProbe {
    private let queue = RefreshQueue(1)

    /// The order in which waiters of priorities have their turns.
    func order(of priorities: [ScheduledRefresh.Priority]) async throws -> [ScheduledRefresh.Priority] {
        try await queue.take(.normal)
        let order = Guarded<[ScheduledRefresh.Priority]>([])
        var tasks: [Task<Void, any Error>] = []
        for (place, priority) in priorities.enumerated() {
            tasks.append(
                Task { [queue] in
                    try await queue.take(priority)
                    order.withLock { $0.append(priority) }
                    queue.release()
                })
            try await eventually("a waiter") { queue.waiting == place + 1 }
        }
        queue.release()
        for task in tasks { try await task.value }
        return order.withLock(\.self)
    }
}
