import TarnStore

/// The largest parts of a store: records, lists and tables.
package struct StoreExtremes: Sendable {
    /// The size of a record.
    package struct Size: Sendable, Hashable {
        /// The name of the entity.
        package var entity: String
        /// The key; without components if it cannot be decoded.
        package var key: RecordKey
        /// The size of the stored row, in bytes.
        package var stored: Int
        /// The size of the row without compression, in bytes.
        package var unpacked: Int
    }

    /// A list of references of one record.
    package struct List: Sendable, Hashable {
        /// The name of the record's entity.
        package var entity: String
        /// The key of the record; of a missing record with a long key, its digest.
        package var key: RecordKey
        /// The name of the relationship, which may be the derived side.
        package var relationship: String
        /// The number of references.
        package var count: Int
    }

    /// The records with the largest stored rows.
    package var stored: [Size] = []
    /// The records with the largest rows without compression.
    package var unpacked: [Size] = []
    /// The longest to-many lists, stored or derived.
    package var lists: [List] = []
    /// The tables with the most bytes.
    package var tables: [StoreStatistics.Table] = []
    /// The reason why no read transaction held the state; nil if one did.
    package var aloneBecause: String?
}

extension StoreInspector {
    /// Finds the largest records, the longest lists and the fullest tables, in one pass over the
    /// rows and the indexes of references.
    ///
    /// - Parameters:
    ///   - limit: The most entries of each kind.
    ///   - name: Only records, lists and tables of this entity, and of those below it.
    /// - Throws: `StoreError.unknownEntity`; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    package func extremes(
        limit: Int = 10, of name: String? = nil, progress: ((Progress) -> Void)? = nil, damaged: (Damage) -> Void
    ) throws -> StoreExtremes {
        try open(progress: progress) { file in
            try checkIsReadable(file)
            let entities = try file.entities(named: name)
            var scan = ExtremesScan(file, limit)
            for entity in entities {
                scan.readRows(entity, damaged)
                scan.readDerivedLists(entity, isWhole: name == nil || entity.root == entity.id)
            }
            file.reportFindings(to: damaged)
            var result = scan.result
            result.tables = scan.tables(StoreStatistics(path, file).tables, of: name == nil ? nil : entities)
            result.aloneBecause = file.aloneBecause
            return result
        }
    }
}

/// The scan for the extremes of one file.
private struct ExtremesScan {
    private let file: StoreFile
    private let limit: Int
    private var stored: Largest<StoreExtremes.Size>
    private var unpacked: Largest<StoreExtremes.Size>
    private var lists: Largest<StoreExtremes.List>

    init(_ file: StoreFile, _ limit: Int) {
        self.file = file
        self.limit = limit
        (stored, unpacked, lists) = (Largest(limit), Largest(limit), Largest(limit))
    }

    var result: StoreExtremes {
        StoreExtremes(
            stored: stored.entries.map(\.element), unpacked: unpacked.entries.map(\.element),
            lists: lists.entries.map(\.element))
    }

    mutating func readRows(_ entity: Catalog.Entity, _ damaged: (StoreInspector.Damage) -> Void) {
        file.forEachRow(of: entity, damaged: damaged) { key, row in
            file.withDecoded(row, key, entity, damaged: damaged) { decoded in
                let concrete = file.catalog.entity(id: decoded.entity) ?? entity
                let whole = RowFormat.headerSize + decoded.body.bytes.count
                func name() -> RecordKey { file.key(concrete, key, decoded) ?? RecordKey([]) }
                func size() -> StoreExtremes.Size {
                    StoreExtremes.Size(entity: concrete.name, key: name(), stored: row.count, unpacked: whole)
                }
                stored.add(row.count, size())
                unpacked.add(whole, size())
                for index in 0..<decoded.body.count {
                    guard let value = decoded.body.value(at: index), let count = ExtremesScan.count(value),
                        lists.takes(count)
                    else { continue }
                    let id = decoded.body.id(at: index)
                    lists.add(
                        count,
                        StoreExtremes.List(
                            entity: concrete.name, key: name(), relationship: concrete.field(id: id)?.name ?? "#\(id)",
                            count: count))
                }
            }
        }
    }

    /// Returns the length of a list of references; nil for another value.
    private static func count(_ value: EncodedValue) -> Int? {
        if let list = EdgeList(value) { return Int(list.count) }
        guard value.tag == ValueTag.references else { return nil }
        var count = 0
        value.forEachReference { _ in count += 1 }
        return count
    }

    /// Counts the entries of each target in the indexes of references to an entity's tree.
    mutating func readDerivedLists(_ entity: Catalog.Entity, isWhole: Bool) {
        let catalog = file.catalog
        for owner in catalog.entities {
            let parent = owner.parent.flatMap { catalog.entity(id: $0) }
            for field in owner.fields where parent?.field(id: field.id) == nil {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0,
                    let inverse = reference.inverse, reference.inverseIsToMany,
                    let destination = catalog.entity(id: reference.destination),
                    isWhole ? destination.root == entity.root : catalog.isKind(destination.id, of: entity.id)
                else { continue }
                readRuns(TableName.index(index), destination, inverse)
            }
        }
    }

    private mutating func readRuns(_ table: String, _ destination: Catalog.Entity, _ relationship: String) {
        var target: [UInt8] = [], count = 0
        func finish(_ lists: inout Largest<StoreExtremes.List>) {
            guard count > 0, lists.takes(count) else { return }
            let key = target.withUnsafeBytes { target in
                RecordKey(storageKey: target) ?? file.wholeKey(destination, ofDigest: target)
                    ?? RecordKey(reference: target) ?? RecordKey([])
            }
            lists.add(
                count,
                StoreExtremes.List(entity: destination.name, key: key, relationship: relationship, count: count))
        }
        file.forEach(in: table) { entry, _ in
            let length = StorageKey.length(in: entry, components: destination.keyTypes.count) ?? entry.count
            let isSame = target.withUnsafeBytes { Bytes.equal($0, entry.slice(0..<min(length, entry.count))) }
            if !isSame {
                finish(&lists)
                target = Array(entry.prefix(length))
                count = 0
            }
            count += 1
        }
        finish(&lists)
    }

    /// Returns the tables with the most bytes; of entities their rows and indexes.
    func tables(_ tables: [StoreStatistics.Table], of entities: [Catalog.Entity]?) -> [StoreStatistics.Table] {
        var names: Set<String>?
        if let entities {
            names = []
            for entity in file.catalog.entities
            where entities.contains(where: { file.catalog.isKind(entity.id, of: $0.id) }) {
                names?.insert(TableName.records(entity.root))
                let indexes =
                    entity.fields.compactMap(\.index) + entity.indexes.map(\.id) + [entity.members].compactMap(\.self)
                names?.formUnion(indexes.map(TableName.index))
            }
        }
        var largest = Largest<StoreStatistics.Table>(limit)
        for table in tables where names?.contains(table.name) ?? true { largest.add(table.bytes, table) }
        return largest.entries.map(\.element)
    }
}
