// The writes that wait for the store's writer thread, in the order in which they came.
//
// One thread does all of them, whoever asks. An LMDB write transaction has to begin and end on one thread, and here it
// cannot do otherwise; a closure runs on the same thread whether others wait or not, so that nothing depends on load; an
// async caller blocks no thread of its pool; and no caller's thread works for others. The price is two changes of threads
// for a lone blocking write, which is small beside a durable commit.

import Foundation

/// A write that waits, with its result's type forgotten.
protocol PendingWrite: AnyObject, Sendable {
    var store: Store { get }
    /// Whether it must have a transaction of its own.
    var isAlone: Bool { get }
    /// Runs the closure. Called once at most.
    func run(_ writer: inout StoreWriter) throws
    /// Delivers the closure's result, or the error. Called once.
    func finish(_ failure: (any Error)?)
}

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

/// A write with its closure and the way back to its caller.
final class Write<Value>: PendingWrite, @unchecked Sendable {
    // Used by one thread at a time: the caller's until it is added to the queue, then the writer's.
    /// Kept alive by the caller, who waits. Not by this: after the delivery the caller's reference may be the last one.
    unowned(unsafe) let store: Store
    let isAlone: Bool
    private var body: ((inout StoreWriter) throws -> Value)?
    private var value: Value?
    private let deliver: (Result<Value, any Error>) -> Void

    init(
        _ store: Store, isAlone: Bool, _ body: @escaping (inout StoreWriter) throws -> Value,
        deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        self.store = store
        self.isAlone = isAlone
        self.body = body
        self.deliver = deliver
    }

    func run(_ writer: inout StoreWriter) throws {
        guard let body else { return }
        value = try body(&writer)
    }

    func finish(_ failure: (any Error)?) {
        // A closure that a caller lent is let go before the caller goes on.
        body = nil
        if let failure {
            deliver(.failure(failure))
        } else if let value {
            deliver(.success(value))
        }
    }
}

/// Where a blocking caller waits for its result, and for the closure if it has to run on its own thread.
final class Delivery<Value>: @unchecked Sendable {
    // Guarded by the condition.
    private let condition = NSCondition()
    private var result: Result<Value, any Error>?
    private var job: (() throws -> Value)?
    private var jobResult: Result<Value, any Error>?

    func give(_ result: Result<Value, any Error>) {
        condition.lock()
        defer { condition.unlock() }
        self.result = result
        condition.broadcast()
    }

    /// Lets the caller run a closure while it waits. Called on the writer's thread, which waits for the closure.
    func runByCaller(_ job: @escaping () throws -> Value) throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        self.job = job
        condition.broadcast()
        while true {
            if let jobResult {
                self.jobResult = nil
                return try jobResult.get()
            }
            condition.wait()
        }
    }

    func wait() throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            if let job {
                self.job = nil
                condition.unlock()
                let done = Result(catching: job)
                condition.lock()
                jobResult = done
                condition.broadcast()
                continue
            }
            condition.wait()
        }
    }
}
