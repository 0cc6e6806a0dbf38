// Ways to wait for other threads and processes.

import Foundation

/// A wait that was in vain.
package struct WaitedInVain: Error, CustomStringConvertible {
    package var description: String
}

/// Waits until a condition is true, two minutes at most, without blocking a thread of the pool.
package func eventually(_ what: String = "a condition", _ condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw WaitedInVain(description: "waited in vain for: \(what)") }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Runs a blocking closure on its own thread, because the pool has few threads.
///
/// It is part of the task: what it expects is reported for the test.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withTaskExecutorPreference(ThreadExecutor()) { try await concurrently(body) }
}

/// Runs on the preferred executor.
@concurrent
private func concurrently<Result: Sendable>(_ body: @Sendable () throws -> Result) async throws -> Result {
    try body()
}

/// Runs each job on a thread of its own.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
