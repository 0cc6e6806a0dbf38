import Locking

/// A pool of idle contexts. At most 32 are kept.
final class RowContextPool: Sendable {
    private struct Idle: @unchecked Sendable {
        // A context belongs to one transaction at a time: the one that took it from the pool.
        var contexts: [RowContext] = []
    }

    private struct Transfer: @unchecked Sendable {
        let context: RowContext?
    }

    private static let capacity = 32
    private let idle = Guarded(Idle())

    func take() -> RowContext? {
        idle.withLock { Transfer(context: $0.contexts.popLast()) }.context ?? RowContext()
    }

    func give(back context: RowContext) {
        context.reset()
        let item = Transfer(context: context)
        idle.withLock { idle in
            if idle.contexts.count < RowContextPool.capacity, let context = item.context {
                idle.contexts.append(context)
            }
        }
    }
}
