// A value behind a lock that the thread sanitizer can see.

import Foundation

/// A value that is read and written under a lock only.
///
/// Not `Synchronization.Mutex`: the part of it that waits lies in a library without instrumentation, and the thread
/// sanitizer reports races between contended critical sections (seen with Swift 6.3.1 on Linux). NSLock is a pthread
/// mutex, which the sanitizer follows.
///
/// `@unchecked`: `value` is touched in `withLock` alone, while the lock is held, and the value does not leave it except
/// as the result of a closure.
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
