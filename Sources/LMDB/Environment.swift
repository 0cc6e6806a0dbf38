// One LMDB file, opened once in this process: its map, its tables, its readers.

import CLMDB
import Glibc
import Synchronization

/// One LMDB environment: a directory with `data.mdb` and `lock.mdb`.
///
/// There is one `Environment` per file in a process, whatever path leads to it: opening the file again returns the same
/// object (liblmdb loses its locks if a file is opened twice; lmdb.h, "Caveats"). It is closed when the last reference
/// goes. Any number of threads may use it; see ``read(_:)`` and ``write(_:)``.
public final class Environment: Sendable {
    /// How much a returned `write` promises.
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        /// A committed transaction survives the loss of power.
        case full
        /// The file stays whole, but the last transactions may be lost with the power (`MDB_NOMETASYNC`).
        case relaxed
        /// For files that can be thrown away: a loss of power may damage the file (`MDB_NOSYNC`).
        case volatile
    }

    public struct Options: Sendable, Hashable {
        /// The mode of the files that an environment is made of, if this opening makes it; the process's umask is taken from it.
        package var fileMode: mode_t = 0o600
        public var durability: Durability
        public var isReadOnly: Bool
        /// Whether nothing changes the file while it is open, so that it is read without locks. For media that cannot be written to.
        ///
        /// It implies `isReadOnly`. A reader without locks is not seen by writers, which use pages again that it still reads. A commit that
        /// may have done so makes the `read` end with `.notImmutable`; what its closure has read until then may be anything.
        public var isImmutable: Bool
        /// Whether a missing directory and file are created.
        public var creates: Bool
        /// Bytes of address space to reserve. Halved until the system grants it, down to `minimumMapSize`.
        public var mapSize: Int
        public var minimumMapSize: Int
        public var maximumTables: Int
        public var maximumReaders: Int
        /// Whether a file on a network file system is opened nevertheless; see ``FileSystemKind``.
        public var allowsNetworkFileSystem: Bool
        /// Whether opening leaves the slots of readers that have died: for who wants to see them.
        package var keepsDeadReaders = false

        public init(
            durability: Durability = .full, isReadOnly: Bool = false, creates: Bool = true, mapSize: Int = 1 << 40,
            minimumMapSize: Int = 1 << 30, maximumTables: Int = 300, maximumReaders: Int = 1024,
            allowsNetworkFileSystem: Bool = false, isImmutable: Bool = false
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
        }
    }

    /// The directory, as it was given to the first `open`.
    public let path: String
    public let options: Options
    package let file: FileIdentity
    /// liblmdb's environment is safe to use from any thread; it is closed in `deinit` only, when no transaction is left.
    nonisolated(unsafe) let env: OpaquePointer
    let readers = ReaderPool()
    /// Marks the threads that are inside a transaction of this environment.
    let threadDepth: ThreadDepth
    let forks: Int
    /// The order of writers; nil if this environment has none.
    let turn: WriterTurn?
    /// The lock file that liblmdb has mapped; nil for one without locks.
    package let lockFile: FileIdentity?
    /// Where the files are looked for before each write; nil if there is none.
    let directory: OpenDirectory?
    private let openingLock = Lock()
    /// Held for as long as a transaction that opens tables lasts.
    let tableLock = Lock()
    /// The last page of the file when dead readers were last looked for.
    let checkedPage = Atomic<Int>(0)

    private init(
        path: String, options: Options, file: FileIdentity, lockFile: FileIdentity?, env: OpaquePointer, threadDepth: ThreadDepth,
        turn: WriterTurn?, directory: OpenDirectory?
    ) {
        self.path = path
        self.options = options
        self.file = file
        self.env = env
        self.threadDepth = threadDepth
        self.turn = turn
        self.lockFile = lockFile
        self.directory = directory
        self.forks = ForkCounter.current
    }

    deinit {
        // A forked child neither uses nor cleans up what it inherited: closing would drop the parent's reader slots.
        guard forks == ForkCounter.current else { return }
        readers.close()
        threadDepth.delete()
        OpenEnvironments.close(file) { mdb_env_close(env) }
    }

    /// Opens the environment in a directory, or returns it if it is already open in this process.
    ///
    /// The file's size, meta pages and roots are checked first. Damage further inside cannot be found here: reading a
    /// damaged inner page through liblmdb may end the process.
    ///
    /// - Throws: `LMDBError`: `.noSuchFile` (if `creates` is false), `.notAFile`, `.notAnEnvironment`, `.truncated`, `.corrupted`,
    ///   `.permission`, `.cannotLock`, `.diskFull`, `.networkFileSystem`, `.optionsConflict`, `.fileReplaced`.
    public static func open(at path: String, options: Options = Options()) throws(LMDBError) -> Environment {
        ForkCounter.start()
        var options = options
        if options.isImmutable { options.isReadOnly = true }
        return try OpenEnvironments.open(path: path, options: options) { [options] () throws(LMDBError) -> Environment in
            try create(path: path, options: options)
        }
    }

    private static func create(path: String, options: Options) throws(LMDBError) -> Environment {
        let dataPath = path + "/data.mdb"
        try options.check(FileSystemKind(path: path), path: path)
        // Whether liblmdb makes the file.
        var isNew = false
        if access(dataPath, F_OK) == 0 {
            try DataFile.checkKind(path: dataPath)
            if !options.isReadOnly { try UnfinishedFile.empty(in: path) }
            try DataFile.check(path: dataPath)
            var status = stat()
            isNew = stat(dataPath, &status) == 0 && status.st_size == 0
        } else if options.creates && !options.isReadOnly {
            isNew = true
            if mkdir(path, FileMode.directory(for: options.fileMode)) != 0 && errno != EEXIST { throw LMDBError(code: errno, operation: "open", path: path) }
        } else {
            throw LMDBError(errno == ENOENT ? .noSuchFile : LMDBError(code: errno, operation: "").kind, operation: "open", path: dataPath)
        }
        // Of an environment that is there, what is missing gets the mode of the rest.
        let mode = access(dataPath, F_OK) == 0 ? FileMode.inside(path) : options.fileMode
        let directory = options.isReadOnly ? nil : try OpenDirectory(path: path)
        let turn = options.isReadOnly ? nil : try WriterTurn(directory: path)
        let lockFile = options.isImmutable ? nil : try LockFile.prepare(in: path, options: options)
        var mapSize = options.mapSize
        while true {
            let (code, env) = openOnce(path: path, options: options, mapSize: mapSize, mode: mode)
            if let env {
                // Not close-on-exec by itself (ITS#8579): a service's children must not hold the file.
                var descriptor: Int32 = -1
                if mdb_env_get_fd(env, &descriptor) == 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
                if isNew, options.durability != .volatile, let error = flushNewFile(env, path) {
                    mdb_env_close(env)
                    throw error
                }
                let lockPath = path + "/" + LockFile.name
                if let lockFile, FileIdentity(path: lockPath) != lockFile {
                    mdb_env_close(env)
                    throw LMDBError(.fileReplaced, operation: "open", path: lockPath)
                }
                guard let file = FileIdentity(path: dataPath), let threadDepth = ThreadDepth() else {
                    mdb_env_close(env)
                    throw LMDBError(.other, operation: "open", path: path)
                }
                let environment = Environment(
                    path: path, options: options, file: file, lockFile: lockFile, env: env, threadDepth: threadDepth, turn: turn,
                    directory: directory)
                if !options.keepsDeadReaders { environment.freeSlotsOfDeadReaders() }
                return environment
            }
            guard code == ENOMEM, mapSize / 2 >= options.minimumMapSize else {
                throw LMDBError(code: code, operation: "open", path: path)
            }
            mapSize /= 2
        }
    }

    /// Brings the meta pages of a file that was just made to the disk, before anything is written behind them: a loss of power may keep
    /// what comes later and lose what came before, and a file without meta pages cannot be told from one that has lost them.
    private static func flushNewFile(_ env: OpaquePointer, _ path: String) -> LMDBError? {
        let code = mdb_env_sync(env, 1)
        guard code == 0 else { return LMDBError(code: code, operation: "open", path: path) }
        let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        fsync(directory)
        close(directory)
        return nil
    }

    private static func openOnce(path: String, options: Options, mapSize: Int, mode: mode_t) -> (Int32, OpaquePointer?) {
        var created: OpaquePointer?
        var code = mdb_env_create(&created)
        guard code == 0, let env = created else { return (code, nil) }
        // Read transactions belong to no thread, so that they can be pooled and renewed.
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

    /// Runs the body while no other thread runs one here: for a layer above that has one object of its own for each
    /// environment.
    package func opening<Result>(_ body: () throws -> Result) rethrows -> Result {
        openingLock.lock()
        defer { openingLock.unlock() }
        return try body()
    }

    /// Throws if a file of this environment has another one in its place, or none: other processes then do not see its locks.
    func checkFiles(_ operation: StaticString) throws(LMDBError) {
        guard let directory else { return }
        if let lockFile, !directory.has("lock.mdb", lockFile) {
            throw LMDBError(.fileReplaced, operation: "\(operation)", path: path + "/" + LockFile.name)
        }
        guard directory.has("data.mdb", file) else {
            throw LMDBError(.fileReplaced, operation: "\(operation)", path: path + "/data.mdb")
        }
    }

    /// Whether the data file of a directory is the one that is open.
    package func isOpen(at path: String) -> Bool { FileIdentity(path: path + "/data.mdb") == file }

    /// Throws in a child process that inherited this object through `fork` (lmdb.h: "Use an MDB_env* in the process which
    /// opened it, not after fork()").
    func checkProcess(_ operation: StaticString) throws(LMDBError) {
        if forks != ForkCounter.current { throw LMDBError(.forked, operation: "\(operation)", path: path) }
    }
}
