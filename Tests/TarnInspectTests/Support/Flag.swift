import Foundation

/// A flag that ends a thread of a test, and waits until the thread has ended.
final class Flag: @unchecked Sendable {
    // Guarded by its condition.
    private let condition = NSCondition()
    private var isStopping = false, hasEnded = false
    var isSet: Bool { condition.withLock { isStopping } }
    func set() {
        condition.lock()
        isStopping = true
        while !hasEnded { condition.wait() }
        condition.unlock()
    }
    func end() {
        condition.withLock { hasEnded = true }
        condition.broadcast()
    }
}
