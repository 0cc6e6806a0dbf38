// A thread of the system: questions are synchronous, and the program starts without Foundation.

import Glibc
import Synchronization

/// A closure that runs on a thread of its own. Must be joined.
///
/// `@unchecked`: its creator must not use the state of the closure before `join` returns.
final class SecondThread: @unchecked Sendable {
    private let body: () -> Void
    private var thread = pthread_t()
    private var isRunning = false
    private let isDone = Atomic(false)

    /// Starts the closure.
    ///
    /// - Parameter isNeeded: Whether it runs before this returns if the system has no thread to
    ///   give. Otherwise it does not run then.
    init(isNeeded: Bool = true, _ body: @escaping () -> Void) {
        self.body = body
        let own = Unmanaged.passRetained(self)
        isRunning =
            pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let own = Unmanaged<SecondThread>.fromOpaque(argument).takeRetainedValue()
                    own.body()
                    own.isDone.store(true, ordering: .releasing)
                    return nil
                }, own.toOpaque()) == 0
        guard !isRunning else { return }
        own.release()
        if isNeeded { body() }
    }

    /// Waits for the end of the closure.
    ///
    /// - Parameter waiting: A closure that is called every few milliseconds.
    func join(_ waiting: () -> Void = {}) {
        guard isRunning else { return }
        isRunning = false
        while !isDone.load(ordering: .acquiring) {
            waiting()
            usleep(2000)
        }
        pthread_join(thread, nil)
    }
}
