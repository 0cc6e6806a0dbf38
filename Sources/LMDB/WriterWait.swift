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
        /// The directory of the environment that is waited for, and since when.
        var waiting: (directory: String, since: Double)?
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
        begin(directory)
        defer { state.withLock { $0.waiting = nil } }
        return try body()
    }

    private static func begin(_ directory: String) {
        let now = seconds()
        let isFirst = state.withLock { state in
            state.waiting = (directory, now)
            let isFirst = !state.isWatched
            state.isWatched = true
            state.idle = 0
            return isFirst
        }
        guard isFirst else { return }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { _ in
                repeat { usleep(200_000) } while WriterWait.check()
                return nil
            }, nil)
        if code == 0 { pthread_detach(thread) } else { state.withLock { $0.isWatched = false } }
    }

    /// Reports the wait if it is a long one.
    ///
    /// - Returns: false if there was none for a second: the thread ends, and the next wait begins
    ///   another one.
    private static func check() -> Bool {
        let now = seconds()
        let isWatched = state.withLock { state in
            state.idle = state.waiting == nil ? state.idle + 1 : 0
            state.isWatched = state.idle < 5
            return state.isWatched
        }
        guard isWatched else { return false }
        let due: (Report, String)? = state.withLock {
            guard let waiting = $0.waiting, let report = $0.report, now - waiting.since >= $0.delay else { return nil }
            // Once for each wait.
            $0.waiting?.since = .infinity
            return (report, waiting.directory)
        }
        if let (report, directory) = due { report(directory, LockFile.writer(in: directory)) }
        return true
    }

    private static func seconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
