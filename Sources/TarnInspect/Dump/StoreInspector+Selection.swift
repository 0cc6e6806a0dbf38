// The records of a store that meet a condition, in a range of keys, in either order.

import TarnStore

extension StoreInspector {
    /// Calls the closure with the selected records, entity by entity, in key order or in reverse,
    /// as of one snapshot.
    ///
    /// Memory does not grow with the number of records. Unreadable rows and pages are reported to
    /// `damaged`, as is a record whose condition reads an unreadable related one.
    ///
    /// - Parameters:
    ///   - name: The entity; nil for all, which permits no condition and no keys.
    ///   - selection: A closure that gives the selection, by the store's catalog.
    ///   - renewal: The number of commits after which another snapshot is taken: writers can then
    ///     reuse pages, and the records are of several commits. Nil for one snapshot.
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The errors of the closures; `RecordSelectionError`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    @discardableResult
    package func selectRecords(
        of name: String?, renewal: UInt64? = nil, _ selection: (Catalog) throws -> RecordSelection,
        record body: (Record) throws -> Void, damaged: (Damage) -> Void
    ) throws -> String? {
        var chosen: RecordSelection?, progress = SelectionProgress(renewal: renewal), reason: String?
        repeat {
            try open { file in
                try checkIsReadable(file)
                let known = try chosen ?? selection(file.catalog)
                if chosen == nil { progress.left = known.limit ?? .max }
                chosen = known
                progress.begin()
                try StoreInspector.select(name, known, file, &progress, damaged, body)
                file.reportFindings(to: damaged)
                reason = reason ?? file.aloneBecause
            }
        } while !progress.isDone
        return reason
    }

    private static func select(
        _ name: String?, _ selection: RecordSelection, _ file: StoreFile, _ progress: inout SelectionProgress,
        _ damaged: (Damage) -> Void, _ body: (Record) throws -> Void
    ) throws {
        var entities = try file.entities(named: name)
        let form = try SelectedFields(selection, file.catalog, among: entities)
        if selection.isReversed { entities.reverse() }
        if let last = progress.entity, entities.first?.id != last {
            // Ids ascend. An entity that was removed meanwhile is followed by those behind it.
            if name == nil { entities = Array(entities.drop { selection.isReversed ? $0.id > last : $0.id < last }) }
            if entities.first?.id != last { progress.key = nil }
        }
        for entity in entities where progress.left > 0 {
            try select(entity, name == nil, selection, file, &progress, damaged) { try body(form.apply(to: $0)) }
            guard !progress.isDue else { return }
            progress.key = nil
        }
        progress.isDone = true
    }

    /// Returns the line of a record, as ``dumpRecords(of:withVersions:line:damaged:)`` writes it.
    package static func line(_ record: Record, withVersion: Bool) -> String { json(record, withVersion) }

    private static func select(
        _ entity: Catalog.Entity, _ isOfAll: Bool, _ selection: RecordSelection, _ file: StoreFile,
        _ progress: inout SelectionProgress, _ damaged: (Damage) -> Void, _ body: (Record) throws -> Void
    ) throws {
        let filter = try selection.query.map { query in
            if isOfAll { throw RecordSelectionError.noEntity(option: "a condition") }
            return try RecordFilter(query.condition, of: entity, file)
        }
        let partials = selection.query?.partials ?? .included
        let keys = try SelectedKeys(selection.keys, isOfAll ? nil : entity)
        let table = TableName.records(entity.root)
        guard file.snapshot.tables[table] != nil else {
            return damaged(Damage(place: table, reason: "the table of \(entity.name) is missing", isOfPages: true))
        }
        var interval = keys.interval
        if let key = progress.key {
            if selection.isReversed { interval.upper = key } else { interval.lower = key + [0] }
        }
        let cursor = TableCursor(file, table, in: interval, reversed: selection.isReversed)
        while progress.left > 0, cursor.next() {
            _ = try cursor.withEntry { key, value in
                try read(key, value, of: entity, file, where: filter, damaged: damaged) { record in
                    guard partials == .included || record.isPartial == (partials == .only), keys.contains(record.key)
                    else { return }
                    progress.left -= 1
                    try body(record)
                }
            }
            if progress.isRenewalDue(file), let key = cursor.withKey({ Array($0) }) {
                progress.stop(at: entity.id, key)
                return
            }
        }
    }
}

/// The position of a selection that goes on with another snapshot.
private struct SelectionProgress {
    /// The most records that may follow.
    var left = Int.max
    /// The entity at which the selection goes on; nil for the first.
    private(set) var entity: UInt16?
    /// The storage key after which it goes on; nil for the first.
    var key: [UInt8]?
    var isDone = false
    /// Whether the selection was stopped to take another snapshot.
    private(set) var isDue = false
    private let renewal: UInt64?
    private var count = 0

    init(renewal: UInt64?) { self.renewal = renewal }

    mutating func begin() { isDue = false }

    /// Returns whether the snapshot is too old. The file is asked with every 64th record.
    mutating func isRenewalDue(_ file: StoreFile) -> Bool {
        guard let renewal else { return false }
        count += 1
        return count % 64 == 0 && file.commitsBehind >= renewal
    }

    mutating func stop(at entity: UInt16, _ key: [UInt8]) { (self.entity, self.key, isDue) = (entity, key, true) }
}

/// A selection of keys in encoded form.
private struct SelectedKeys {
    let interval: KeyInterval
    private let bounds: KeyBounds?
    private let beginning: String?

    init(_ keys: RecordSelection.Keys, _ entity: Catalog.Entity?) throws {
        switch keys {
        case .all: (interval, bounds, beginning) = (KeyInterval(), nil, nil)
        case .range(let range):
            guard let entity else { throw RecordSelectionError.noEntity(option: "a range of keys") }
            let bounds = try KeyBounds(range, entity)
            self.bounds = bounds.comparesWholeKeys ? bounds : nil
            interval = KeyInterval(from: bounds.lower, below: bounds.upper)
            beginning = nil
        case .text(let beginning):
            guard let entity else { throw RecordSelectionError.noEntity(option: "a beginning of keys") }
            guard let type = entity.keyTypes.first, type.isText else {
                throw RecordSelectionError.noTextKey(
                    entity: entity.name, type: entity.keyTypes.first.map { "\($0)" } ?? "?")
            }
            var bytes = ByteWriter()
            Array(beginning.utf8).withUnsafeBytes { bytes.appendTuple(string: $0) }
            // Without the end of the text, up to the part of a long key that its storage key has.
            interval = KeyInterval(prefix: Array(bytes.bytes.dropLast().prefix(StorageKey.longest)))
            (bounds, self.beginning) = (nil, beginning)
        }
    }

    func contains(_ key: RecordKey) -> Bool {
        if let beginning {
            guard case .string(let text)? = key.components.first else { return false }
            return text.utf8.starts(with: beginning.utf8)
        }
        return bounds?.contains(key) ?? true
    }
}
