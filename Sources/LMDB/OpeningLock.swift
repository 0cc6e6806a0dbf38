// One process at a time opens an environment.

import CLMDB
import Glibc
import Locking

/// A lock on the directory of an environment, held while the environment is opened.
///
/// In liblmdb, the process that finds the lock file unlocked initialises the reader table, and a
/// process that waits for the lock relies on that. But `LockFile` and `UnfinishedFile` take the
/// same lock and initialise nothing. A process that waits for them would find an empty reader table
/// (`MDB_INVALID`), and while it looks at it, the other one would find the file locked.
///
/// The system releases the lock when the process ends.
struct OpeningLock: ~Copyable {
    private let file: LockDescriptor

    /// Waits for other processes that open the environment.
    ///
    /// A directory that cannot be opened or locked is opened without: the files in it will say why.
    init(directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        file = LockDescriptor(descriptor)
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_EX) != 0 { guard errno == EINTR else { return } }
    }

    deinit {
        // Closing alone does not unlock: a child process between fork and exec shares the lock.
        if file.number >= 0 { flock(file.number, LOCK_UN) }
    }
}
