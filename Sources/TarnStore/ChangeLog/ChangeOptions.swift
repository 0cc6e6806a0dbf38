// The options of the change log: stored settings that apply to every process.

internal import LMDB

/// Both settings as they are stored in `meta`, with the entities of a catalog.
struct ChangeOptions: Sendable {
    var retention = ChangeRetention.standard
    /// The ids of entities whose values are kept; nil for all.
    var valuesOf: Set<UInt16>? = []

    // For the writer, by entity id; `resolved` sets them.
    private(set) var keepsChanges = true
    private(set) var keepsValues = false
    private var keeps: [Bool] = []

    init() {}

    /// Decodes the settings. An unreadable one becomes the default.
    init(_ raw: RawTransaction, _ meta: ChecksummedTable) throws(LMDBError) {
        if let text = try raw.get(meta, key: MetaKey.changeRetention) {
            let parts = String(decoding: text, as: UTF8.self).split(separator: " ")
            if parts.count == 2 {
                let stored = ChangeRetention(
                    age: Int64(parts[0]).map { .microseconds($0) },
                    share: Int64(parts[1]).map { Double($0) / 1_000_000 })
                // Out-of-range values cannot be set, and computations with them would overflow.
                if (try? stored.check()) != nil { retention = stored }
            }
        }
        if let text = try raw.get(meta, key: MetaKey.changeValues) {
            let words = String(decoding: text, as: UTF8.self).split(separator: " ")
            valuesOf = words == ["all"] ? nil : Set(words.compactMap { UInt16($0) })
        }
    }

    /// The stored form `AGE SHARE`: microseconds and millionths in decimal, `-` for no bound.
    static func text(_ retention: ChangeRetention) -> String {
        "\(retention.microseconds.map { "\($0)" } ?? "-") \(retention.share.map { "\(Int64($0 * 1_000_000))" } ?? "-")"
    }

    /// The stored form: `all`, or ids of entities in decimal.
    static func text(_ values: Set<UInt16>?) -> String {
        values.map { $0.sorted().map { "\($0)" }.joined(separator: " ") } ?? "all"
    }

    func resolved(_ catalog: Catalog) -> ChangeOptions {
        var options = self
        options.keepsChanges = retention != .nothing
        options.keeps = Array(repeating: false, count: Int(catalog.entities.map(\.id).max() ?? 0) + 1)
        for entity in catalog.entities {
            options.keeps[Int(entity.id)] =
                valuesOf.map { ids in
                    ids.contains(entity.id) || catalog.ancestors(of: entity.id).contains { ids.contains($0) }
                } ?? true
        }
        options.keepsValues = options.keepsChanges && options.keeps.contains(true)
        return options
    }

    func keepsValues(of entity: UInt16) -> Bool { Int(entity) < keeps.count && keeps[Int(entity)] }
}

extension Store {
    /// The retention of changes.
    public var changeRetention: ChangeRetention {
        get throws { try read { $0.access.state.changeOptions.retention } }
    }

    /// Sets the retention of changes for every process that has the store open, and trims the log.
    ///
    /// Each step of trimming is a transaction of its own. Steps only free space: they work when the
    /// store is full.
    ///
    /// - Throws: `ChangeLogError.retentionOutOfRange`; errors of `write`.
    public func setChangeRetention(_ retention: ChangeRetention) throws {
        try retention.check()
        try setMeta(MetaKey.changeRetention) { _ in ChangeOptions.text(retention) }
        var isDone = false
        while !isDone {
            let clock = changeClock.withLock { $0.now }
            isDone = try write(alone: true) { writer in
                let access = writer.access, newest = try access.settings.sequence
                let trimming = ChangeTrimming(access.raw, access.state, now: clock(), first: newest + 1, newest: newest)
                return try trimming.step(atMost: 10_000) == 0
            }
        }
    }

    /// The records whose values the change log keeps.
    public var changeValues: ChangeValues {
        get throws {
            try read { reader in
                guard let ids = reader.access.state.changeOptions.valuesOf else { return .all }
                return ids.isEmpty ? .none : .entities(Set(ids.compactMap { reader.catalog.entity(id: $0)?.name }))
            }
        }
    }

    /// Sets the records whose values the change log keeps, from the next commit on.
    ///
    /// The setting applies to every process that has the store open. With values, the log is about
    /// as large as the written data.
    ///
    /// - Throws: `StoreError.unknownEntity`; errors of `write`.
    public func setChangeValues(_ values: ChangeValues) throws {
        try setMeta(MetaKey.changeValues) { state in
            switch values {
            case .none: ChangeOptions.text([])
            case .all: ChangeOptions.text(nil)
            case .entities(let names): ChangeOptions.text(Set(try names.map { try state.entity($0).id }))
            }
        }
    }

    /// Sets a value of the state: every process reads it before its next transaction.
    private func setMeta(_ key: StaticString, _ text: (StoreState) throws -> String) throws {
        try write(alone: true) { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: key, text: try text(writer.access.state))
            try raw.advanceGeneration(meta)
        }
        try reload()
    }
}
