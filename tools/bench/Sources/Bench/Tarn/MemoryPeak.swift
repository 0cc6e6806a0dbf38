// The most memory that a piece of work needs.

import Foundation
import Synchronization

/// Samples the memory of the process on its own thread: the memory of a commit is free again when
/// it returns.
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
