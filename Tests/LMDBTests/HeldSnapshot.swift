// A snapshot held on its own thread, for calls that block while a child process starts.

import Foundation
import Glibc
import LMDB
import Locking

/// Begins a read on its own thread, and ends it on request.
final class HeldSnapshot: @unchecked Sendable {
    // Guarded by the condition.
    private let condition = NSCondition()
    private var isHeld = false
    private var isOver = false

    init(_ environment: Environment) throws {
        let thread = Thread { [self] in
            try? environment.read { _ in
                condition.lock()
                defer { condition.unlock() }
                isHeld = true
                condition.broadcast()
                while !isOver { condition.wait() }
            }
            condition.lock()
            isHeld = false
            condition.broadcast()
            condition.unlock()
        }
        thread.start()
        condition.lock()
        defer { condition.unlock() }
        while !isHeld { condition.wait() }
    }

    /// Returns when the read has ended.
    func end() {
        condition.lock()
        defer { condition.unlock() }
        isOver = true
        condition.broadcast()
        while isHeld { condition.wait() }
    }
}
