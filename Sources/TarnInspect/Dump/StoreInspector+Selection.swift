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
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The errors of the closures; `RecordSelectionError`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    @discardableResult
    package func selectRecords(
        of name: String?, _ selection: (Catalog) throws -> RecordSelection, record body: (Record) throws -> Void,
        damaged: (Damage) -> Void
    ) throws -> String? {
        try open { file in
            try checkIsReadable(file)
            let catalog = file.catalog
            var entities = catalog.entities.filter { $0.root == $0.id }
            if let name {
                guard let entity = catalog.entity(name) else {
                    throw StoreError.unknownEntity(name: name, known: catalog.entities.map(\.name))
                }
                entities = [entity]
            }
            let selection = try selection(catalog)
            let form = try SelectedFields(selection, catalog, among: entities)
            if selection.isReversed { entities.reverse() }
            var left = selection.limit ?? .max
            for entity in entities where left > 0 {
                try StoreInspector.select(entity, name == nil, selection, file, &left, damaged) {
                    try body(form.apply(to: $0))
                }
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
            return file.aloneBecause
        }
    }

    /// Returns the line of a record, as ``dumpRecords(of:withVersions:line:damaged:)`` writes it.
    package static func line(_ record: Record, withVersion: Bool) -> String { json(record, withVersion) }

    private static func select(
        _ entity: Catalog.Entity, _ isOfAll: Bool, _ selection: RecordSelection, _ file: StoreFile, _ left: inout Int,
        _ damaged: (Damage) -> Void, _ body: (Record) throws -> Void
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
        let cursor = TableCursor(file, table, in: keys.interval, reversed: selection.isReversed)
        while left > 0, cursor.next() {
            _ = try cursor.withEntry { key, value in
                try read(key, value, of: entity, file, where: filter, damaged: damaged) { record in
                    guard partials == .included || record.isPartial == (partials == .only), keys.contains(record.key)
                    else { return }
                    left -= 1
                    try body(record)
                }
            }
        }
    }
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
