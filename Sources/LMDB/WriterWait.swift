// Reports of writes that wait for another process for long.

import Glibc
import Locking
import Synchronization

/// The wait of a write of this process for the write mutex of an environment.
///
/// A process that is stopped inside of a write holds up all others, and nothing tells them which
/// process that is: liblmdb's wait has no end and no report.
package enum WriterWait {
    /// Receives the directory of the environment and the thread that holds its write mutex; 0 if
    /// that is unknown.
    package typealias Report = @Sendable (_ directory: String, _ thread: Int32) -> Void

    private struct State {
        var report: Report?
        var delay = 0.0
        /// Whether the thread that looks at waits is there.
        var isWatched = false
        /// The number of times in a row that it has found no wait.
        var idle = 0
        /// The waits: threads may wait for several environments at a time.
        var waits: [Int: Wait] = [:]
        var lastWait = 0
    }

    private struct Wait {
        /// The directory of the environment that is waited for.
        var directory: String
        var since: Double
        var isReported = false
    }

    private static let isReported = Atomic<Bool>(false)
    private static let state = Guarded(State())

    /// From now on, a wait that lasts longer than the delay, in seconds, is reported once, on a
    /// thread of its own.
    package static func report(after delay: Double, _ report: @escaping Report) {
        state.withLock {
            $0.report = report
            $0.delay = delay
        }
        isReported.store(true, ordering: .relaxed)
    }

    /// Runs the body, which waits for the write mutex.
    static func noted<Result>(
        in directory: String, _ body: () throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        guard isReported.load(ordering: .relaxed) else { return try body() }
        let wait = begin(directory)
        defer { state.withLock { $0.waits[wait] = nil } }
        return try body()
    }

    /// Notes a wait, and returns its number.
    private static func begin(_ directory: String) -> Int {
        let now = seconds()
        let (wait, isFirst) = state.withLock { state in
            state.lastWait += 1
            state.waits[state.lastWait] = Wait(directory: directory, since: now)
            let isFirst = !state.isWatched
            state.isWatched = true
            state.idle = 0
            return (state.lastWait, isFirst)
        }
        if isFirst { watch() }
        return wait
    }

    private static func watch() {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { _ in
                repeat { usleep(200_000) } while WriterWait.check()
                return nil
            }, nil)
        if code == 0 { pthread_detach(thread) } else { state.withLock { $0.isWatched = false } }
    }

    /// Reports the waits that have become long.
    ///
    /// - Returns: false if there was none for a second: the thread ends, and the next wait begins
    ///   another one.
    private static func check() -> Bool {
        let now = seconds()
        let isWatched = state.withLock { state in
            state.idle = state.waits.isEmpty ? state.idle + 1 : 0
            state.isWatched = state.idle < 5
            return state.isWatched
        }
        guard isWatched else { return false }
        let (report, due) = state.withLock { state in
            var due: [String] = []
            for (number, wait) in state.waits where !wait.isReported && now - wait.since >= state.delay {
                state.waits[number]?.isReported = true
                due.append(wait.directory)
            }
            return (state.report, due)
        }
        for directory in due { report?(directory, LockFile.writer(in: directory)) }
        return true
    }

    private static func seconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
