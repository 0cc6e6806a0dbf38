// Whose turn it is to begin a write transaction, among threads and processes.
//
// liblmdb has one mutex for all writers, and a mutex is not fair: a process that writes back to back takes it again before
// one that waits has woken up, and starves it for seconds. So there is a turnstile in front of it: whoever wants to write
// holds `turn.lock` while it waits for the mutex, and lets go as soon as it has it. The last writer, when it comes again,
// has to queue at the turnstile, behind the one that is waiting for the mutex.

import CLMDB
import Glibc

/// The turnstile of one environment: a thread passes one lock, then the process passes `flock` on `turn.lock`.
///
/// `flock` belongs to the open file description, so that one descriptor does for a process only behind a lock of its own;
/// and it ends with the process that held it: a killed one leaves nothing to clean up.
final class WriterTurn: Sendable {
    private let threads = Lock()
    private let descriptor: Int32

    /// - Throws: `.permission` and the like, if the file cannot be opened or made.
    init(directory: String) throws(LMDBError) {
        let path = directory + "/turn.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, FileMode.inside(directory))
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    }

    deinit { close(descriptor) }

    /// Runs the body, which waits for liblmdb's mutex, when it is this thread's turn.
    func take<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
        threads.lock()
        defer { threads.unlock() }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw LMDBError(code: errno, operation: "begin") }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
