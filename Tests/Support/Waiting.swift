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
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
