// Opening a store: creation, checks, and their order.

import Foundation
internal import LMDB

extension Store {
    /// Opens or creates a store in a directory.
    ///
    /// - Parameter mapped: A test hook, called after the file is mapped and before the store's lock
    ///   is taken.
    static func openStore(
        _ path: String, _ schema: Schema?, _ options: Options, _ build: IndexBuildOptions,
        _ progress: ((IndexBuildProgress) -> Void)?,
        mapped: (() throws -> Void)? = nil
    ) throws -> Store {
        if let quota = options.quota { try Quota.check(quota, most: Quota.largest(ofMap: 1 << 40)) }
        let isReadOnly = options.isReadOnly || options.isImmutable
        let isNew = try checkDirectory(path, mayCreate: schema != nil && !isReadOnly)
        // Checked before anything is created: an invalid schema leaves no empty store behind.
        if isNew, let problem = schema?.problems().first { throw StoreOpenError.schema(problem) }
        if isNew, mkdir(path, FileMode.directory(for: options.permissions.fileMode)) != 0, errno != EEXIST {
            let code = errno, parent = (path as NSString).deletingLastPathComponent
            // A file system such as that of /proc has no room for directories of others.
            guard code == ENOENT, !parent.isEmpty, !FileManager.default.fileExists(atPath: parent) else {
                throw LMDBError(code: code, operation: "open", path: path)
            }
            throw LMDBError(code: ENOENT, operation: "make a directory in it", path: parent)
        }
        // The lack of address space, and the size that the store needs, once they are known.
        var lack: StoreOpenError?, least: Int?
        for _ in 0..<100 {
            // In a directory without a store, the lock file is created only after LMDB accepted the
            // data file.
            let isKnown = isNew || access(path + "/store.lock", F_OK) == 0
            let early = isKnown && !options.isImmutable ? try StoreLock(directory: path, isReadOnly: isReadOnly) : nil
            let environment: Environment
            do {
                environment = try Environment.open(at: path, options: environmentOptions(options, isNew: isNew, least))
            } catch {
                if let lack { throw lack }
                throw error
            }
            try mapped?()
            let lock = options.isImmutable ? nil : try early ?? StoreLock(directory: path, isReadOnly: isReadOnly)
            // Compaction may replace the file between mapping and locking. Writes to the old file
            // would be lost.
            guard options.isImmutable || environment.isOpen(at: path) else { continue }
            do {
                return try openStore(on: environment, lock, isNew: isNew, path, schema, options, build, progress)
            } catch let error as StoreOpenError {
                // A process with many stores reserves less for one, and the quota may need more.
                guard case .addressSpace(_, let needed, _) = error, least == nil else { throw error }
                (lack, least) = (error, needed)
            }
        }
        throw LMDBError(.fileReplaced, operation: "open", path: path + "/data.mdb")
    }

    private static func openStore(
        on environment: Environment, _ lock: StoreLock?, isNew: Bool, _ path: String, _ schema: Schema?,
        _ options: Options,
        _ build: IndexBuildOptions, _ progress: ((IndexBuildProgress) -> Void)?
    ) throws -> Store {
        let isReadOnly = environment.options.isReadOnly
        func reopened() throws -> Store? {
            guard let open = OpenStores.store(of: environment) else { return nil }
            guard open.state.verification == RowVerification(options) else {
                throw LMDBError(.optionsConflict, operation: "open", path: path)
            }
            if let schema, !isReadOnly { try open.adopt(schema, build) }
            return open
        }
        // An open store is found without the lock: a thread that changes its schema may hold the
        // lock while it waits for a write that opens a store itself. Two such writes, each of
        // which opens the other one's store, would wait for each other.
        if let open = try reopened() {
            if let schema, !isReadOnly { try open.completeIndexes(for: schema, build, progress) }
            return open
        }
        // Threads that open the same store concurrently get one instance.
        let (store, isOpen) = try environment.opening { () throws -> (Store, Bool) in
            if let open = try reopened() { return (open, true) }
            if try isNew || environment.tableNames().isEmpty {
                guard schema != nil, !isReadOnly else { throw StoreOpenError.noSuchStore(path: path) }
                try create(environment, options)
            }
            var state = try load(environment, RowVerification(options))
            try checkMap(environment, state)
            if state.lacksTables, !isReadOnly {
                try addTables(environment, state)
                state = try load(environment, RowVerification(options))
            }
            if !isReadOnly, OlderDataFile.isNoted(in: path) { try renewIncarnation(environment, state) }
            let store = Store(path: path, environment: environment, state: state, lock: lock)
            if let schema, !isReadOnly { try store.adopt(schema, build) }
            OpenStores.add(store)
            return (store, false)
        }
        guard !isReadOnly, schema != nil || !isOpen else { return store }
        try store.completeIndexes(for: schema, build, progress)
        return store
    }

    private static func environmentOptions(_ options: Options, isNew: Bool, _ least: Int?) -> Environment.Options {
        // An existing map must fit its quota, which is known only after opening: see `checkMap`.
        let needed = least ?? (isNew ? options.quota.map { $0 + Quota.reserve(of: $0) } ?? Quota.smallestMap : 16 << 20)
        var chosen = Environment.Options(
            durability: options.durability, isReadOnly: options.isReadOnly, creates: isNew, minimumMapSize: needed,
            maximumTables: TableName.limit, allowsNetworkFileSystem: options.allowsNetworkFileSystem,
            isImmutable: options.isImmutable, readsPagesDirectly: options.readsPagesDirectly)
        chosen.fileMode = options.permissions.fileMode
        return chosen
    }

    /// Refuses a map that is smaller than the quota needs.
    /// A process with less address space could write less than other processes.
    private static func checkMap(_ environment: Environment, _ state: StoreState) throws {
        guard !environment.options.isReadOnly else { return }
        let quota = try environment.read { try $0.raw.quota(state.meta) }
        let needed = quota.map { $0 + Quota.reserve(of: $0) } ?? Quota.smallestMap
        let granted = try environment.mapSize
        guard granted >= needed else {
            throw StoreOpenError.addressSpace(path: environment.path, needed: needed, granted: granted)
        }
    }

    /// Checks the directory, and returns whether the store must be created.
    private static func checkDirectory(_ path: String, mayCreate: Bool) throws(StoreOpenError) -> Bool {
        // The system would read the path up to there, and open another directory.
        guard !path.utf8.contains(0) else { throw .notAStore(path: path, detail: "the path has a NUL") }
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw .store(.lmdb(LMDBError(code: errno, operation: "open", path: path)))
            }
            guard mayCreate else { throw .noSuchStore(path: path) }
            return true
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .notAStore(path: path, detail: "a file, but a store is a directory")
        }
        if access(path + "/data.mdb", F_OK) == 0 { return false }
        // A directory that this user may not enter may be a store.
        guard errno == ENOENT else {
            throw .store(.lmdb(LMDBError(code: errno, operation: "open", path: path + "/data.mdb")))
        }
        let content = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // Another thread or process has created the store in the meantime.
        if content.contains("data.mdb") { return false }
        guard content.isEmpty || Set(content).isSubset(of: ["store.lock", "turn.lock", "lock.mdb"]) else {
            throw .notAStore(
                path: path, detail: "the directory contains other files, but no data.mdb; name a new directory")
        }
        guard mayCreate else { throw .noSuchStore(path: path) }
        return true
    }

    private static func create(_ environment: Environment, _ options: Options) throws {
        try environment.writeOpeningTables { transaction in
            let table = try transaction.table(TableName.meta), meta = ChecksummedTable.meta(table, format: format)
            for name in TableName.all { _ = try transaction.table(name) }
            // Another process may have created the store first.
            guard try transaction.raw.get(table, Bytes(MetaKey.format)) == nil else { return }
            try transaction.raw.putNewSettings(meta, catalog: Catalog())
            if let quota = options.quota { try transaction.raw.put(meta, key: MetaKey.quota, number: UInt64(quota)) }
        }
    }

    /// Gives a store that has lost commits a new incarnation: consumers of the change log may know
    /// more commits than it has, and would skip as many later ones.
    private static func renewIncarnation(_ environment: Environment, _ state: StoreState) throws {
        _ = try environment.write { try $0.raw.renewIncarnation(state.meta) }
        OlderDataFile.remove(in: environment.absolutePath)
    }

    /// Creates tables that an older version did not have. A full store stays without them.
    private static func addTables(_ environment: Environment, _ state: StoreState) throws {
        do {
            try environment.writeOpeningTables { transaction in
                try transaction.limitFile(byQuotaIn: state.meta)
                try transaction.raw.willAdd()
                for name in TableName.all { _ = try transaction.table(name) }
                try transaction.raw.advanceGeneration(state.meta)
            }
        } catch let error as LMDBError where error.kind == .fileLimit || error.kind == .mapFull {}
    }

    /// Reads the catalog and opens every table that it names.
    static func load(_ environment: Environment, _ verification: RowVerification) throws -> StoreState {
        let path = environment.path
        let fixedTables = try environment.existingTables(TableName.all)
        let fixed = Dictionary(
            uniqueKeysWithValues: zip(TableName.all, fixedTables).compactMap { name, table in
                table.map { table in (name, table) }
            })
        guard let metaTable = fixed[TableName.meta] else {
            throw StoreOpenError.notAStore(path: path, detail: "an LMDB file without the table \(TableName.meta)")
        }
        let settings = try environment.read { transaction in
            guard let (meta, found) = try ChecksummedTable.meta(metaTable, in: transaction.raw) else {
                throw StoreOpenError.notAStore(
                    path: path, detail: "an LMDB file without a valid format version of Tarn")
            }
            guard found <= format else { throw StoreOpenError.newerFormat(path: path, found: found, known: format) }
            try checkSettings(transaction.raw, meta)
            let features = try transaction.raw.get(meta, key: MetaKey.features)
            if let feature = StoreFeature.unknown(in: features).first {
                throw StoreOpenError.unknownFeature(path: path, feature: feature)
            }
            let raw = transaction.raw
            return StoreState.Settings(
                format: found, catalog: try readCatalog(raw, meta, path),
                generation: try raw.number(meta, key: MetaKey.generation),
                dictionaries: DictionaryList(try RowDictionary.all(raw, meta)),
                changeOptions: try ChangeOptions(raw, meta), features: StoreFeature.known(in: features),
                marks: try IndexMark.all(raw, meta))
        }
        let catalog = settings.catalog
        let roots = catalog.entities.filter { $0.root == $0.id }
        let indexes = catalog.indexIDs
        let names = roots.map { TableName.records($0.id) } + indexes.map { TableName.index($0) }
        let tables = try environment.existingTables(names)
        var open = StoreState.Tables(fixed: fixed)
        for (entity, table) in zip(roots, tables) { open.records[entity.id] = table }
        for (index, table) in zip(indexes, tables.dropFirst(roots.count)) { open.indexes[index] = table }
        return try StoreState(settings, open, verification: verification)
    }

    /// Verifies the checksum of every setting.
    /// Lookups cannot detect this damage: they never find an entry whose name is damaged. A damaged
    /// dictionary affects only its rows, and is not reported here.
    private static func checkSettings(_ raw: RawTransaction, _ meta: ChecksummedTable) throws {
        guard meta.hasChecksums else { return }
        let cursor = try raw.cursor(meta.table), dictionaries = Array(MetaKey.dictionaryPrefix.utf8)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            if meta.content(value, key: key) == nil, !key.starts(with: dictionaries),
                !Bytes.equal(key, Bytes(MetaKey.catalog))
            {
                throw StoreError.damagedEntry(table: TableName.meta, key: String(decoding: key, as: UTF8.self))
            }
            entry = try cursor.next()
        }
    }

    private static func readCatalog(_ raw: RawTransaction, _ meta: ChecksummedTable, _ path: String) throws -> Catalog {
        let key = Bytes(MetaKey.catalog)
        guard let value = try raw.get(meta.table, key) else {
            throw StoreError.damagedCatalog(path: path, detail: "missing")
        }
        guard let bytes = meta.content(value, key: key) else {
            throw StoreError.damagedCatalog(path: path, detail: "wrong checksum")
        }
        guard let stored = StoredCatalog(bytes) else {
            throw StoreError.damagedCatalog(path: path, detail: "unexpected JSON")
        }
        guard stored.isSound else { throw StoreError.damagedCatalog(path: path, detail: "wrong checksum") }
        return stored.catalog
    }

    /// Changes the catalog in one short transaction.
    /// New indexes of tables with many rows get marks, and are built later.
    static func apply(
        _ schema: Schema, to state: StoreState, _ environment: Environment, _ build: IndexBuildOptions
    ) throws -> StoreState {
        var state = state
        while true {
            do throws(SchemaError) {
                guard try state.catalog.applying(schema).catalog != state.catalog else { return state }
            } catch {
                throw StoreOpenError.schema(error)
            }
            var isCurrent = false
            try environment.writeOpeningTables { transaction in
                // Another process may have changed the catalog, added a dictionary, or upgraded the
                // format.
                isCurrent = try transaction.raw.isAtGeneration(state.generation, state.meta)
                if isCurrent { try apply(schema, to: state, environment, in: &transaction, build) }
            }
            state = try load(environment, state.verification)
            if isCurrent { return state }
        }
    }

    /// Changes the catalog in a transaction that is at the generation of the state.
    private static func apply(
        _ schema: Schema, to state: StoreState, _ environment: Environment, in transaction: inout WriteTransaction,
        _ build: IndexBuildOptions
    ) throws {
        let raw = transaction.raw
        try transaction.limitFile(byQuotaIn: state.meta)
        try raw.willAdd()
        let current = try readCatalog(raw, state.meta, environment.path)
        let change: Catalog.Change
        do throws(SchemaError) { change = try current.applying(schema) } catch { throw StoreOpenError.schema(error) }
        guard change.catalog != current else { return }
        do throws(SchemaError) { try change.catalog.checkTableCount() } catch { throw StoreOpenError.schema(error) }
        var records: [UInt16: Table] = [:], indexes: [UInt32: Table] = [:]
        for entity in change.catalog.entities where entity.root == entity.id {
            records[entity.id] = try transaction.table(TableName.records(entity.id))
        }
        for index in change.oldIndexes {
            try raw.removeAll(try transaction.table(TableName.index(index)))
            try IndexMark.remove(index, raw, state.meta)
        }
        for new in change.newIndexes { indexes[new.index] = try transaction.table(TableName.index(new.index)) }
        let isBuilt = Set(change.indexesToBuild.map(\.index))
        for index in isBuilt { try IndexMark(.building, isNew: true).put(index, raw, state.meta) }
        for unique in change.newlyUnique where indexes[unique.index] == nil {
            // An index that is still being built is checked afterwards.
            var mark = try IndexMark.of(unique.index, raw, state.meta) ?? IndexMark(.checking, isNew: false)
            mark.isNew = false
            try mark.put(unique.index, raw, state.meta)
        }
        try raw.put(state.meta, key: MetaKey.catalog, text: try StoredCatalog.text(of: change.catalog))
        try raw.advanceGeneration(state.meta)
        for index in try IndexMark.all(raw, state.meta).keys where indexes[index] == nil {
            indexes[index] = try transaction.table(TableName.index(index))
        }
        let context = state.takeContext()
        defer { state.give(back: context) }
        try buildAtOnce(change.catalog, StoreAccess(raw, state, context), records, indexes, build)
    }

    /// Runs the build steps that are small enough for the transaction of the catalog change.
    /// Indexes of small tables therefore need no marks. If values violate uniqueness, the
    /// transaction is rolled back and the catalog is unchanged.
    private static func buildAtOnce(
        _ catalog: Catalog, _ access: StoreAccess, _ records: [UInt16: Table], _ indexes: [UInt32: Table],
        _ options: IndexBuildOptions
    ) throws {
        func found<ID: Hashable>(_ tables: [ID: Table], _ id: ID) throws(StoreError) -> Table {
            guard let table = tables[id] else { throw .damagedCatalog(path: "", detail: "the table \(id) is missing") }
            return table
        }
        let build = IndexBuild(
            access: access, catalog: catalog, records: { try found(records, $0) }, table: { try found(indexes, $0) })
        let raw = access.raw, meta = access.state.meta
        var left = options
        while left.rows > 0, left.bytes > 0 {
            guard let step = try build.step(try IndexMark.all(raw, meta), left) else { return }
            if let violation = step.violation { throw violation }
            for (id, mark) in step.indexes {
                if let mark { try mark.put(id, raw, meta) } else { try IndexMark.remove(id, raw, meta) }
            }
            left.rows -= max(1, step.count)
            left.bytes -= step.bytes
        }
    }
}
