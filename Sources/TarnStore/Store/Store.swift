// A store: one directory, one LMDB environment, its catalog.

import Dispatch
import Foundation
public import LMDB
import Synchronization

/// Records of an API, kept in one LMDB file.
///
/// Any number of threads and processes may read while one writes; a reader never waits and never sees half of a change.
/// Opening the same directory twice in a process shares one LMDB environment.
public final class Store: Sendable {
    public struct Options: Sendable, Hashable {
        public var durability: Environment.Durability
        public var isReadOnly: Bool

        public init(durability: Environment.Durability = .full, isReadOnly: Bool = false) {
            self.durability = durability
            self.isReadOnly = isReadOnly
        }
    }

    /// The format that this version writes, and the newest that it reads.
    public static let format = 1

    public let path: String
    package let environment: Environment
    private let state: Mutex<StoreState>
    /// Held shared as long as the store is open; `flock` belongs to the descriptor, so other descriptors do not matter.
    private let lockDescriptor: Int32
    private let writeQueue = DispatchQueue(label: "tarn.store.write")

    private init(path: String, environment: Environment, state: StoreState, lockDescriptor: Int32) {
        self.path = path
        self.environment = environment
        self.state = Mutex(state)
        self.lockDescriptor = lockDescriptor
    }

    deinit {
        if lockDescriptor >= 0 { close(lockDescriptor) }
    }

    /// Opens the store in a directory.
    ///
    /// With a schema, a missing store is made, and the schema is applied: new entities and fields get their ids, new indexes
    /// are built. Without one, the store must be there, and is opened with the catalog that stands in it.
    ///
    /// - Throws: `StoreError`: `.noSuchStore`, `.notAStore`, `.newerFormat`, `.schema`, `.storeInUse`, `.damagedCatalog`,
    ///   `.lmdb`.
    public static func open(at path: String, schema: Schema? = nil, options: Options = Options()) throws(StoreError) -> Store {
        do {
            return try openStore(path, schema, options)
        } catch let error as StoreError {
            throw error
        } catch let error as LMDBError {
            throw error.kind == .notAnEnvironment ? .notAStore(path: path, detail: error.description) : .lmdb(error)
        } catch {
            throw .notAStore(path: path, detail: "\(error)")
        }
    }

    private static func openStore(_ path: String, _ schema: Schema?, _ options: Options) throws -> Store {
        let isNew = try checkDirectory(path, mayCreate: schema != nil && !options.isReadOnly)
        // Before anything is made: a schema that cannot be leaves no empty store behind.
        if isNew, let problem = schema?.problems().first { throw StoreError.schema(problem) }
        let environment = try Environment.open(
            at: path,
            options: Environment.Options(durability: options.durability, isReadOnly: options.isReadOnly, creates: isNew))
        let lockDescriptor = Glibc.open(path + "/store.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        if lockDescriptor >= 0, flock(lockDescriptor, LOCK_SH | LOCK_NB) != 0 {
            close(lockDescriptor)
            throw StoreError.storeInUse(path: path)
        }
        do {
            if try isNew || environment.tableNames().isEmpty {
                guard schema != nil, !options.isReadOnly else { throw StoreError.noSuchStore(path: path) }
                try create(environment)
            }
            var state = try load(environment)
            if let schema, !options.isReadOnly { state = try apply(schema, to: state, environment) }
            return Store(path: path, environment: environment, state: state, lockDescriptor: lockDescriptor)
        } catch {
            if lockDescriptor >= 0 { close(lockDescriptor) }
            throw error
        }
    }

    /// Whether a store has to be made there.
    private static func checkDirectory(_ path: String, mayCreate: Bool) throws(StoreError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .lmdb(LMDBError(.permission, operation: "open", code: errno, path: path)) }
            guard mayCreate else { throw .noSuchStore(path: path) }
            return true
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .notAStore(path: path, detail: "it is a file, and a store is a directory")
        }
        if access(path + "/data.mdb", F_OK) == 0 { return false }
        let content = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        guard content.isEmpty || Set(content).isSubset(of: ["store.lock", "lock.mdb"]) else {
            throw .notAStore(path: path, detail: "the directory holds other files and no data.mdb; name a new directory")
        }
        guard mayCreate else { throw .noSuchStore(path: path) }
        return true
    }

    private static func create(_ environment: Environment) throws {
        try environment.writeOpeningTables { transaction in
            let meta = try transaction.table(TableName.meta)
            for name in TableName.all { _ = try transaction.table(name) }
            // Another process may have been first.
            guard try transaction.raw.get(meta, key: MetaKey.format) == nil else { return }
            try transaction.raw.put(meta, key: MetaKey.format, text: String(format))
            try transaction.raw.put(meta, key: MetaKey.incarnation, text: UUID().uuidString.lowercased())
            try transaction.raw.put(meta, key: MetaKey.generation, number: 1)
            try transaction.raw.put(meta, key: MetaKey.sequence, number: 0)
            try transaction.raw.put(meta, key: MetaKey.catalog, text: try encode(Catalog()))
        }
    }

    /// Reads the catalog and opens every table that it names.
    private static func load(_ environment: Environment) throws -> StoreState {
        let path = environment.path
        let fixedTables = try environment.existingTables(TableName.all)
        let fixed = Dictionary(
            uniqueKeysWithValues: zip(TableName.all, fixedTables).compactMap { name, table in table.map { table in (name, table) } })
        guard let meta = fixed[TableName.meta] else {
            throw StoreError.notAStore(path: path, detail: "it is an LMDB file without the table \(TableName.meta)")
        }
        let (catalog, generation): (Catalog, UInt64) = try environment.read { transaction in
            guard let text = try transaction.raw.get(meta, key: MetaKey.format),
                let found = Int(String(decoding: text, as: UTF8.self))
            else { throw StoreError.notAStore(path: path, detail: "it is an LMDB file without a format version of Tarn") }
            guard found <= format else { throw StoreError.newerFormat(path: path, found: found, known: format) }
            return (try readCatalog(transaction.raw, meta, path), try transaction.raw.number(meta, key: MetaKey.generation))
        }
        let indexes = catalog.entities.flatMap { $0.fields.compactMap(\.index) }
        let names = catalog.entities.map { TableName.records($0.id) } + indexes.map { TableName.index($0) }
        let tables = try environment.existingTables(names)
        var records: [UInt16: Table] = [:], indexTables: [UInt32: Table] = [:]
        for (entity, table) in zip(catalog.entities, tables) { records[entity.id] = table }
        for (index, table) in zip(indexes, tables.dropFirst(catalog.entities.count)) { indexTables[index] = table }
        return try StoreState(
            catalog: catalog, generation: generation, fixed: fixed, records: records, indexes: indexTables)
    }

    private static func readCatalog(_ raw: RawTransaction, _ meta: Table, _ path: String) throws -> Catalog {
        guard let bytes = try raw.get(meta, key: MetaKey.catalog) else {
            throw StoreError.damagedCatalog(path: path, detail: "it is missing")
        }
        do {
            return try JSONDecoder().decode(Catalog.self, from: Data(bytes))
        } catch {
            throw StoreError.damagedCatalog(path: path, detail: "it is not the JSON that is expected")
        }
    }

    private static func encode(_ catalog: Catalog) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(catalog), as: UTF8.self)
    }

    private static func apply(_ schema: Schema, to state: StoreState, _ environment: Environment) throws -> StoreState {
        do throws(SchemaError) {
            guard try state.catalog.applying(schema).catalog != state.catalog else { return state }
        } catch {
            throw StoreError.schema(error)
        }
        try environment.writeOpeningTables { transaction in
            let raw = transaction.raw
            // Another process may have changed the catalog since.
            let current = try readCatalog(raw, state.meta, environment.path)
            let change: Catalog.Change
            do throws(SchemaError) { change = try current.applying(schema) } catch { throw StoreError.schema(error) }
            guard change.catalog != current else { return }
            for entity in change.catalog.entities {
                let records = try transaction.table(TableName.records(entity.id))
                for field in entity.fields where change.newIndexes.contains(where: { $0 == (entity.id, field.id) }) {
                    guard let index = field.index else { continue }
                    try IndexBuild.run(raw, entity: entity, field: field, from: records, to: try transaction.table(TableName.index(index)))
                }
            }
            try raw.put(state.meta, key: MetaKey.catalog, text: try encode(change.catalog))
            let generation = try raw.number(state.meta, key: MetaKey.generation)
            try raw.put(state.meta, key: MetaKey.generation, number: generation + 1)
        }
        return try load(environment)
    }

    /// The entities of the store and their ids, as this process knows them.
    public var catalog: Catalog { state.withLock { $0.catalog } }

    /// Lends a snapshot of the store to the closure. Never waits for a writer; what the closure sees does not change.
    ///
    /// - Throws: what the closure throws, or `StoreError`.
    public func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        while true {
            let current = state.withLock { $0 }
            var result: Result?
            try mappingErrors {
                try environment.read { transaction in
                    guard try transaction.raw.number(current.meta, key: MetaKey.generation) == current.generation else { return }
                    result = try body(StoreReader(StoreAccess(transaction.raw, current), owner: self))
                }
            }
            if let result { return result }
            try reload()
        }
    }

    /// Lends the write transaction to the closure, then commits everything together. If the closure throws, nothing is kept.
    /// The closure runs once, and its result is returned after the commit. Waits for other writers, in whatever process.
    ///
    /// - Throws: what the closure throws, or `StoreError`; `.lmdb` with `.nestedWrite` at once if the calling thread is inside
    ///   a `read` or `write` of this store.
    public func write<Result>(_ body: (inout StoreWriter) throws -> Result) throws -> Result {
        while true {
            let current = state.withLock { $0 }
            var result: Result?
            try mappingErrors {
                try environment.write { transaction in
                    guard try transaction.raw.number(current.meta, key: MetaKey.generation) == current.generation else { return }
                    var writer = try StoreWriter(StoreAccess(transaction.raw, current))
                    result = try body(&writer)
                    try writer.finish()
                }
            }
            if let result { return result }
            try reload()
        }
    }

    /// The same as the blocking `write`; the calling task is suspended meanwhile. The closure is synchronous, since an LMDB
    /// write transaction must begin and end on one thread.
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (inout StoreWriter) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            writeQueue.async {
                continuation.resume(with: Swift.Result { try self.write(body) })
            }
        }
    }

    /// Another process changed the catalog: read it again before anything else.
    private func reload() throws {
        let newer = try Store.load(environment)
        state.withLock { current in
            if newer.generation > current.generation { current = newer }
        }
    }

    private func mappingErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as LMDBError {
            throw StoreError.lmdb(error)
        }
    }
}

extension RawTransaction {
    func get(_ table: Table, key: StaticString) throws(LMDBError) -> Bytes? {
        try get(table, Bytes(key))
    }

    func put(_ table: Table, key: StaticString, text: String) throws(LMDBError) {
        var writer = ByteWriter()
        writer.append(text)
        try put(table, Bytes(key), writer.bytes)
    }

    func put(_ table: Table, key: StaticString, number: UInt64) throws(LMDBError) {
        var writer = ByteWriter()
        writer.appendBigEndian(number)
        try put(table, Bytes(key), writer.bytes)
    }

    /// A number of `meta`; 0 if it is not there.
    func number(_ table: Table, key: StaticString) throws(LMDBError) -> UInt64 {
        guard let value = try get(table, key: key), value.count == 8 else { return 0 }
        return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
}

extension Bytes {
    fileprivate init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
