import Foundation

/// The point where a blocking caller waits for its result.
/// If the closure must run on the caller's thread, it runs here.
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

    /// Makes the waiting caller run a closure.
    /// Called on the writer's thread, which waits for the end of the closure.
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
