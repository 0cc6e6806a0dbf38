// One LMDB file, opened once in this process, with its map, its tables and its readers.

import CLMDB
import Glibc
import Locking
import Synchronization

/// One LMDB environment: a directory with `data.mdb` and `lock.mdb`.
///
/// A file has one `Environment` in a process, under any path: opening the file again returns the
/// same object (liblmdb loses its locks if a file is opened twice; lmdb.h, "Caveats"). It is closed
/// when the last reference is released. All threads may use it; see ``read(_:)`` and ``write(_:)``.
public final class Environment: Sendable {
    /// The guarantee that a returned `write` gives against loss of power.
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        /// A committed transaction survives a loss of power.
        case full
        /// A loss of power may undo the last transactions (`MDB_NOMETASYNC`).
        ///
        /// The file stays consistent.
        case relaxed
        /// A loss of power may damage the file (`MDB_NOSYNC`); for files that can be recreated.
        case volatile
    }

    /// The options for opening an environment.
    public struct Options: Sendable, Hashable {
        /// The mode of the files that this opening creates, reduced by the process's umask.
        package var fileMode: mode_t = 0o600
        /// The guarantee of a returned `write` against loss of power.
        public var durability: Durability
        /// Whether the environment refuses writes.
        public var isReadOnly: Bool
        /// Whether the file is read without locks, because nothing changes it while it is open.
        ///
        /// For read-only media. It implies `isReadOnly`. Writers do not see a reader without locks,
        /// and reuse pages that it still reads. If a commit may have reused such a page, the `read`
        /// throws `.notImmutable`, and the values that its closure has read until then are
        /// undefined.
        public var isImmutable: Bool
        /// Whether a missing directory or file is created.
        public var creates: Bool
        /// The bytes of address space to reserve.
        ///
        /// The size is halved until the system grants it, but not below `minimumMapSize`. If the
        /// process has many environments open, the next ones begin with less: see
        /// ``OpenEnvironments/share(besides:)``.
        public var mapSize: Int
        /// The lower bound of `mapSize`, in bytes.
        public var minimumMapSize: Int
        /// The maximum number of named tables.
        public var maximumTables: Int
        /// The number of slots of the reader table, if this opening creates it.
        public var maximumReaders: Int
        /// Whether a file on a network file system is opened anyway; see ``FileSystemKind``.
        public var allowsNetworkFileSystem: Bool
        /// Whether snapshots are read along their pages in the map, where that is faster.
        ///
        /// Otherwise liblmdb makes every step. The results are the same.
        public var readsPagesDirectly: Bool
        /// Whether opening keeps the slots of dead readers, for a caller that lists them.
        package var keepsDeadReaders = false

        /// Creates options; `isImmutable` implies `isReadOnly`.
        ///
        /// - Parameter readsPagesDirectly: Nil is true, unless the environment variable
        ///   `TARN_DIRECT_READS` is `0`.
        public init(
            durability: Durability = .full, isReadOnly: Bool = false, creates: Bool = true, mapSize: Int = 1 << 40,
            minimumMapSize: Int = 1 << 30, maximumTables: Int = 300, maximumReaders: Int = 1024,
            allowsNetworkFileSystem: Bool = false, isImmutable: Bool = false, readsPagesDirectly: Bool? = nil
        ) {
            self.durability = durability
            self.isReadOnly = isReadOnly || isImmutable
            self.isImmutable = isImmutable
            self.creates = creates
            self.mapSize = mapSize
            self.minimumMapSize = min(minimumMapSize, mapSize)
            self.maximumTables = maximumTables
            self.maximumReaders = maximumReaders
            self.allowsNetworkFileSystem = allowsNetworkFileSystem
            self.readsPagesDirectly = readsPagesDirectly ?? DirectReads.isDefault
        }
    }

    /// The directory, as passed to the first `open`.
    public let path: String
    /// The absolute path of the directory: the process may change its working directory.
    package let absolutePath: String
    /// The options of the first `open`.
    public let options: Options
    package let file: FileIdentity
    /// Whether the directory now has another data file, or none. This environment still reads the
    /// file that it opened.
    package var isReplaced: Bool { FileIdentity(path: absolutePath + "/data.mdb") != file }
    /// liblmdb's environment is thread-safe. It is closed in `deinit`, after the last transaction.
    nonisolated(unsafe) let env: OpaquePointer
    let readers = ReaderPool()
    /// Marks the threads that are inside a transaction of this environment.
    let threadDepth: ThreadDepth
    let forks: Int
    /// The fair lock before the write mutex; nil if the environment is read-only.
    let turn: WriterQueue?
    /// The lock file that liblmdb has mapped; nil without locks.
    let lockFile: FileIdentity?
    /// The directory in which the files are verified before each write, and for observers; nil
    /// if the environment is immutable.
    let directory: OpenDirectory?
    private let openingLock = Lock()
    /// Held during a transaction that opens tables.
    let tableLock = Lock()
    /// The last page of the file at the latest check for dead readers.
    let checkedPage = Atomic<Int>(0)

    /// The files and the queue of an environment that is being opened.
    private struct Files {
        var lock: FileIdentity?
        var directory: OpenDirectory?
        var turn: WriterQueue?
    }

    private init(
        _ env: OpaquePointer, path: String, options: Options, file: FileIdentity, files: Files, threadDepth: ThreadDepth
    ) {
        self.path = path
        absolutePath = Environment.absolute(path)
        self.options = options
        self.file = file
        self.env = env
        self.threadDepth = threadDepth
        turn = files.turn
        lockFile = files.lock
        directory = files.directory
        forks = ForkCounter.current
    }

    deinit {
        // A forked child must not close what it inherited: that would drop the parent's reader
        // slots.
        guard forks == ForkCounter.current else { return }
        readers.close()
        threadDepth.delete()
        OpenEnvironments.close(file) { mdb_env_close(env) }
    }

    /// Opens the environment in a directory, or returns it if it is already open in this process.
    ///
    /// The file's size, meta pages and roots are checked first. Damage in inner pages is not found:
    /// reading a damaged inner page through liblmdb may end the process.
    ///
    /// - Throws: `LMDBError`: `.noSuchFile` (if `creates` is false), `.notAFile`, `.severalNames`
    ///   (unless it is opened read-only), `.notAnEnvironment`, `.truncated`, `.corrupted`,
    ///   `.permission`, `.cannotLock`, `.diskFull`, `.networkFileSystem`, `.optionsConflict`,
    ///   `.fileReplaced`.
    public static func open(at path: String, options: Options = Options()) throws(LMDBError) -> Environment {
        ForkCounter.start()
        var options = options
        if options.isImmutable { options.isReadOnly = true }
        return try OpenEnvironments.open(
            path: path, options: options,
            lock: { [options] () throws(LMDBError) -> OpeningLock? in try lockOpening(path, options) },
            create: { [options] (others) throws(LMDBError) -> Environment in
                try create(path: path, options: options, besides: others)
            })
    }

    /// Makes the directory if it is missing, and waits for other processes that open it.
    private static func lockOpening(_ path: String, _ options: Options) throws(LMDBError) -> OpeningLock? {
        try options.check(FileSystemKind(path: path), path: path)
        try makeDirectory(path, for: path + "/data.mdb", options)
        return options.isImmutable ? nil : OpeningLock(directory: path)
    }

    /// Returns a path that does not depend on the working directory; the same one if that is
    /// unknown, or not UTF-8: its text would lead elsewhere.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(validatingCString: folder).map { $0 + "/" + path } ?? path
    }

    /// The bytes of address space to ask for: less if many environments are open, and at least four
    /// times the size of the file.
    private static func mapSize(of dataPath: String, _ options: Options, besides others: Int) -> Int {
        var status = stat()
        let size = stat(dataPath, &status) == 0 ? min(Int(status.st_size), 1 << 44) : 0
        let least = max(options.minimumMapSize, 4 * size)
        // liblmdb wants whole pages.
        return min(options.mapSize, max(OpenEnvironments.share(besides: others), (least + 0xffff) & ~0xffff))
    }

    private static func create(
        path: String, options: Options, besides others: Int
    ) throws(LMDBError) -> Environment {
        let dataPath = path + "/data.mdb"
        let isNew = try prepareData(dataPath, in: path, options)
        // In an existing environment, a new file gets the mode of the data file.
        let mode = access(dataPath, F_OK) == 0 ? FileMode.inside(path) : options.fileMode
        var files = Files()
        if options.isReadOnly {
            // Only observers look at it.
            if !options.isImmutable { files.directory = try? OpenDirectory(path: path) }
        } else {
            files.directory = try OpenDirectory(path: path)
            files.turn = try WriterQueue(directory: path)
        }
        var lastTransaction: Int?
        if !options.isImmutable {
            let prepared = try LockFile.prepare(in: path, options: options)
            (files.lock, lastTransaction) = (prepared.file, prepared.lastTransaction)
        }
        var mapSize = mapSize(of: dataPath, options, besides: others), attempts = foreignOpenings
        while true {
            let (code, env) = openOnce(path: path, options: options, mapSize: mapSize, mode: mode)
            if let env {
                // liblmdb does not set close-on-exec (ITS#8579); a service's children must not hold
                // the file.
                var descriptor: Int32 = -1
                if mdb_env_get_fd(env, &descriptor) == 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
                if isNew, options.durability != .volatile, let error = flushNewFile(env, path) {
                    mdb_env_close(env)
                    throw error
                }
                let lockPath = path + "/" + LockFile.name
                if let lock = files.lock, FileIdentity(path: lockPath) != lock {
                    mdb_env_close(env)
                    throw LMDBError(.fileReplaced, operation: "open", path: lockPath)
                }
                guard let file = FileIdentity(path: dataPath), let threadDepth = ThreadDepth() else {
                    mdb_env_close(env)
                    throw LMDBError(.other, operation: "open", path: path)
                }
                let environment = Environment(
                    env, path: path, options: options, file: file, files: files, threadDepth: threadDepth)
                if !options.keepsDeadReaders { environment.freeSlotsOfDeadReaders() }
                if let lastTransaction, lastTransaction > environment.lastTransaction { OlderDataFile.note(in: path) }
                return environment
            }
            if code == ENOMEM, mapSize / 2 >= options.minimumMapSize {
                mapSize /= 2
            } else if code == MDB_INVALID || code == EINVAL, attempts > 0 {
                // The data file was checked, so the reader table is not initialised, or empty: a
                // program that does not know `OpeningLock` opens the environment as well.
                attempts -= 1
                usleep(.random(in: 100...5000))
            } else {
                throw LMDBError(code: code, operation: "open", path: path)
            }
        }
    }

    /// The number of attempts to open an environment that other programs open at the same time.
    private static let foreignOpenings = 40

    /// Makes the directory for a new environment.
    private static func makeDirectory(_ path: String, for dataPath: String, _ options: Options) throws(LMDBError) {
        guard access(dataPath, F_OK) != 0 else { return }
        guard options.creates && !options.isReadOnly else {
            throw LMDBError(
                errno == ENOENT ? .noSuchFile : LMDBError(code: errno, operation: "").kind, operation: "open",
                path: dataPath)
        }
        if mkdir(path, FileMode.directory(for: options.fileMode)) != 0 && errno != EEXIST {
            throw LMDBError(code: errno, operation: "open", path: path)
        }
    }

    /// Checks the data file.
    ///
    /// - Returns: whether liblmdb initialises the file.
    private static func prepareData(
        _ dataPath: String, in path: String, _ options: Options
    ) throws(LMDBError) -> Bool {
        guard access(dataPath, F_OK) == 0 else { return true }
        try DataFile.checkKind(path: dataPath)
        if !options.isReadOnly {
            try DataFile.checkNames(path: dataPath)
            try UnfinishedFile.empty(in: path)
        }
        try DataFile.check(path: dataPath)
        var status = stat()
        guard stat(dataPath, &status) == 0, status.st_size == 0 else { return false }
        // liblmdb would write the meta pages.
        guard !options.isReadOnly else { throw LMDBError(.notAnEnvironment, operation: "open", path: dataPath) }
        return true
    }

    /// Flushes the meta pages of a new file to the disk before anything is written behind them.
    ///
    /// A loss of power may keep later writes and lose earlier ones. A new file without meta pages
    /// cannot be distinguished from a file that has lost them.
    private static func flushNewFile(_ env: OpaquePointer, _ path: String) -> LMDBError? {
        let code = mdb_env_sync(env, 1)
        guard code == 0 else { return LMDBError(code: code, operation: "open", path: path) }
        let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        fsync(directory)
        close(directory)
        return nil
    }

    private static func openOnce(path: String, options: Options, mapSize: Int, mode: mode_t) -> (Int32, OpaquePointer?)
    {
        var created: OpaquePointer?
        var code = mdb_env_create(&created)
        guard code == 0, let env = created else { return (code, nil) }
        // A read transaction without a thread can be pooled and renewed.
        var flags = UInt32(MDB_NOTLS)
        if options.isReadOnly { flags |= UInt32(MDB_RDONLY) }
        if options.isImmutable { flags |= UInt32(MDB_NOLOCK) }
        switch options.durability {
        case .full: break
        case .relaxed: flags |= UInt32(MDB_NOMETASYNC)
        case .volatile: flags |= UInt32(MDB_NOSYNC)
        }
        code = mdb_env_set_mapsize(env, mapSize)
        if code == 0 { code = mdb_env_set_maxdbs(env, UInt32(options.maximumTables)) }
        if code == 0 { code = mdb_env_set_maxreaders(env, UInt32(options.maximumReaders)) }
        if code == 0 { code = mdb_env_open(env, path, flags, mode) }
        if code == 0 { return (0, env) }
        mdb_env_close(env)
        return (code, nil)
    }

    /// Runs the body while no other thread runs one for this environment.
    ///
    /// For the layer above, which has one object of its own for each environment.
    ///
    /// Inside a write of the environment the body runs at once: the other thread may wait for the
    /// end of that write. The body must not create the object then.
    package func opening<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard !threadDepth.isInsideWrite else { return try body() }
        openingLock.lock()
        defer { openingLock.unlock() }
        return try body()
    }

    /// Throws `.fileReplaced` if a file of this environment was removed or replaced.
    ///
    /// Other processes then do not see the locks of this one.
    package func checkFiles(_ operation: StaticString) throws(LMDBError) {
        guard let directory else { return }
        if let lockFile, !directory.has("lock.mdb", lockFile) {
            throw LMDBError(.fileReplaced, operation: "\(operation)", path: path + "/" + LockFile.name)
        }
        guard directory.has("data.mdb", file) else {
            throw LMDBError(.fileReplaced, operation: "\(operation)", path: path + "/data.mdb")
        }
    }

    /// Returns whether the data file of a directory is the one that is open.
    package func isOpen(at path: String) -> Bool { FileIdentity(path: path + "/data.mdb") == file }

    /// Throws `.forked` in a child process that inherited this object through `fork`.
    ///
    /// lmdb.h: "Use an MDB_env* in the process which opened it, not after fork()".
    func checkProcess(_ operation: StaticString) throws(LMDBError) {
        if forks != ForkCounter.current { throw LMDBError(.forked, operation: "\(operation)", path: path) }
    }
}
