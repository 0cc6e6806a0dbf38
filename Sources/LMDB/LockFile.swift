// The lock file of an environment: allocated before liblmdb maps it, and identified afterwards.

import CLMDB
import Glibc
import Locking

/// `lock.mdb`: the reader table and the mutexes that processes share.
///
/// liblmdb creates the file with `ftruncate` and maps it. On a full disk, the first access to an
/// unallocated page ends the process with SIGBUS. Therefore the whole file is allocated first.
enum LockFile {
    static let name = "lock.mdb"

    /// Returns the size of a reader table in bytes.
    ///
    /// Two cache lines hold the mutexes, and one holds each slot (mdb.c, `MDB_txninfo`).
    private static func size(slots: Int) -> off_t { off_t(128 + 64 * max(1, slots)) }

    /// Creates the lock file if it is missing, and allocates all of it.
    ///
    /// The environment must not be open in this process: closing a descriptor of the file drops the
    /// process's locks.
    ///
    /// - Returns: The identity of the file that liblmdb is about to map, and the number of the last
    ///   commit that it has; nil if another process has the environment open, or if it has none.
    /// - Throws: `LMDBError`: `.cannotLock` if a reader may not write to it, `.permission` if a
    ///   writer may not, `.diskFull`, `.notAFile`.
    static func prepare(
        in directory: String, options: Environment.Options
    ) throws(LMDBError) -> (file: FileIdentity, lastTransaction: Int?) {
        let path = directory + "/" + name
        func failure(_ code: Int32) -> LMDBError {
            var error = LMDBError(code: code, operation: "lock", path: path)
            if options.isReadOnly, error.kind == .permission { error.kind = .cannotLock }
            return error
        }
        let descriptor = FileMode.openFile(path, in: directory, O_RDWR | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw LMDBError(.notAFile, operation: "lock", path: path) }
        // A reader table in use must not grow: other processes have mapped its present size.
        var needed = size(slots: options.maximumReaders), last: Int?
        if lock(descriptor, F_WRLCK, F_SETLK) {
            last = lastTransaction(descriptor)
        } else {
            // The process that creates the reader table holds the lock exclusively until it is
            // complete.
            while !lock(descriptor, F_RDLCK, F_SETLKW) { guard errno == EINTR else { throw failure(errno) } }
            guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
            needed = status.st_size
        }
        while needed > 0, tarn_allocate(descriptor, max(needed, status.st_size)) != 0 {
            if errno == EINTR { continue }
            // The file system lacks the call: a lack of space only appears when the file is used.
            if errno == EOPNOTSUPP || errno == ENOSYS { break }
            throw failure(errno)
        }
        return (FileIdentity(status), last)
    }

    /// The place of the last commit's number, behind the mutex of the first cache line (mdb.c,
    /// `MDB_txbody`), and the number that begins the file (`MDB_MAGIC`).
    private static let lastTransactionOffset = off_t(8 + MemoryLayout<pthread_mutex_t>.size)
    private static let magic: UInt32 = 0xBEEF_C0DE

    /// Returns the number of the last commit; nil if the file has none.
    private static func lastTransaction(_ descriptor: Int32) -> Int? {
        var start: UInt32 = 0, number: UInt64 = 0
        guard pread(descriptor, &start, 4, 0) == 4, start == magic,
            pread(descriptor, &number, 8, lastTransactionOffset) == 8
        else { return nil }
        return Int(exactly: number)
    }

    /// Removes the number of the last commit, before a data file of other numbers takes the place
    /// of the present one. The environment must not be open.
    fileprivate static func forgetLastTransaction(in directory: String) {
        let descriptor = open(directory + "/" + name, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var number: UInt64 = 0
        pwrite(descriptor, &number, 8, lastTransactionOffset)
    }

    /// The descriptors of ``writer(in:)``.
    private static let readable = Guarded<[FileIdentity: Int32]>([:])

    /// Returns the thread that holds the write mutex; 0 if none does, or if that is unknown.
    ///
    /// The mutex begins the second cache line of the file (mdb.c, `MDB_txninfo`). glibc keeps the
    /// thread in the low 30 bits of its first word, as the kernel needs it to find the owner of a
    /// robust mutex (futex(2), `FUTEX_TID_MASK`).
    ///
    /// The descriptor stays open, for later calls: closing it would drop the locks of this process.
    static func writer(in directory: String) -> Int32 {
        let path = directory + "/" + name
        guard let file = FileIdentity(path: path) else { return 0 }
        let descriptor = readable.withLock { readable in
            if let known = readable[file] { return known }
            let new = open(path, O_RDONLY | O_CLOEXEC)
            if new >= 0 { readable[file] = new }
            return new
        }
        var word: UInt32 = 0
        guard descriptor >= 0, pread(descriptor, &word, 4, 64) == 4 else { return 0 }
        return Int32(word & 0x3FFF_FFFF)
    }

    /// Returns the occupied slots in the lock file of a data file without a directory of its own
    /// (`MDB_NOSUBDIR`), and the number of the last commit; nil if it has no lock file.
    ///
    /// Each slot has a cache line behind the first two: transaction, process, thread (mdb.c,
    /// `MDB_rxbody`). The process must not have the environment open.
    ///
    /// - Throws: The system's error if the lock file cannot be opened.
    fileprivate static func readers(
        ofFile path: String
    ) throws(LMDBError) -> (slots: [ReaderSlot], lastTransaction: Int)? {
        let descriptor = open(path + "-lock", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw LMDBError(code: errno, operation: "lock", path: path + "-lock")
        }
        defer { close(descriptor) }
        var used: UInt32 = 0
        guard let last = lastTransaction(descriptor), pread(descriptor, &used, 4, lastTransactionOffset + 8) == 4 else {
            return nil
        }
        var slots: [ReaderSlot] = []
        // A damaged file may declare any number: reading ends with the file.
        for number in 0..<off_t(used) {
            var slot: (transaction: UInt64, process: Int32, rest: Int32) = (0, 0, 0)
            let offset = 128 + 64 * number
            guard withUnsafeMutableBytes(of: &slot, { pread(descriptor, $0.baseAddress, 16, offset) }) == 16 else {
                break
            }
            if slot.process > 0 {
                slots.append(ReaderSlot(processID: slot.process, transaction: Int(exactly: slot.transaction)))
            }
        }
        return (slots, last)
    }

    /// Returns whether a file begins with a meta page.
    fileprivate static func isData(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start: UInt32 = 0
        // Behind the header of the page (mdb.c, `MDB_meta`).
        return pread(descriptor, &start, 4, 16) == 4 && start == magic
    }

    /// Takes the lock that liblmdb itself uses, on the first byte (mdb.c, `mdb_env_excl_lock`).
    private static func lock(_ descriptor: Int32, _ kind: Int32, _ operation: Int32) -> Bool {
        var range = flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        return fcntl(descriptor, operation, &range) == 0
    }
}

extension Environment {
    /// Returns the readers of a data file without a directory of its own; nil if it has no lock
    /// file.
    package static func readers(
        ofFile path: String
    ) throws(LMDBError) -> (slots: [ReaderSlot], lastTransaction: Int)? {
        try LockFile.readers(ofFile: path)
    }

    /// Returns whether a file begins with a meta page of LMDB.
    package static func isData(_ path: String) -> Bool { LockFile.isData(path) }

    /// Prepares the replacement of a directory's data file by one with the same content.
    ///
    /// Its transactions may have lower numbers: it does not count as an older file. No process may
    /// have the environment open.
    package static func willReplaceData(in directory: String) { LockFile.forgetLastTransaction(in: directory) }

    /// Returns the lock file of a directory; nil if there is none.
    ///
    /// - Parameter creating: Whether a missing file is created, empty; liblmdb fills it when it
    ///   opens the environment.
    package static func lockFile(in directory: String, creating: Bool) -> FileIdentity? {
        let path = directory + "/" + LockFile.name
        // Only a new file is opened: closing a file that is open elsewhere here would drop its
        // locks.
        if creating {
            let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FileMode.inside(directory))
            if descriptor >= 0 {
                FileMode.adopt(descriptor, in: directory)
                close(descriptor)
            }
        }
        return FileIdentity(path: path)
    }
}
