// A store: one directory, one LMDB environment, its catalog.

import Foundation
public import LMDB

/// Records of an API, kept in one LMDB file.
///
/// Any number of threads and processes may read while one writes; a reader never waits and never sees half of a change.
/// Opening the same directory twice in a process, by whatever path, gives the same store; it is closed when the last
/// reference goes. A process that was forked off opens it again; what it inherited refuses to work.
public final class Store: Sendable {
    public struct Options: Sendable, Hashable {
        public var durability: Environment.Durability
        public var isReadOnly: Bool
        /// How large the file of a store may get that this opening makes, in bytes; nil for no limit of its own. An existing
        /// store keeps the quota that it has: see ``Store/setQuota(_:)``.
        public var quota: Int?
        /// Whether a store on a network file system is opened nevertheless: safe only if no other machine has it open.
        public var allowsNetworkFileSystem: Bool
        /// Whether the checksum of a row is compared when the row is copied, by itself or by a query: a row that the disk or the memory
        /// has damaged is then `StoreError.damagedRow`, not another value. It costs a few percent of the copy.
        public var verifiesRows: Bool
        /// Whether the same is done for rows that are borrowed (``StoreReader/withRow(_:_:_:)`` and the like), of which a field may be all that
        /// is read: comparing the checksum takes about as long again as finding the row.
        public var verifiesBorrowedRows: Bool
        /// Who may read and write a store that this opening makes. An existing store keeps the modes of its files.
        public var permissions: Permissions
        /// Whether nothing changes the store while it is open, so that it is read without locks: for read-only media, and for users that may not
        /// write to the lock files. It implies `isReadOnly`.
        ///
        /// A process that writes nevertheless is noticed at the end of a `read`, which then throws `LMDBError.Kind.notImmutable`: what its closure
        /// has read may be of several commits.
        public var isImmutable: Bool

        public init(
            durability: Environment.Durability = .full, isReadOnly: Bool = false, quota: Int? = nil,
            allowsNetworkFileSystem: Bool = false, verifiesRows: Bool = true, verifiesBorrowedRows: Bool = false,
            permissions: Permissions = .owner, isImmutable: Bool = false
        ) {
            self.durability = durability
            self.isReadOnly = isReadOnly
            self.quota = quota
            self.allowsNetworkFileSystem = allowsNetworkFileSystem
            self.verifiesRows = verifiesRows
            self.verifiesBorrowedRows = verifiesBorrowedRows
            self.permissions = permissions
            self.isImmutable = isImmutable
        }
    }

    /// Who may use the files of a store. The process's umask takes rights away, and adds none.
    public enum Permissions: String, Sendable, Hashable, CaseIterable {
        /// The user who makes the store, and nobody else: 0600, the directory 0700.
        case owner
        /// Also the group, for reading and writing: 0660 and 0770.
        case group
        /// The owner for reading and writing, everybody else for reading: 0644 and 0755.
        case everyone

        var fileMode: mode_t {
            switch self {
            case .owner: 0o600
            case .group: 0o660
            case .everyone: 0o644
            }
        }
    }

    /// The mode of a further file in the directory of a store.
    package static func fileMode(in directory: String) -> mode_t { FileMode.inside(directory) }

    /// The format of stores that this version makes, and the newest that it reads and writes. A store keeps the format that it was made with.
    public static let format = 3

    public let path: String
    package let environment: Environment
    /// Held as long as the store is open; nil for an immutable one.
    private let lock: StoreLock?
    private let current: Guarded<Current>
    let queue = WriteQueue()
    /// Entities that could not be trained when they had that many rows.
    let untrainable = Guarded<[UInt16: Int]>([:])
    /// What commits are dated with, for the age of changes. Tests have their own.
    let changeClock = Guarded(CommitClock())
    package let wake: WakeFile
    package let observers = ObserverHub()

    /// What this process knows about the store.
    fileprivate struct Current {
        var state: StoreState
        /// The schemas that the store was opened with here.
        var schemas: [Schema] = []
        /// Why none of this process's writes fits the store any more.
        var misfit: String?
    }

    init(path: String, environment: Environment, state: StoreState, lock: StoreLock?) {
        self.path = path
        self.environment = environment
        self.lock = lock
        wake = WakeFile(directory: path)
        self.current = Guarded(Current(state: state))
    }

    deinit {
        queue.close()
        OpenStores.remove(environment)
    }

    /// Opens the store in a directory.
    ///
    /// With a schema, a missing store is made, and the schema is applied: new entities and fields get their ids, new indexes
    /// are built. Without one, the store must be there, and is opened with the catalog that stands in it.
    ///
    /// Large indexes are built in steps, each a short write of its own, while this and other processes read and write; writers
    /// keep up an index from the moment at which it is in the catalog. This returns when they are complete. If it ends before
    /// that, by an error or with its process, the next opening goes on where it was; see ``indexStates``. One without
    /// a schema does so too, but opens the store also if it cannot.
    ///
    /// A store that is open in this process is returned as it is, after the schema was applied.
    ///
    /// - Parameter progress: called after each step of building an index, on the calling thread.
    /// - Throws: `StoreError`: `.noSuchStore`, `.notAStore`, `.newerFormat`, `.schema`, `.storeInUse`,
    ///   `.pidNamespaceConflict`, `.addressSpace`, `.quotaOutOfRange`, `.storeFull`, `.damagedCatalog`; `.notUnique` if records
    ///   have the same value where the schema wants none twice (the index is then as it was before); `.lmdb` with
    ///   `.optionsConflict` if the store is open in this process with another durability, access or verification of rows, `.networkFileSystem`,
    ///   `.truncated`, `.corrupted`, `.permission`, `.cannotLock` if a reader may not write to the lock files, `.fileReplaced` if
    ///   `lock.mdb` is not the one that other processes have open.
    public static func open(
        at path: String, schema: Schema? = nil, options: Options = Options(), progress: ((IndexBuildProgress) -> Void)? = nil
    ) throws(StoreError) -> Store {
        try open(at: path, schema: schema, options: options, building: IndexBuildOptions(), progress: progress)
    }

    /// The same, with other limits of a step.
    package static func open(
        at path: String, schema: Schema?, options: Options, building: IndexBuildOptions, progress: ((IndexBuildProgress) -> Void)? = nil
    ) throws(StoreError) -> Store {
        do {
            return try openStore(path, schema, options, building, progress)
        } catch let error as StoreError {
            throw error
        } catch let error as LMDBError {
            switch error.kind {
            case .notAnEnvironment, .notAFile: throw .notAStore(path: path, detail: error.description)
            case .fileLimit, .mapFull: throw .storeFull(path: path, quota: nil)
            default: throw .lmdb(error)
            }
        } catch {
            throw .notAStore(path: path, detail: "\(error)")
        }
    }

    /// The entities of the store and their ids, as this process knows them.
    public var catalog: Catalog { state.catalog }

    var state: StoreState { current.withLock { $0.state } }

    /// Lends a snapshot of the store to the closure. Never waits for a writer; what the closure sees does not change.
    ///
    /// - Throws: what the closure throws, or `StoreError`.
    public func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        try read(verifyingRows: false, body)
    }

    /// The same, with the checksum of every row that is copied compared, also in a store that was opened without `verifiesRows`.
    package func read<Result>(verifyingRows: Bool, _ body: (StoreReader) throws -> Result) throws -> Result {
        while true {
            let current = state
            var result: Result?
            try mappingErrors {
                try environment.read { transaction in
                    guard try current.isCurrent(in: transaction.raw) else { return }
                    let context = current.takeContext()
                    defer { current.give(back: context) }
                    let access = StoreAccess(transaction.raw, current, context, verifyingRows ? .all : current.verification)
                    result = try body(StoreReader(access, owner: self))
                }
            }
            if let result { return result }
            try reload()
        }
    }

    /// Lends the write transaction to the closure, commits everything together, and returns what the closure returned.
    ///
    /// The closure runs once at most, while the calling thread waits. If it throws, nothing of it is kept. Writers take turns, in whatever
    /// process they are.
    ///
    /// Called from an actor, such as the main actor at the top level of `main.swift`, the closure may use what belongs to the actor: it runs on
    /// the calling thread. Otherwise it runs on the store's writer thread: it must not wait for something that the calling thread holds, and it
    /// sees neither its thread-local nor its task-local values.
    ///
    /// Small writes of several threads and tasks that wait at the same time are committed together, each in a child
    /// transaction: one that fails is undone alone, and none is delivered before all are committed.
    ///
    /// - Parameters:
    ///   - alone: whether the write gets a transaction of its own. For large ones, such as imports: a child
    ///     transaction holds all it changes in memory, and would make the small ones wait.
    ///   - isolation: the actor of the calling code. Left to its default.
    /// - Throws: what the closure throws, or `StoreError`: `.storeFull`, `.schemaChanged`; `.lmdb` with `.nestedWrite` at once
    ///   if the calling thread is inside a `read` or `write` of this store, `.readOnly`, `.forked`, `.diskFull`,
    ///   `.inputOutput`, `.poisoned`, `.fileReplaced`. After any of them nothing of this write is in the store.
    public func write<Result>(
        alone: Bool = false, isolation: (any Actor)? = #isolation, _ body: (inout StoreWriter) throws -> Result
    ) throws -> Result {
        try mappingErrors { try environment.checkMayWrite() }
        return try withoutActuallyEscaping(body) { body in
            let delivery = Delivery<Result>()
            if isolation == nil {
                queue.add(Write(self, isAlone: alone, body) { delivery.give($0) })
            } else {
                // The closure is the actor's, and checks it: on another thread it would end the process.
                let lent = { [environment] (writer: inout StoreWriter) throws -> Result in
                    try withUnsafeMutablePointer(to: &writer) { writer in
                        try delivery.runByCaller { try environment.insideWrite { try body(&writer.pointee) } }
                    }
                }
                queue.add(Write(self, isAlone: alone, lent) { delivery.give($0) })
            }
            return try delivery.wait()
        }
    }

    /// The same as the blocking `write`; the calling task is suspended meanwhile. The closure is synchronous, since an LMDB
    /// write transaction must begin and end on one thread.
    public func write<Result: Sendable>(
        alone: Bool = false, _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws -> Result {
        try mappingErrors { try environment.checkMayWrite() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.add(Write(self, isAlone: alone, body) { continuation.resume(with: $0) })
        }
    }

    /// Puts a write behind those that wait, and returns at once: so the order of several is that of the calls.
    ///
    /// - Parameter deliver: called once, on the writer's thread; before that the caller must not let go of the store.
    /// - Throws: as `write`, if the calling thread may not write; then nothing is delivered.
    package func enqueue<Result>(
        alone: Bool, _ body: @escaping (inout StoreWriter) throws -> Result, deliver: @escaping (Swift.Result<Result, any Error>) -> Void
    ) throws {
        try mappingErrors { try environment.checkMayWrite() }
        queue.add(Write(self, isAlone: alone, body, deliver: deliver))
    }

    /// Runs the body in a write transaction of its own, on the calling thread, with what the store is at that moment.
    func inWriteTransaction(_ body: (inout WriteTransaction, StoreState) throws -> Void) throws {
        while true {
            let (known, misfit) = current.withLock { ($0.state, $0.misfit) }
            var isCurrent = false
            try mappingErrors {
                try environment.write { transaction in
                    guard try transaction.raw.isAtGeneration(known.generation, known.meta) else { return }
                    isCurrent = true
                    if let misfit { throw StoreError.schemaChanged(path: path, detail: misfit) }
                    try transaction.limitFile(byQuotaIn: known.meta)
                    try body(&transaction, known)
                }
            }
            if isCurrent { return }
            try reload()
        }
    }

    /// Applies a schema to the store, and remembers that this process works with it.
    func adopt(_ schema: Schema, _ build: IndexBuildOptions) throws {
        let newer = try Store.apply(schema, to: state, environment, build)
        current.withLock { current in
            if !current.schemas.contains(schema) { current.schemas.append(schema) }
            current.take(newer)
        }
    }

    /// Forgets a schema that turned out not to fit.
    private func abandon(_ schema: Schema) {
        let now = state
        current.withLock { current in
            current.schemas.removeAll { $0 == schema }
            current.take(now)
        }
    }

    /// Goes on with indexes that are being built, until those that the schema names are complete, or until it is known why
    /// they cannot be.
    func completeIndexes(
        for schema: Schema?, _ build: IndexBuildOptions, _ progress: ((IndexBuildProgress) -> Void)?
    ) throws {
        guard let schema else {
            // Whoever needs them will see why: a store that is full, or damaged, must open for those who want to repair it.
            return (try? finishIndexes(build, progress: progress)) ?? ()
        }
        // Another process may find that values of an index are not unique, and take it back: then this one tries, and sees.
        for _ in 0..<4 {
            do {
                try finishIndexes(build, progress: progress)
            } catch let error as StoreError {
                guard case .notUnique = error else { throw error }
                // Or they are values of an index that only others want.
                if let wanted = try? state.catalog.applying(schema), wanted.catalog == state.catalog { continue }
                abandon(schema)
                throw error
            }
            guard let missing = try? state.catalog.applying(schema), !missing.newIndexes.isEmpty || !missing.newlyUnique.isEmpty
            else { return }
            try adopt(schema, build)
        }
    }

    /// The catalog or the dictionaries changed, perhaps by another process: read them again before anything else.
    func reload() throws {
        let newer = try Store.load(environment, state.verification)
        current.withLock { $0.take(newer) }
    }

    func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as LMDBError {
            switch error.kind {
            case .fileLimit, .mapFull: throw StoreError.storeFull(path: path, quota: try? quota)
            default: throw StoreError.lmdb(error)
            }
        }
    }
}

extension Store.Current {
    /// Replaces the state by a newer one, and looks whether this process's schemas still fit it.
    fileprivate mutating func take(_ newer: StoreState) {
        guard newer.generation >= state.generation else { return }
        state = newer
        misfit = nil
        for schema in schemas {
            do throws(SchemaError) {
                guard try newer.catalog.applying(schema).addsAnything(to: newer.catalog) else { continue }
                misfit = "the store no longer has all that the schema of this process names"
            } catch {
                misfit = error.description
            }
        }
    }
}
