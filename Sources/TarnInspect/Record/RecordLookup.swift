// The lookup of one record in all tables that concern it.

import TarnStore

/// The state of a lookup. For one run on one file.
struct RecordLookup {
    private let file: StoreFile
    private let root: Catalog.Entity
    private let storageKey: [UInt8]
    private let limit: Int
    private let most: Int
    private let waits: Int, targets: Int
    private var result: RecordInspection

    init(
        _ file: StoreFile, _ entity: Catalog.Entity, _ key: RecordKey, limit: Int, most: Int, waits: Int, targets: Int
    ) {
        self.file = file
        (self.limit, self.most, self.waits, self.targets) = (max(0, limit), most, waits, targets)
        root = file.catalog.entity(id: entity.root) ?? entity
        storageKey = key.storageKey
        result = RecordInspection(
            entity: entity.name, key: key, table: TableName.records(root.id), storageKey: key.storageKey)
        result.aloneBecause = file.aloneBecause
    }

    private var catalog: Catalog { file.catalog }

    func run() -> RecordInspection {
        var lookup = self
        lookup.readRow()
        lookup.readReferrers()
        lookup.readListings()
        lookup.readLocalChange()
        lookup.readOperations()
        lookup.readChanges()
        file.reportFindings { damage in
            if lookup.result.damage == nil { lookup.result.damage = damage.description }
        }
        return lookup.result
    }

    // MARK: - The row

    private mutating func readRow() {
        let found: [UInt8]
        switch storageKey.withUnsafeBytes({ file.lookUp($0, in: result.table) }) {
        case .found(let row): found = row
        case .absent: return
        case .unreadable:
            result.isUnreadable = true
            return
        }
        result.row = found
        storageKey.withUnsafeBytes { key in found.withUnsafeBytes { readRow(key, $0) } }
    }

    private mutating func readRow(_ key: Bytes, _ row: Bytes) {
        guard row.count >= RowFormat.headerSize else {
            result.damage = "not a row"
            return
        }
        let isRight = EncodedRow.hasValidChecksum(row, table: UInt32(root.id), key: key)
        var header = RecordInspection.Header(
            format: row[0], isPartial: row[1] & 1 != 0, isWide: row[1] & 2 != 0, entity: row.load(6),
            version: row.load(12), checksum: row.load(8), isChecksumRight: isRight,
            compression: RecordLookup.compression(row[2]), dictionary: row.load(4), storedSize: row.count)
        if !isRight { result.damage = "the checksum is wrong" }
        file.decoder.lending {
            do throws(RowDecoder.Failure) {
                let view = try file.decoder.view(row)
                header.wholeSize = RowFormat.headerSize + view.body.bytes.count
                // A row with a wrong checksum may decode to anything.
                if let id = file.dictionaryOfInvalidJSON(view, stored: row), isRight {
                    result.damage = StoreFile.invalidJSON(id)
                } else if isRight {
                    read(view, key)
                }
            } catch .noDictionary(let id) {
                result.damage = result.damage ?? "its dictionary \(id) is missing or damaged"
            } catch {
                result.damage = result.damage ?? "not a row"
            }
        }
        result.header = header
    }

    private static func compression(_ form: UInt8) -> String {
        switch form {
        case RowFormat.uncompressed: "none"
        case RowFormat.zstd: "zstd"
        case RowFormat.zstdLongValues: "zstd, long values"
        case RowFormat.packedLongValues: "zstd, long values; packed directory"
        default: "unknown (\(form))"
        }
    }

    private mutating func read(_ row: EncodedRow, _ key: Bytes) {
        guard let entity = file.entity(of: row, root: root.id) else {
            result.damage = "a row of the entity \(row.entity), which the table cannot have"
            return
        }
        guard row.body.isWellFormed, let record = try? file.record(root, key, row) else {
            result.damage = "undecodable value"
            return
        }
        result.record = record
        result.entity = record.entity
        // The caller may know the digest of a long key only.
        result.key = record.key
        for field in entity.fields {
            guard case .reference(let reference) = field.kind else { continue }
            result.targetEntities[field.name] = catalog.entity(id: reference.destination)
        }
        result.targets.lookUp(record, most: targets, in: file)
        guard let rules = file.rules[entity.id] else { return }
        var entries: [RecordInspection.IndexEntry] = []
        try? file.forEachEntry(rules, key, row.body) { index, entry, _ in
            var inspected = RecordInspection.IndexEntry(
                index: file.catalog.fullName(ofIndex: index), bytes: Array(entry), isPresent: false,
                isBuilding: file.marks[index]?.phase == .building)
            switch file.lookUp(entry, in: TableName.index(index)) {
            case .found: inspected.isPresent = true
            case .absent: break
            case .unreadable: inspected.isUnreadable = true
            }
            entries.append(inspected)
        }
        result.indexEntries = entries
    }

    // MARK: - Referrers

    private mutating func readReferrers() {
        for owner in catalog.entities {
            let parent = owner.parent.flatMap { catalog.entity(id: $0) }
            for field in owner.fields where parent?.field(id: field.id) == nil {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0,
                    catalog.entity(id: reference.destination)?.root == root.id
                else { continue }
                var found = RecordInspection.Referrers(
                    relationship: "\(owner.name).\(field.name)", inverse: reference.inverse, keys: [], count: 0)
                readReferrers(index, owner, prefix: storageKey, positioned: reference.inverseIsOrdered, &found)
                append(found)
            }
            for join in owner.joins where !(parent?.joins.contains { $0.name == join.name } ?? false) {
                guard let destination = catalog.entity(id: join.destination), destination.root == root.id else {
                    continue
                }
                readJoined(owner, join, destination)
            }
        }
    }

    private func readReferrers(
        _ index: UInt32, _ owner: Catalog.Entity, prefix: [UInt8], positioned: Bool,
        _ found: inout RecordInspection.Referrers, where isReferrer: (Bytes) -> Bool = { _ in true }
    ) {
        // Entries may be missing.
        if file.marks[index]?.phase == .building { found.isCountWhole = false }
        readReferrers(TableName.index(index), owner, prefix: prefix, &found) { entry in
            // 00 FF inside an encoded text is a NUL: the entry belongs to a longer text.
            guard !(entry.count > prefix.count && entry[prefix.count] == 0xFF) else { return nil }
            guard let key = IndexEntry.owner(in: entry, afterValuesOf: prefix.count, positioned: positioned) else {
                file.noteMalformed(entry, in: index)
                return nil
            }
            return isReferrer(key) ? key : nil
        }
    }

    /// Reads the entries of a table that begin with some bytes.
    ///
    /// - Parameter referrer: Returns the storage key of the referrer in an entry.
    private func readReferrers(
        _ table: String, _ owner: Catalog.Entity, prefix: [UInt8], _ found: inout RecordInspection.Referrers,
        referrer: (Bytes) -> Bytes?
    ) {
        let cursor = TableCursor(file, table, in: prefix.isEmpty ? KeyInterval() : KeyInterval(prefix: prefix))
        var read = 0
        while cursor.next() {
            guard read < most else {
                found.isCountWhole = false
                break
            }
            read += 1
            cursor.withKey { entry in
                guard let key = referrer(entry) else { return }
                found.count += 1
                guard found.keys.count < limit else { return }
                let name = name(key, owner)
                found.keys.append(name.description)
                found.recordKeys.append(name)
                found.storageKeys.append(Array(key))
            }
        }
    }

    private func name(_ key: Bytes, _ owner: Catalog.Entity) -> RecordKey {
        RecordKey(storageKey: key) ?? file.wholeKey(owner, ofDigest: key) ?? RecordKey(reference: key)
            ?? RecordKey([.digest(Array(key))])
    }

    /// Reads the records whose attribute equals an attribute of this one.
    private mutating func readJoined(_ owner: Catalog.Entity, _ join: Catalog.Join, _ destination: Catalog.Entity) {
        guard let name = destination.field(id: join.theirs)?.name, let value = result.record?[name] else { return }
        if case .null = value { return }
        var encoded = ByteWriter(), entry = ByteWriter()
        encoded.appendValue(value)
        IndexEntry.appendValue(EncodedValue(encoded.bytes), to: &entry)
        var found = RecordInspection.Referrers(
            relationship: "\(owner.name).\(join.name)", inverse: join.inverse, keys: [], count: 0)
        let isCut = IndexEntry.isCut(entry.bytes), whole = Array(encoded.bytes)
        guard let index = owner.field(id: join.own)?.index, index > 0 else {
            // It was withdrawn, since records have equal values.
            readReferrers(TableName.records(owner.root), owner, prefix: [], &found) { key in
                hasValue(whole, of: join.own, owner, key) ? key : nil
            }
            return append(found)
        }
        // Entries of values that were cut may be of others that begin with the same bytes: the rows
        // tell them apart. One that cannot be read is no referrer that is known, and is reported.
        readReferrers(index, owner, prefix: Array(entry.bytes), positioned: false, &found) { key in
            !isCut || hasValue(whole, of: join.own, owner, key)
        }
        append(found)
    }

    private mutating func append(_ found: RecordInspection.Referrers) {
        if found.count > 0 || !found.isCountWhole { result.referrers.append(found) }
    }

    private func hasValue(_ value: [UInt8], of field: UInt16, _ owner: Catalog.Entity, _ key: Bytes) -> Bool {
        file.lending {
            do {
                return try file.row(owner, key)?.body.value(of: field)?.bytes.elementsEqual(value) ?? false
            } catch {
                file.note(.rowForm, "\(owner.name) \(file.describe(key))", "the row cannot be read")
                return false
            }
        }
    }

    // MARK: - Local changes

    private mutating func readLocalChange() {
        let mark = withUnsafeBytes(of: root.id.bigEndian) { Array($0) } + storageKey
        mark.withUnsafeBytes { key in
            switch file.lookUp(key, in: TableName.local) {
            case .found(let value):
                result.isChangedLocally = true
                result.localChange = value.withUnsafeBytes { value in
                    FileOutbox.row(key, value).flatMap { LocalMark($0) }?.change(key.slice(2..<key.count), catalog)
                }
                guard result.localChange == nil else { return }
                let place = "mark of \(root.name) \(RecordKey.describe(storageKey: storageKey))"
                file.note(.localMark, place, FileOutbox.unreadable)
            case .absent: break
            case .unreadable: result.isMarkUnreadable = true
            }
        }
    }

    private mutating func readOperations() {
        let outbox = FileOutbox(file), own = ListedRecord(entity: root.id, storageKey: storageKey), now = Timestamp.now
        let isMarked = result.isChangedLocally || result.isMarkUnreadable
        // Those of other records may be many, and each has marked the records that it changes.
        let (ids, areAllIDs) = outbox.searching(most: most) {
            (outbox.ids(.own, own) + (isMarked ? outbox.ids(.reference, own) : [])).sorted()
        }
        let (operations, isWhole) = outbox.searching(most: most) {
            var found: [StoredOperation] = []
            for id in ids where found.count <= limit {
                guard let operation = outbox.indexed(id), operation.touches(own, operation.record(catalog)) else {
                    continue
                }
                found.append(operation)
            }
            return found
        }
        result.operations = operations.prefix(limit).compactMap { outbox.inspected($0, most: waits, at: now) }
        result.mayHaveMoreOperations = !areAllIDs || !isWhole || operations.count > limit
        for operation in result.operations { result.targets.lookUp(operation.operation, most: targets, in: file) }
    }

    // MARK: - Responses and changes

    private mutating func readListings() {
        let prefix = withUnsafeBytes(of: root.id.bigEndian) { Array($0) } + storageKey
        let cursor = TableCursor(file, TableName.members, in: KeyInterval(prefix: prefix))
        while result.listings.count < limit, cursor.next() {
            let id: UInt64?? = cursor.withKey { key -> UInt64? in
                key.count == prefix.count + 8 ? key.loadBigEndian(prefix.count) : nil
            }
            if let id = id ?? nil { result.listings.append(listing(id)) }
        }
    }

    private func listing(_ id: UInt64) -> RecordInspection.Listing {
        var listing = RecordInspection.Listing(response: id)
        withUnsafeBytes(of: id.bigEndian) { key in
            let value: [UInt8]
            switch file.lookUp(key, in: TableName.responses) {
            case .found(let found): value = found
            case .absent:
                return file.note(.responseExtra, "response \(id)", "an entry refers to it, and it does not exist")
            case .unreadable: return
            }
            value.withUnsafeBytes { value in
                guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value),
                    row.body.isWellFormed, let entry = ResponseEntry(row)
                else { return file.note(.responseForm, "response \(id)", "unreadable, or the checksum is wrong") }
                listing.method = entry.request.method
                listing.url = entry.request.url
                listing.endpoint = String(entry.request.endpoint.prefix { $0 != " " })
                listing.status = entry.validation.status
                listing.validatedAt = entry.validation.validatedAt
                listing.index = entry.listing.listed.firstIndex {
                    $0.entity == root.id && $0.storageKey == storageKey
                }
            }
        }
        return listing
    }

    private mutating func readChanges() {
        let cursor = TableCursor(file, TableName.changes, reversed: true)
        var read = 0
        while result.changes.count < limit, cursor.next() {
            guard read < most else {
                result.isLogWhole = false
                break
            }
            let changes: [RecordInspection.Change]? = cursor.withEntry { key, value in
                guard let group = ChangeGroup(key, value) else {
                    file.note(.changeForm, "the change log", "an entry is unreadable")
                    read += 1
                    return []
                }
                read += group.count
                return group.reversed().compactMap { change($0) }
            }
            result.changes += changes?.prefix(limit - result.changes.count) ?? []
        }
    }

    private func change(_ entry: ChangeEntry) -> RecordInspection.Change? {
        guard let entity = catalog.entity(id: entry.entity), entity.root == root.id,
            storageKey.withUnsafeBytes({ Bytes.equal($0, entry.storageKey) })
        else { return nil }
        let values = entry.values.flatMap { $0.isWellFormed ? (try? file.fields(entity, $0)) ?? nil : nil }
        if entry.values != nil, values == nil {
            file.note(.changeForm, "change \(entry.sequence).\(entry.ordinal)", "undecodable value")
        }
        let operation =
            switch entry.operation {
            case .create: "created"
            case .update: "updated"
            case .delete: "deleted"
            }
        return RecordInspection.Change(
            sequence: entry.sequence, ordinal: entry.ordinal, operation: operation, fields: values)
    }
}
