// A store: a directory with one LMDB environment and its catalog.

import Foundation
public import LMDB
import Locking

/// Records of an API in an LMDB file.
///
/// Any number of threads and processes may read while one writes. A reader never waits, and never
/// sees part of a change. Opening the same directory twice in a process, by any path, returns the
/// same store. It is closed when the last reference is released. A forked child process must open
/// the store again: every use of the inherited one fails.
public final class Store: Sendable {
    /// The options of opening a store.
    public struct Options: Sendable, Hashable {
        /// The promise about acknowledged commits after a loss of power.
        var durability: Environment.Durability
        /// Opens the store for reading only. A missing store is not created.
        var isReadOnly: Bool
        /// The quota of a store that this call creates, in bytes; nil for none.
        /// An existing store keeps its quota: see ``Store/setQuota(_:)``.
        var quota: Int?
        /// Permits a network file system. It is safe only if no other machine opens the store.
        var allowsNetworkFileSystem: Bool
        /// Verifies the checksum of each row that is copied, directly or by a query.
        /// A row damaged by disk or memory then throws `StoreError.damagedRow` instead of returning
        /// a wrong value. This adds a few percent to the time of the copy.
        public var verifiesRows: Bool
        /// Verifies the checksum of borrowed rows, too.
        /// Rows are borrowed by ``StoreReader/withRow(_:_:_:)`` and the like. This about doubles
        /// the time to find a row, even if only one field is read.
        public var verifiesBorrowedRows: Bool
        /// The permissions of a store that this call creates. An existing store keeps its own.
        var permissions: Permissions
        /// Declares that nothing changes the store while it is open. It is then read without locks.
        ///
        /// This is for read-only media, and for users without write permission for the lock files.
        /// It implies `isReadOnly`. If a process writes nevertheless, the `read` in progress throws
        /// `LMDBError.Kind.notImmutable` at its end, because its closure may have read several
        /// commits.
        var isImmutable: Bool
        /// Reads snapshots along the pages of the file, in memory, where that is faster.
        ///
        /// Otherwise liblmdb makes every step. The results are the same. If the store is already
        /// open in this process, it keeps its way of reading.
        public var readsPagesDirectly: Bool

        /// Creates options. By default a store is durable, writable, and for its owner only.
        ///
        /// - Parameter readsPagesDirectly: Nil is true, unless the environment variable
        ///   `TARN_DIRECT_READS` is `0`.
        public init(
            durability: Environment.Durability = .full, isReadOnly: Bool = false, quota: Int? = nil,
            allowsNetworkFileSystem: Bool = false, verifiesRows: Bool = true, verifiesBorrowedRows: Bool = false,
            permissions: Permissions = .owner, isImmutable: Bool = false, readsPagesDirectly: Bool? = nil
        ) {
            self.durability = durability
            self.isReadOnly = isReadOnly
            self.quota = quota
            self.allowsNetworkFileSystem = allowsNetworkFileSystem
            self.verifiesRows = verifiesRows
            self.verifiesBorrowedRows = verifiesBorrowedRows
            self.permissions = permissions
            self.isImmutable = isImmutable
            self.readsPagesDirectly = readsPagesDirectly ?? Environment.Options().readsPagesDirectly
        }
    }

    /// The file permissions of a store. The process's umask can only remove permissions.
    public enum Permissions: String, Sendable, Hashable, CaseIterable {
        /// Access for the owner only: files 0600, directory 0700.
        case owner
        /// Read and write access for the group, too: 0660 and 0770.
        case group
        /// Read and write access for the owner, read access for all others: 0644 and 0755.
        case everyone

        var fileMode: mode_t {
            switch self {
            case .owner: 0o600
            case .group: 0o660
            case .everyone: 0o644
            }
        }
    }

    /// Opens another file in the directory of a store, and creates it if it is missing.
    ///
    /// - Returns: the descriptor; negative if `errno` has the reason.
    package static func openFile(_ path: String, in directory: String) -> Int32 {
        FileMode.openFile(path, in: directory, O_RDWR)
    }

    /// The format of new stores, and the newest that this version supports.
    /// An existing store keeps its format.
    package static let format = 3

    /// The directory of the store, as given to the call that opened it.
    public let path: String
    /// The absolute path of the directory: the process may change its working directory.
    package var directory: String { environment.absolutePath }
    /// Whether another store is in the directory by now, or none.
    package var isReplaced: Bool { environment.isReplaced }
    package let environment: Environment
    /// Held as long as the store is open. Nil for an immutable store.
    private let lock: StoreLock?
    private let current: Guarded<Current>
    let queue = WriteQueue()
    /// The row counts at which training a dictionary last failed, by entity.
    let untrainable = Guarded<[UInt16: Int]>([:])
    /// The clock for the times of commits, from which the age of changes follows. Tests replace it.
    let changeClock = Guarded(CommitClock())
    package let wake: WakeFile
    let observers = ObserverHub()

    /// The state of the store as this process knows it.
    fileprivate struct Current {
        var state: StoreState
        /// The schemas with which this process opened the store.
        var schemas: [Schema] = []
        /// The reason why this process's schemas no longer fit the store. Every write then fails.
        var misfit: String?
    }

    init(path: String, environment: Environment, state: StoreState, lock: StoreLock?) {
        self.path = path
        self.environment = environment
        self.lock = lock
        wake = WakeFile(directory: environment.absolutePath)
        self.current = Guarded(Current(state: state))
    }

    deinit {
        queue.close()
        OpenStores.remove(environment)
    }

    /// Opens the store in a directory.
    ///
    /// With a schema, a missing store is created and the schema is applied: new entities and fields
    /// get ids, new indexes are built. Without a schema, the store must exist, and its own catalog
    /// is used.
    ///
    /// Large indexes are built in steps, each a short write, while this and other processes read
    /// and write. Writers maintain an index as soon as it is in the catalog. The call returns when
    /// the indexes are complete. If an error or the end of the process interrupts it, the next
    /// opening resumes; see ``indexStates``. Opening without a schema resumes, too, but succeeds
    /// even if an index cannot be completed.
    ///
    /// If the store is already open in this process, the same instance is returned after the schema
    /// is applied.
    ///
    /// - Parameter progress: Called after each step of an index build, on the calling thread.
    /// - Throws: `StoreOpenError`. `.write` has `.storeFull`, or `.notUnique` if records have equal
    ///   values in an index that the schema declares unique (the index then stays as it was).
    ///   `.store` has `.damagedCatalog`, `.damagedEntry`, or `.damagedRow` during an index build;
    ///   `.lmdb` with `.optionsConflict` if the store is open in this process with another
    ///   durability, access or verification of rows, `.networkFileSystem`, `.truncated`,
    ///   `.corrupted`, `.permission`, `.cannotLock` if a reader may not write to the lock files,
    ///   `.severalNames` if a store to write to has a `data.mdb` that is a link, `.fileReplaced` if
    ///   `lock.mdb` is not the file that other processes have open.
    public static func open(
        at path: String, schema: Schema? = nil, options: Options = Options(),
        progress: ((IndexBuildProgress) -> Void)? = nil
    ) throws(StoreOpenError) -> Store {
        try open(at: path, schema: schema, options: options, building: IndexBuildOptions(), progress: progress)
    }

    /// Opens the store in a directory, with explicit limits for the steps of an index build.
    package static func open(
        at path: String, schema: Schema?, options: Options, building: IndexBuildOptions,
        progress: ((IndexBuildProgress) -> Void)? = nil
    ) throws(StoreOpenError) -> Store {
        do {
            return try openStore(path, schema, options, building, progress)
        } catch let error as StoreOpenError {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as StoreWriteError {
            throw .write(error)
        } catch let error as LMDBError {
            switch error.kind {
            case .notAnEnvironment, .notAFile: throw .notAStore(path: path, detail: error.description)
            case .fileLimit, .mapFull: throw .write(.storeFull(path: path, quota: nil))
            case .other where error.code == ENOMEM && error.operation == "open":
                throw .addressSpace(path: path, needed: Quota.smallestMap, granted: 0)
            default: throw .store(.lmdb(error))
            }
        } catch {
            throw .notAStore(path: path, detail: "\(error)")
        }
    }

    /// The entities of the store and their ids, as last loaded by this process.
    public var catalog: Catalog { state.catalog }

    var state: StoreState { current.withLock { $0.state } }

    /// Runs the closure on a snapshot of the store.
    ///
    /// Never waits for a writer. The snapshot does not change.
    ///
    /// - Throws: The errors of the closure; `StoreError`; `StoreOpenError` if another process has
    ///   changed the store so that this version no longer supports its format.
    public func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        try read(verifyingRows: false, body)
    }

    /// Runs the closure on a snapshot, with explicit verification of copied rows.
    ///
    /// - Parameter verifyingRows: Verifies the checksum of every row, even if the store was opened
    ///   without `verifiesRows`.
    package func read<Result>(verifyingRows: Bool, _ body: (StoreReader) throws -> Result) throws -> Result {
        while true {
            let current = state
            var result: Result?
            try mappingErrors {
                try environment.read { transaction in
                    guard try current.isCurrent(in: transaction.raw) else { return }
                    let context = current.takeContext()
                    defer { current.give(back: context) }
                    let access = StoreAccess(
                        transaction.raw, current, context, verifyingRows ? .all : current.verification)
                    result = try body(StoreReader(access, owner: self))
                }
            }
            if let result { return result }
            try reload()
        }
    }

    /// Runs the closure in a write transaction, commits it, and returns the closure's result.
    ///
    /// The closure runs at most once, while the calling thread waits. If it throws, nothing of it
    /// is kept. Writers of all processes take turns.
    ///
    /// Called from an actor, such as the main actor at the top level of `main.swift`, the closure
    /// runs on the calling thread and may use the actor's state. Otherwise it runs on the store's
    /// writer thread: it must not wait for a lock that the calling thread holds, and it sees
    /// neither its thread-local nor its task-local values.
    ///
    /// Small writes that wait at the same time are committed together, each in a child transaction.
    /// A failing one is rolled back alone. No result is delivered before the common commit.
    ///
    /// - Parameters:
    ///   - alone: Requests a transaction for this write only. For large writes, such as imports: a
    ///     child transaction keeps all its changes in memory, and would delay the small writes.
    ///   - isolation: The actor of the calling code. Leave it at its default.
    /// - Throws: The errors of the closure; `StoreWriteError`, mostly `.storeFull`,
    ///   `.schemaChanged`, `.notUnique`; the errors of `read`; `StoreError.lmdb` with
    ///   `.nestedWrite`, at once, if the calling thread is inside a `read` or `write` of this
    ///   store, `.readOnly`, `.forked`, `.diskFull`, `.inputOutput`, `.poisoned`, `.fileReplaced`,
    ///   `.other` if the system refuses the writer thread.
    ///   After any error nothing of this write is stored.
    public func write<Result>(
        alone: Bool = false, isolation: (any Actor)? = #isolation, _ body: (inout StoreWriter) throws -> Result
    ) throws -> Result {
        try mappingErrors { try environment.checkMayWrite() }
        return try withoutActuallyEscaping(body) { body in
            let delivery = Delivery<Result>()
            if isolation == nil {
                try add(Write(self, isAlone: alone, body) { delivery.give($0) })
            } else {
                // The closure checks that it runs on its actor: on another thread it would trap.
                let lent = { [environment] (writer: inout StoreWriter) throws -> Result in
                    try withUnsafeMutablePointer(to: &writer) { writer in
                        try delivery.runByCaller { try environment.insideWrite { try body(&writer.pointee) } }
                    }
                }
                try add(Write(self, isAlone: alone, lent) { delivery.give($0) })
            }
            return try delivery.wait()
        }
    }

    /// Runs the closure like the blocking `write`, and suspends the calling task meanwhile.
    /// The closure is synchronous, because an LMDB write transaction must begin and end on one
    /// thread.
    public func write<Result: Sendable>(
        alone: Bool = false, _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws -> Result {
        try mappingErrors { try environment.checkMayWrite() }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try add(Write(self, isAlone: alone, body) { continuation.resume(with: $0) })
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Runs a closure like `write`. It may run again if a write of the same commit fails: it must
    /// have no effects outside the store.
    ///
    /// Without a child transaction it costs a fraction when many wait at the same time.
    package func writeRepeatably<Result: Sendable>(
        _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws -> Result {
        try mappingErrors { try environment.checkMayWrite() }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try add(Write(self, isAlone: false, isRepeatable: true, body) { continuation.resume(with: $0) })
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Queues a write.
    ///
    /// - Throws: `StoreError.lmdb` if the system refuses the writer thread. Nothing is delivered
    ///   then.
    private func add(_ write: any PendingWrite) throws(StoreError) {
        do throws(LMDBError) {
            try queue.add(write)
        } catch {
            throw .file(path, error.code, operation: error.operation)
        }
    }

    /// Queues a write and returns at once. Queued writes run in the order of the calls.
    ///
    /// - Parameter deliver: Called once, on the writer's thread. Until then the caller must retain
    ///   the store.
    /// - Throws: The errors of `write` if the calling thread may not write, or if the system
    /// refuses
    ///   the writer thread. Nothing is delivered then.
    package func enqueue<Result>(
        alone: Bool, _ body: @escaping (inout StoreWriter) throws -> Result,
        deliver: @escaping (Swift.Result<Result, any Error>) -> Void
    ) throws {
        try mappingErrors { try environment.checkMayWrite() }
        try add(Write(self, isAlone: alone, body, deliver: deliver))
    }

    /// Runs the body in its own write transaction, on the calling thread, with the current state.
    func inWriteTransaction(_ body: (inout WriteTransaction, StoreState) throws -> Void) throws {
        while true {
            let (known, misfit) = current.withLock { ($0.state, $0.misfit) }
            var isCurrent = false
            try mappingErrors {
                try environment.write { transaction in
                    guard try transaction.raw.isAtGeneration(known.generation, known.meta) else { return }
                    isCurrent = true
                    if let misfit { throw StoreWriteError.schemaChanged(path: path, detail: misfit) }
                    try transaction.limitFile(byQuotaIn: known.meta)
                    try body(&transaction, known)
                }
            }
            if isCurrent { return }
            try reload()
        }
    }

    /// Applies a schema to the store, and records that this process uses it.
    ///
    /// Its joins replace those of earlier schemas of this process, which are dropped.
    func adopt(_ schema: Schema, _ build: IndexBuildOptions) throws {
        let newer = try Store.apply(schema, to: state, environment, build), catalog = newer.catalog
        current.withLock { current in
            current.schemas.removeAll { (try? catalog.applying($0))?.redirectsJoins(of: catalog) ?? false }
            if !current.schemas.contains(schema) { current.schemas.append(schema) }
            current.take(newer)
        }
    }

    /// Drops a schema that cannot be applied.
    private func abandon(_ schema: Schema) {
        let now = state
        current.withLock { current in
            current.schemas.removeAll { $0 == schema }
            current.take(now)
        }
    }

    /// Resumes index builds until the indexes of the schema are complete, or until one fails.
    func completeIndexes(
        for schema: Schema?, _ build: IndexBuildOptions, _ progress: ((IndexBuildProgress) -> Void)?
    ) throws {
        guard let schema else {
            // Without a schema, errors surface when an index is used: a full or damaged store must
            // open for repair.
            return (try? finishIndexes(build, progress: progress)) ?? ()
        }
        // If values are not unique, another process may withdraw the index. This process then
        // applies its schema again, to get the error itself.
        for _ in 0..<4 {
            do {
                try finishIndexes(build, progress: progress)
            } catch let error as StoreWriteError {
                guard case .notUnique = error else { throw error }
                // The failed index may be one that only the schemas of other processes declare.
                if let wanted = try? state.catalog.applying(schema), wanted.catalog == state.catalog { continue }
                abandon(schema)
                throw error
            }
            guard let missing = try? state.catalog.applying(schema),
                !missing.newIndexes.isEmpty || !missing.newlyUnique.isEmpty
            else { return }
            try adopt(schema, build)
        }
    }

    /// Loads the catalog and the dictionaries again. This or another process has changed them.
    func reload() throws {
        let newer = try Store.load(environment, state.verification)
        current.withLock { $0.take(newer) }
    }

    func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as LMDBError {
            switch error.kind {
            case .fileLimit, .mapFull: throw StoreWriteError.storeFull(path: path, quota: try? quota)
            default: throw StoreError.lmdb(error)
            }
        }
    }
}

extension Store.Current {
    /// Replaces the state by a newer one, and checks whether this process's schemas still fit it.
    ///
    /// If another thread has taken a newer one meanwhile, the schemas are checked against that.
    fileprivate mutating func take(_ newer: StoreState) {
        if newer.generation >= state.generation { state = newer }
        let catalog = state.catalog
        misfit = nil
        for schema in schemas {
            do throws(SchemaError) {
                let change = try catalog.applying(schema)
                guard change.addsAnything(to: catalog) || change.redirectsJoins(of: catalog) else { continue }
                misfit = "the store no longer has everything that the schema of this process declares"
            } catch {
                misfit = error.description
            }
        }
    }
}
