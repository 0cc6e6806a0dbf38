// `store.lock`: says that the store is open, and to which namespace of process ids its users belong.

import Foundation
internal import LMDB

/// Held shared by every open store, exclusively by who needs the store to itself.
///
/// liblmdb recognises the readers of its table by process id. Two containers with their own namespaces have processes of the
/// same id: one would free the other's slot, and pages that are still being read would be written over. So the first to open
/// the store records its namespace here, and one of another namespace is refused as long as anyone has it open.
final class StoreLock: Sendable {
    /// -1 where the file cannot be written: on a medium that nobody can write to, nobody needs the lock.
    private let descriptor: Int32

    /// How long an opening waits for another that is just recording its namespace, and whoever wants the store alone for a child of this or
    /// another process that was just forked: it shares the lock until it runs its own program.
    private static let patience = Duration.seconds(1)

    /// - Parameter namespace: what the calling process is in; nil if the system does not say.
    /// - Throws: `.storeInUse` if another process has the store to itself, `.pidNamespaceConflict`; `.lmdb` if the namespace
    ///   cannot be recorded.
    init(directory: String, namespace: UInt64? = StoreLock.processNamespace) throws(StoreError) {
        let descriptor = Glibc.open(directory + "/store.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        // Closed by `deinit`, also after an error below: everything is initialised from here on.
        self.descriptor = descriptor
        guard descriptor >= 0 else { return }
        let end = ContinuousClock.now + StoreLock.patience
        while true {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Alone: whatever is recorded is of processes that have gone.
                try record(namespace, directory)
                // The change to a shared lock is not atomic (flock(2)): another opening may come in between.
                if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            } else if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                guard let recorded = recorded(), let namespace, recorded != namespace else { return }
                throw .pidNamespaceConflict(path: directory)
            }
            guard ContinuousClock.now < end else { throw .storeInUse(path: directory, by: users()) }
            usleep(2000)
        }
    }

    /// Has the store alone: nobody else has it open, and nobody opens it meanwhile.
    ///
    /// - Throws: `.storeInUse`, after a second, if somebody has it open; `.lmdb` if the lock cannot be made.
    init(exclusively directory: String) throws(StoreError) {
        descriptor = Glibc.open(directory + "/store.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
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
        if descriptor >= 0 { close(descriptor) }
    }

    /// The namespace of process ids that this process is in (pid_namespaces(7)): the inode of its link in /proc.
    static var processNamespace: UInt64? {
        var status = stat()
        guard stat("/proc/self/ns/pid", &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }

    /// Writes only what is not there yet, so that a full disk keeps nobody from opening a store.
    private func record(_ namespace: UInt64?, _ directory: String) throws(StoreError) {
        let text = "pid namespace \(namespace.map(String.init) ?? "unknown")\n"
        guard content() != text else { return }
        let count = pwrite(descriptor, text, text.utf8.count, 0)
        var code: Int32 = count == text.utf8.count ? 0 : count < 0 ? errno : EIO
        // The rest of a longer one before it.
        if code == 0, ftruncate(descriptor, off_t(text.utf8.count)) != 0 { code = errno }
        guard code == 0 else { throw .lmdb(LMDBError(code: code, operation: "open", path: directory + "/store.lock")) }
    }

    private func content() -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Nil for a record that is missing or says nothing.
    private func recorded() -> UInt64? {
        content().split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0) }
    }
}
