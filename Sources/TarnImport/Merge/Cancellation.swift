import Synchronization

/// The cancellation of the task that awaits a commit, readable by the writer's thread.
final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func check() throws(CancellationError) {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
