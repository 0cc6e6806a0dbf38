// A lock around a value that the thread sanitizer recognizes.

import Foundation

/// A value that is accessed under a lock only.
///
/// `Synchronization.Mutex` is unsuitable: its waiting part is located in a library without
/// instrumentation, and the thread sanitizer reports races between contended critical sections
/// (seen with Swift 6.3.1 on Linux). NSLock is a pthread mutex, which the sanitizer follows.
///
/// `@unchecked`: only `withLock` accesses `value`, while it holds the lock. The value leaves it
/// only as the result of a closure.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
    }

    /// Runs the closure with the value. Not reentrant.
    func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
