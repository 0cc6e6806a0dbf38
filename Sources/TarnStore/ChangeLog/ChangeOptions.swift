// What the change log keeps, and for how long: settings of the store, which stand in it and hold for every process.

internal import LMDB

/// Both settings as they stand in `meta`, with the entities of a catalog.
struct ChangeOptions: Sendable {
    var retention = ChangeRetention.standard
    /// Ids of entities; nil for all.
    var valuesOf: Set<UInt16>? = []

    // For the writer, by the id of an entity: `resolved` fills them.
    private(set) var keepsChanges = true
    private(set) var keepsValues = false
    private var keeps: [Bool] = []

    init() {}

    /// What cannot be read is taken for the default.
    init(_ raw: RawTransaction, _ meta: ChecksummedTable) throws(LMDBError) {
        if let text = try raw.get(meta, key: MetaKey.changeRetention) {
            let parts = String(decoding: text, as: UTF8.self).split(separator: " ")
            if parts.count == 2 {
                let stored = ChangeRetention(
                    age: Int64(parts[0]).map { .microseconds($0) }, share: Int64(parts[1]).map { Double($0) / 1_000_000 })
                // Others cannot be set, and what is computed with them would overflow.
                if (try? stored.check()) != nil { retention = stored }
            }
        }
        if let text = try raw.get(meta, key: MetaKey.changeValues) {
            let words = String(decoding: text, as: UTF8.self).split(separator: " ")
            valuesOf = words == ["all"] ? nil : Set(words.compactMap { UInt16($0) })
        }
    }

    /// `AGE SHARE`: microseconds and millionths in decimal, `-` for no bound.
    static func text(_ retention: ChangeRetention) -> String {
        "\(retention.microseconds.map { "\($0)" } ?? "-") \(retention.share.map { "\(Int64($0 * 1_000_000))" } ?? "-")"
    }

    /// `all`, or ids of entities in decimal.
    static func text(_ values: Set<UInt16>?) -> String {
        values.map { $0.sorted().map { "\($0)" }.joined(separator: " ") } ?? "all"
    }

    func resolved(_ catalog: Catalog) -> ChangeOptions {
        var options = self
        options.keepsChanges = retention != .nothing
        options.keeps = Array(repeating: false, count: Int(catalog.entities.map(\.id).max() ?? 0) + 1)
        for entity in catalog.entities {
            options.keeps[Int(entity.id)] = valuesOf.map { ids in
                ids.contains(entity.id) || catalog.ancestors(of: entity.id).contains { ids.contains($0) }
            } ?? true
        }
        options.keepsValues = options.keepsChanges && options.keeps.contains(true)
        return options
    }

    func keepsValues(of entity: UInt16) -> Bool { Int(entity) < keeps.count && keeps[Int(entity)] }
}

extension Store {
    /// How long changes are kept.
    public var changeRetention: ChangeRetention {
        get throws { try read { $0.access.state.changeOptions.retention } }
    }

    /// Changes how long changes are kept, for every process that has the store open, and takes out what is to go by it, in
    /// steps of a transaction each. Steps only free: they can be taken when the store is full.
    ///
    /// - Throws: `StoreError.retentionOutOfRange`; what a `write` throws.
    public func setChangeRetention(_ retention: ChangeRetention) throws {
        try retention.check()
        try setMeta(MetaKey.changeRetention) { _ in ChangeOptions.text(retention) }
        var isDone = false
        while !isDone {
            let clock = changeClock.withLock { $0.now }
            isDone = try write(alone: true) { writer in
                let access = writer.access, newest = try access.sequence
                let trimming = ChangeTrimming(access.raw, access.state, now: clock(), first: newest + 1, newest: newest)
                return try trimming.step(atMost: 10_000) == 0
            }
        }
    }

    /// Of which records the change log keeps values.
    public var changeValues: ChangeValues {
        get throws {
            try read { reader in
                guard let ids = reader.access.state.changeOptions.valuesOf else { return .all }
                return ids.isEmpty ? .none : .entities(Set(ids.compactMap { reader.catalog.entity(id: $0)?.name }))
            }
        }
    }

    /// Changes of which records the change log keeps values, for every process that has the store open, from the next commit
    /// on. Values make the log about as large as what is written.
    ///
    /// - Throws: `StoreError.unknownEntity`; what a `write` throws.
    public func setChangeValues(_ values: ChangeValues) throws {
        try setMeta(MetaKey.changeValues) { state in
            switch values {
            case .none: ChangeOptions.text([])
            case .all: ChangeOptions.text(nil)
            case .entities(let names): ChangeOptions.text(Set(try names.map { try state.entity($0).id }))
            }
        }
    }

    /// Sets a value that stands in the state: every process reads it before its next transaction.
    private func setMeta(_ key: StaticString, _ text: (StoreState) throws -> String) throws {
        try write(alone: true) { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: key, text: try text(writer.access.state))
            try raw.advanceGeneration(meta)
        }
        try reload()
    }
}
