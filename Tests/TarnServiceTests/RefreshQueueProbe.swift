import Locking
@_spi(TestKit) import ServiceLifecycle
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

    /// Shuts groups down while tasks ask for their turns.
    ///
    /// - Returns: when all of them have ended, in each round.
    static func shutDown(rounds: Int) async throws {
        for _ in 0..<rounds {
            let manager = GracefulShutdownManager(), queue = RefreshQueue(1)
            try await queue.take(.normal)
            await TaskLocals.$gracefulShutdownManager.withValue(manager) {
                await withTaskGroup(of: Void.self) { group in
                    for place in 0..<64 {
                        if place == 32 { group.addTask { manager.shutdownGracefully() } }
                        group.addTask {
                            guard (try? await queue.take(.normal)) != nil else { return }
                            queue.release()
                        }
                    }
                }
            }
        }
    }
}
