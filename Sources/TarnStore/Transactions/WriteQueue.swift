// The writes that wait for the store's writer thread, in the order in which they came.
//
// One thread does all of them, whoever asks. An LMDB write transaction has to begin and end on one thread, and here it
// cannot do otherwise; a closure runs on the same thread whether others wait or not, so that nothing depends on load; an
// async caller blocks no thread of its pool; and no caller's thread works for others. The price is two changes of threads
// for a lone blocking write, which is small beside a durable commit.

import Foundation

/// The writes of one store. The thread is started with the first, and ends when the store has gone.
final class WriteQueue: @unchecked Sendable {
    // Everything below is guarded by the condition.
    private let condition = NSCondition()
    private var waiting: [any PendingWrite] = []
    /// The waiting ones before this index have been taken.
    private var taken = 0
    private var isStarted = false
    private var isClosed = false
    /// How many writes have to wait before the writer is woken.
    private var wanted = 1
    /// How many writes were committed together the last time, and how long that took. Of the writer thread.
    var lastGroup = (count: 1, time: Duration.zero)

    func add(_ write: any PendingWrite) {
        condition.lock()
        defer { condition.unlock() }
        waiting.append(write)
        if isStarted {
            if waiting.count - taken >= wanted || write.isAlone { condition.signal() }
        } else {
            isStarted = true
            let thread = Thread { [self] in serve() }
            thread.name = "tarn.write"
            // A closure may go deep, as it may on the caller's thread.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    /// Ends the thread when nothing waits any more.
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

    /// Waits until that many writes wait, or one that wants to be alone, but not longer than a time.
    func await(_ count: Int, atMost time: Duration) {
        condition.lock()
        defer { condition.unlock() }
        wanted = count
        defer { wanted = 1 }
        let end = Date(timeIntervalSinceNow: time / .seconds(1))
        while waiting.count - taken < count, !isClosed, !(waiting.last?.isAlone ?? false) {
            guard condition.wait(until: end) else { return }
        }
    }

    /// The next write, if it is there and may be committed together with others.
    func takeCompanion() -> (any PendingWrite)? {
        condition.lock()
        defer { condition.unlock() }
        guard taken < waiting.count, !waiting[taken].isAlone else { return nil }
        return take()
    }

    /// Whether a write waits that may be committed together with others.
    var hasCompanion: Bool {
        condition.lock()
        defer { condition.unlock() }
        return taken < waiting.count && !waiting[taken].isAlone
    }

    /// How many writes wait.
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
