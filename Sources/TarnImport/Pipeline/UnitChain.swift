import Locking
import Synchronization
internal import TarnStore

/// The shared state of a pipeline's units: after a failure, no later unit is committed.
final class UnitChain: Sendable {
    private let isBroken = Atomic(false)
    private let training = Lock()
    private let hasTrained = Atomic(false)

    var hasFailed: Bool { isBroken.load(ordering: .acquiring) }
    func fail() { isBroken.store(true, ordering: .releasing) }
    func mend() { isBroken.store(false, ordering: .releasing) }

    /// Returns true for the first unit that may train from its drafts.
    func takesTraining() -> Bool { !hasTrained.exchange(true, ordering: .relaxed) }

    /// Trains dictionaries from the drafts of a unit, unless another unit is training.
    func train(_ store: Store, from importer: Importer) throws {
        guard training.lockIfAvailable() else { return }
        defer { training.unlock() }
        try importer.trainDictionaries(store)
    }

    /// Trains dictionaries, unless another unit is training.
    func train(_ store: Store) throws {
        guard training.lockIfAvailable() else { return }
        defer { training.unlock() }
        try store.trainDictionaries()
    }
}
