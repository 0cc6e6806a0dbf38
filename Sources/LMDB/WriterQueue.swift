// The fair lock in front of the write mutex, for threads and processes.
//
// liblmdb has one mutex for all writers, and it is not fair: a process that writes back to back
// takes it again before a waiting process has woken up, and starves that process for seconds.
// Therefore a writer holds `turn.lock` while it waits for the mutex, and releases `turn.lock` when
// it has the mutex. The previous writer then queues behind the one that waits for the mutex.

import CLMDB
import Glibc
import Locking

/// The fair lock of one environment: a lock between threads, then `flock` on `turn.lock`.
///
/// `flock` belongs to the open file description, so the threads of a process that share the
/// descriptor need a lock of their own. The system releases it when the process ends: a killed
/// process leaves nothing to clean up, even if a child that it has forked lives on.
final class WriterQueue: Sendable {
    private let threads = Lock()
    private let file: LockDescriptor
    private let directory: String

    /// - Throws: `LMDBError`, such as `.permission`, if the file cannot be opened or created.
    init(directory: String) throws(LMDBError) {
        self.directory = directory
        let path = directory + "/turn.lock"
        let descriptor = FileMode.openFile(path, in: directory, O_RDWR | O_NONBLOCK)
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        file = LockDescriptor(descriptor)
    }

    /// Runs the body, which waits for liblmdb's mutex, while holding the lock.
    func take<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
        threads.lock()
        defer { threads.unlock() }
        return try WriterWait.noted(in: directory) { () throws(LMDBError) in
            let descriptor = file.number
            while flock(descriptor, LOCK_EX) != 0 {
                guard errno == EINTR else { throw LMDBError(code: errno, operation: "begin") }
            }
            defer { flock(descriptor, LOCK_UN) }
            return try body()
        }
    }
}
