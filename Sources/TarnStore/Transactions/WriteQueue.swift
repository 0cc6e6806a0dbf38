// The queue of writes for the store's writer thread.
//
// One thread runs all writes, for these reasons. An LMDB write transaction must begin and end on
// one thread, and here nothing else is possible. A closure runs on the same thread under any load.
// An async caller blocks no thread of its pool. No caller's thread works for other callers. The
// price for a lone blocking write is two thread switches, which is little beside a durable commit.

internal import LMDB
import Locking

/// The queued writes of a store. The thread starts with the first write, and exits after `close`.
final class WriteQueue: @unchecked Sendable {
    // The condition guards all properties except `lastGroup`.
    private let condition = ConditionVariable()
    private var waiting: [any PendingWrite] = []
    /// Writes before this index have been taken.
    private var taken = 0
    private var isStarted = false
    private var isClosed = false
    /// The number of queued writes at which the writer is woken.
    private var wanted = 1
    /// The size and duration of the last group. Used by the writer thread only.
    var lastGroup = (count: 1, time: Duration.zero)

    /// Queues a write.
    ///
    /// - Throws: `LMDBError` if the system refuses the thread. The write is not queued then, and
    ///   the next one asks for the thread again.
    func add(_ write: any PendingWrite) throws(LMDBError) {
        condition.lock()
        defer { condition.unlock() }
        waiting.append(write)
        if isStarted {
            if waiting.count - taken >= wanted || write.isAlone { condition.signal() }
        } else {
            // A closure may need as deep a stack as on the caller's thread.
            let code = SystemThread.start(named: "tarn.write", stackSize: 8 << 20) { [self] in serve() }
            guard code == 0 else {
                waiting.removeLast()
                throw LMDBError(code: code, operation: "thread")
            }
            isStarted = true
        }
    }

    /// Stops the thread when the queue is empty.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        condition.signal()
    }

    private func serve() {
        while serveOne() {}
    }

    private func serveOne() -> Bool {
        guard let first = waitForFirst() else { return false }
        for (write, failure) in first.store.commit(startingWith: first, from: self) { write.finish(failure) }
        return true
    }

    private func waitForFirst() -> (any PendingWrite)? {
        condition.lock()
        defer { condition.unlock() }
        while taken == waiting.count {
            if isClosed { return nil }
            condition.wait()
        }
        return take()
    }

    /// Waits for a number of queued writes, or for one that requires its own transaction.
    ///
    /// - Parameter time: The longest wait.
    func await(_ count: Int, atMost time: Duration) {
        condition.lock()
        defer { condition.unlock() }
        wanted = count
        defer { wanted = 1 }
        let end = ContinuousClock.now + time
        while waiting.count - taken < count, !isClosed, !(waiting.last?.isAlone ?? false) {
            guard condition.wait(atMost: end - .now) else { return }
        }
    }

    /// Takes the next write if it may share a transaction. Nil if there is none.
    func takeCompanion() -> (any PendingWrite)? {
        condition.lock()
        defer { condition.unlock() }
        guard taken < waiting.count, !waiting[taken].isAlone else { return nil }
        return take()
    }

    /// Indicates that the next queued write may share a transaction.
    var hasCompanion: Bool {
        condition.lock()
        defer { condition.unlock() }
        return taken < waiting.count && !waiting[taken].isAlone
    }

    /// The number of queued writes.
    var count: Int {
        condition.lock()
        defer { condition.unlock() }
        return waiting.count - taken
    }

    private func take() -> any PendingWrite {
        let write = waiting[taken]
        taken += 1
        if taken == waiting.count {
            waiting.removeAll(keepingCapacity: taken <= 1024)
            taken = 0
        } else if taken >= 1024 {
            waiting.removeFirst(taken)
            taken = 0
        }
        return write
    }
}
