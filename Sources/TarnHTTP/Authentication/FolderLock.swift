// A lock of the processes that replace a file.

import Glibc
import Locking

/// A lock of the folder of a file (flock(2)).
///
/// The file itself is replaced: a lock of it would be a lock of its predecessor. The system
/// releases the lock of a process that ends.
final class FolderLock: Sendable {
    private let folder: LockDescriptor

    private init(_ folder: Int32) { self.folder = LockDescriptor(folder) }

    /// Takes the lock of a file's folder.
    ///
    /// - Parameter patience: the time after which another holder is considered stuck.
    /// - Returns: nil if there is no lock: after that time, or on a file system without locks.
    static func take(around path: String, patience: Duration = .seconds(120)) async -> FolderLock? {
        let file = PrivateFile.target(of: path)
        let name = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        let lock = FolderLock(folder), end = ContinuousClock.now + patience
        while flock(folder, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else { return nil }
            // A detached lifetime: the sleep of a cancelled task would end at once.
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return nil }
        }
        return lock
    }
}
