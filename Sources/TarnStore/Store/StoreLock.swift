// `store.lock`: says that the store is open, and to which namespace of process ids its users belong.

import Foundation
internal import LMDB

/// Held shared by every open store, exclusively by who needs the store to itself.
///
/// liblmdb recognises the readers of its table by process id. Two containers with their own namespaces have processes of the
/// same id: one would free the other's slot, and pages that are still being read would be written over. So the first to open
/// the store records its namespace here, and one of another namespace is refused as long as anyone has it open.
///
/// Beside it stands which file `lock.mdb` is. If it is deleted while the store is open, the next process would make a new one, and share neither
/// the mutex of writers nor the table of readers with those that have the old one: it is refused as long as they have the store open.
final class StoreLock: Sendable {
    private let descriptor: Int32

    /// How long an opening waits for another that is just recording its namespace, and whoever wants the store alone for a child of this or
    /// another process that was just forked: it shares the lock until it runs its own program.
    private static let patience = Duration.seconds(1)

    /// - Parameters:
    ///   - isReadOnly: whether the store is opened for reading only: a lock file that may not be written is then `.cannotLock`, not `.permission`.
    ///   - namespace: what the calling process is in; nil if the system does not say.
    /// - Throws: `.storeInUse` if another process has the store to itself, `.pidNamespaceConflict`; `.lmdb` with `.cannotLock` or `.permission`, with
    ///   `.fileReplaced` if `lock.mdb` is not the one that other processes have open, and if the record cannot be written.
    init(directory: String, isReadOnly: Bool = false, namespace: UInt64? = StoreLock.processNamespace) throws(StoreError) {
        let path = directory + "/store.lock"
        var descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, FileMode.inside(directory))
        let code = errno
        // The lock itself needs no right to write, only its record does.
        if descriptor < 0 { descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        // Closed by `deinit`, also after an error below: everything is initialised from here on.
        self.descriptor = descriptor
        guard descriptor >= 0 else { throw StoreLock.failure(code, path, isReadOnly) }
        let end = ContinuousClock.now + StoreLock.patience
        while true {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Alone: whatever is recorded is of processes that have gone.
                try record(namespace, Environment.lockFile(in: directory, creating: true), path, isReadOnly)
                // The change to a shared lock is not atomic (flock(2)): another opening may come in between.
                if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            } else if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                let recorded = recorded()
                if let found = recorded.namespace, let namespace, found != namespace { throw .pidNamespaceConflict(path: directory) }
                guard let lockFile = recorded.lockFile, lockFile != Environment.lockFile(in: directory, creating: false)?.text else { return }
                // Unless the others have closed it by now: then the next attempt is alone.
                flock(descriptor, LOCK_UN)
                guard ContinuousClock.now < end else {
                    throw .lmdb(LMDBError(.fileReplaced, operation: "open", path: directory + "/lock.mdb"))
                }
            }
            guard ContinuousClock.now < end else { throw .storeInUse(path: directory, by: users()) }
            usleep(2000)
        }
    }

    private static func failure(_ code: Int32, _ path: String, _ isReadOnly: Bool) -> StoreError {
        var error = LMDBError(code: code, operation: "lock", path: path)
        if isReadOnly, error.kind == .permission { error.kind = .cannotLock }
        return .lmdb(error)
    }

    /// Has the store alone: nobody else has it open, and nobody opens it meanwhile.
    ///
    /// - Throws: `.storeInUse`, after a second, if somebody has it open; `.lmdb` if the lock cannot be made.
    init(exclusively directory: String) throws(StoreError) {
        descriptor = Glibc.open(directory + "/store.lock", O_RDWR | O_CREAT | O_CLOEXEC, FileMode.inside(directory))
        guard descriptor >= 0 else { throw .lmdb(LMDBError(code: errno, operation: "open", path: directory + "/store.lock")) }
        let end = ContinuousClock.now + StoreLock.patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < end else { throw .storeInUse(path: directory, by: users()) }
            usleep(2000)
        }
        // Whoever has the file open without Tarn holds the lock of LMDB only.
        if let user = StoreLock.user(ofLock: directory + "/lock.mdb") { throw .storeInUse(path: directory, by: [ProcessTable.describe(user)]) }
    }

    /// Who has the lock file of LMDB open: every user of an environment holds a lock on its first byte (mdb.c, `mdb_env_share_locks`).
    /// Not to be called while this process is one of them: closing the file drops its locks.
    private static func user(ofLock path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        guard fcntl(descriptor, F_GETLK, &range) == 0, range.l_type != Int16(F_UNLCK), range.l_pid > 0 else { return nil }
        return range.l_pid
    }

    /// The processes that hold the lock.
    private func users() -> [String] { ProcessTable.holders(ofFile: descriptor).map(ProcessTable.describe) }

    deinit {
        guard descriptor >= 0 else { return }
        // A process that another thread starts shares the lock between fork and exec: closing alone would not end it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The namespace of process ids that this process is in (pid_namespaces(7)): the inode of its link in /proc.
    static var processNamespace: UInt64? {
        var status = stat()
        guard stat("/proc/self/ns/pid", &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }

    /// Writes only what is not there yet, so that a full disk keeps nobody from opening a store.
    private func record(_ namespace: UInt64?, _ lockFile: FileIdentity?, _ path: String, _ isReadOnly: Bool) throws(StoreError) {
        // The namespace is last, where earlier versions look for it.
        let text = (lockFile.map { "lock file \($0.text)\n" } ?? "") + "pid namespace \(namespace.map(String.init) ?? "unknown")\n"
        guard content() != text else { return }
        let count = pwrite(descriptor, text, text.utf8.count, 0)
        var code: Int32 = count == text.utf8.count ? 0 : count < 0 ? errno : EIO
        // The rest of a longer one before it.
        if code == 0, ftruncate(descriptor, off_t(text.utf8.count)) != 0 { code = errno }
        // Of a descriptor that is only for reading.
        guard code == 0 else { throw StoreLock.failure(code == EBADF ? EACCES : code, path, isReadOnly) }
    }

    private func content() -> String {
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// What the record says; nil for what is missing.
    private func recorded() -> (namespace: UInt64?, lockFile: String?) {
        let lines = content().split(separator: "\n").map { $0.split(separator: " ") }
        return (
            lines.last?.last.flatMap { UInt64($0) },
            lines.first { $0.count == 3 && $0[0] == "lock" && $0[1] == "file" }.map { String($0[2]) }
        )
    }
}
