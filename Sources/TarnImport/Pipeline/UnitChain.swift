import Synchronization
internal import TarnStore

/// What units of a pipeline that follow each other have in common: after one that failed none is committed.
final class UnitChain: Sendable {
    private let isBroken = Atomic(false)
    private let training = Mutex(())

    var hasFailed: Bool { isBroken.load(ordering: .acquiring) }
    func fail() { isBroken.store(true, ordering: .releasing) }
    func mend() { isBroken.store(false, ordering: .releasing) }

    /// Trains dictionaries, unless another unit does.
    func train(_ store: Store) throws {
        _ = try training.withLockIfAvailable { _ in try store.trainDictionaries() }
    }
}
