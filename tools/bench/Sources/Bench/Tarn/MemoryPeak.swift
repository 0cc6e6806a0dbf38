// The most memory that a piece of work needs.

import Foundation
import Synchronization

/// Looks at the memory of the process again and again, on a thread of its own: what a commit needs is gone when it returns.
final class MemoryPeak: Sendable {
    private let isEnding = Atomic(false)
    private let most = Mutex<Result<Double, any Error>>(.success(0))
    private let ended = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [self] in
            while !isEnding.load(ordering: .relaxed) {
                let found = Result { try TarnMemory.resident("RssAnon") }
                most.withLock { most in
                    if case .success(let before) = most { most = found.map { max($0, before) } }
                }
                usleep(5000)
            }
            ended.signal()
        }
        thread.start()
    }

    func end() throws -> Double {
        isEnding.store(true, ordering: .relaxed)
        ended.wait()
        return try most.withLock { try $0.get() }
    }
}
