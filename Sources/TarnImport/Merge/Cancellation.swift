import Synchronization
internal import TarnStore

/// Whether the task that waits for a commit was cancelled: the writer's thread cannot ask it.
final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func check() throws(CancellationError) {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
