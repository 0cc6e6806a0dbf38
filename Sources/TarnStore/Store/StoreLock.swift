// `store.lock`: marks the store as open, and records the PID namespace of its users.

import Foundation
internal import LMDB
import Locking

/// The lock of a store: shared by every open store, exclusive for maintenance such as compaction.
///
/// liblmdb identifies the readers of its table by process id. Processes in two containers may have
/// the same id: one would free the other's slot, and pages that are still being read would be
/// overwritten. The first process that opens the store therefore records its PID namespace here.
/// While the store is open, processes of other namespaces are refused.
///
/// The file also records the identity of `lock.mdb`. If `lock.mdb` is deleted while the store is
/// open, the next process would create a new one, and share neither the writers' mutex nor the
/// readers' table with the others. It is refused while they have the store open.
final class StoreLock: Sendable {
    private let file: LockDescriptor
    private var descriptor: Int32 { file.number }

    /// The time to wait for short holders of the lock.
    /// An opening waits for another one that is recording its namespace. An exclusive lock waits
    /// for a forked child of any process, which shares the lock until it calls exec.
    private static let patience = Duration.seconds(1)

    /// Takes the lock shared.
    ///
    /// - Parameters:
    ///   - isReadOnly: Opens the store for reading only. A read-only lock file is then
    ///     `.cannotLock`, not `.permission`.
    ///   - namespace: The PID namespace of the calling process; nil if the system does not report
    ///     it.
    /// - Throws: `.storeInUse` if another process has the lock exclusively,
    ///   `.pidNamespaceConflict`; `.lmdb` with `.cannotLock` or `.permission`, with `.fileReplaced`
    ///   if `lock.mdb` is not the file that other processes have open, or if the record cannot be
    ///   written.
    init(directory: String, isReadOnly: Bool = false, namespace: UInt64? = StoreLock.processNamespace)
        throws(StoreOpenError)
    {
        let path = directory + "/store.lock"
        var descriptor = FileMode.openFile(path, in: directory, O_RDWR | O_NONBLOCK)
        let code = descriptor < 0 ? errno : 0
        // Locking needs no write permission, only the record does.
        if descriptor < 0 { descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        // All properties are set from here on: the file is closed even after an error.
        file = LockDescriptor(descriptor)
        guard descriptor >= 0, code != EISDIR else { throw StoreLock.failure(code, path, isReadOnly) }
        let end = ContinuousClock.now + StoreLock.patience
        while true {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // The lock is exclusive, so any existing record is of processes that have exited.
                do throws(LMDBError) {
                    try record(namespace, Environment.lockFile(in: directory, creating: true), path)
                } catch {
                    // EBADF: the descriptor is read-only, for the reason of the first attempt.
                    throw StoreLock.failure(error.code == EBADF ? code : error.code, path, isReadOnly)
                }
                // Converting to a shared lock is not atomic (flock(2)): another opening may get it
                // in between.
                if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            } else if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                let recorded = recorded()
                if let found = recorded.namespace, let namespace, found != namespace {
                    throw .pidNamespaceConflict(path: directory)
                }
                guard let lockFile = recorded.lockFile,
                    lockFile != Environment.lockFile(in: directory, creating: false)?.text
                else { return }
                // If the others close the store in between, the next attempt gets it exclusively.
                flock(descriptor, LOCK_UN)
                guard ContinuousClock.now < end else {
                    throw .store(.lmdb(LMDBError(.fileReplaced, operation: "open", path: directory + "/lock.mdb")))
                }
            }
            guard ContinuousClock.now < end else { throw .storeInUse(path: directory, by: users()) }
            usleep(2000)
        }
    }

    private static func failure(_ code: Int32, _ path: String, _ isReadOnly: Bool) -> StoreOpenError {
        var error = LMDBError(code: code, operation: "lock", path: path)
        if isReadOnly, error.kind == .permission { error.kind = .cannotLock }
        return .store(.lmdb(error))
    }

    /// Takes the lock exclusively: no other process has the store open, or can open it.
    ///
    /// - Throws: `.storeInUse`, after a second, if another process has it open; `.lmdb` if the file
    ///   cannot be opened.
    init(exclusively directory: String) throws(StoreOpenError) {
        file = LockDescriptor(FileMode.openFile(directory + "/store.lock", in: directory, O_RDWR))
        guard descriptor >= 0 else {
            throw StoreLock.failure(errno, directory + "/store.lock", false)
        }
        let end = ContinuousClock.now + StoreLock.patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < end else { throw .storeInUse(path: directory, by: users()) }
            usleep(2000)
        }
        // A process that opened the environment without Tarn holds only LMDB's lock.
        if let user = StoreLock.user(ofLock: directory + "/lock.mdb") {
            throw .storeInUse(path: directory, by: [ProcessTable.describe(user)])
        }
    }

    /// Returns the id of a process that has LMDB's lock file open. Nil if there is none.
    /// Every user of an environment locks the first byte of that file (mdb.c,
    /// `mdb_env_share_locks`). Must not be called if this process is a user: closing the file drops
    /// its locks.
    private static func user(ofLock path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        guard fcntl(descriptor, F_GETLK, &range) == 0, range.l_type != Int16(F_UNLCK), range.l_pid > 0 else {
            return nil
        }
        return range.l_pid
    }

    /// The processes that hold the lock.
    private func users() -> [String] { ProcessTable.holders(ofFile: descriptor).map(ProcessTable.describe) }

    deinit {
        // Closing alone does not unlock: a child process between fork and exec shares the lock.
        if descriptor >= 0 { flock(descriptor, LOCK_UN) }
    }

    /// The PID namespace of this process (pid_namespaces(7)): the inode of its link in /proc.
    static var processNamespace: UInt64? {
        var status = stat()
        guard stat("/proc/self/ns/pid", &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }

    /// Writes the record if it differs, so that a store can still be opened on a full disk.
    private func record(_ namespace: UInt64?, _ lockFile: FileIdentity?, _ path: String) throws(LMDBError) {
        // The namespace comes last, where earlier versions read it.
        let text =
            (lockFile.map { "lock file \($0.text)\n" } ?? "")
            + "pid namespace \(namespace.map(String.init) ?? "unknown")\n"
        guard content() != text else { return }
        let count = pwrite(descriptor, text, text.utf8.count, 0)
        var code: Int32 = count == text.utf8.count ? 0 : count < 0 ? errno : EIO
        // Removes the end of a longer record.
        if code == 0, ftruncate(descriptor, off_t(text.utf8.count)) != 0 { code = errno }
        guard code == 0 else { throw LMDBError(code: code, operation: "lock", path: path) }
    }

    private func content() -> String {
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Reads the record. A missing part is nil.
    private func recorded() -> (namespace: UInt64?, lockFile: String?) {
        let lines = content().split(separator: "\n").map { $0.split(separator: " ") }
        return (
            lines.last?.last.flatMap { UInt64($0) },
            lines.first { $0.count == 3 && $0[0] == "lock" && $0[1] == "file" }.map { String($0[2]) }
        )
    }
}
