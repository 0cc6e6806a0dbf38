// Entries and counters that follow from rows and responses, compared with them and made anew.

internal import LMDB

/// One repair, within a write transaction.
struct Repair: ~Copyable {
    let access: StoreAccess
    let removesRows: Bool
    var report = RepairReport()
    private var expected: [UInt32: EntrySet] = [:]
    private var highestVersion: UInt64 = 0, highestList: UInt64 = 0
    private var lists: [UInt64: UInt32] = [:], lostRows: [ListedRecord] = []
    /// The storage keys of the rows that stay although they are damaged, by root entity.
    private var damaged: [UInt16: DamagedKeys] = [:]

    private struct DamagedKeys {
        var unreadable: Set<[UInt8]> = []
        /// Rows with a long list that is not whole.
        var incomplete: Set<[UInt8]> = []
    }

    private var raw: RawTransaction { access.raw }
    private var meta: ChecksummedTable { access.state.meta }

    init(_ access: StoreAccess, removesRows: Bool) {
        self.access = access
        self.removesRows = removesRows
        report.removesDamagedRows = removesRows
    }

    mutating func run() throws {
        try raw.willAdd()
        try removeMalformedListRows()
        try readRows()
        if report.damagedRows.isEmpty || removesRows { try removeLists() }
        try repairIndexes()
        try repairResponses()
        try repairOwnRows()
        try repairChanges()
        try raise(MetaKey.sequence, to: highestVersion)
        try raise(MetaKey.nextList, to: highestList)
        for key in [MetaKey.quota, MetaKey.quotaBase] { try raise(key, to: 0) }
        try raise(MetaKey.nextDictionary, to: UInt64(try RowDictionary.ids(raw, meta).max() ?? 0))
    }

    /// A number of `meta`; nil if it is missing or damaged.
    func counter(_ key: StaticString) throws -> UInt64? {
        guard let stored = try raw.get(meta.table, Bytes(key)), let value = meta.content(stored, key: Bytes(key)),
            value.count == 8
        else { return nil }
        return value.loadBigEndian(0, UInt64.self)
    }

    private mutating func raise(_ key: StaticString, to least: UInt64) throws {
        if let counter = try counter(key), counter >= least { return }
        // In earlier formats, a number that was never needed is missing.
        if !meta.hasChecksums, least == 0 { return }
        try raw.put(meta, key: key, number: least)
        report.counters["\(key)"] = least
    }

    // MARK: - Rows

    private func forEachRow(of root: Catalog.Entity, _ body: (Bytes, Bytes) throws -> Void) throws {
        let cursor = try raw.cursor(access.state.records(of: root.id))
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            try body(key, value)
            entry = try cursor.next()
        }
    }

    private var roots: [Catalog.Entity] { access.catalog.entities.filter { $0.root == $0.id } }

    /// Calls the closure with a row if it is readable.
    ///
    /// A row stays with what is readable of its long lists, unless damaged rows are removed.
    ///
    /// - Returns: false for a row that is not readable as a whole.
    private func withRow(
        _ root: Catalog.Entity, _ key: Bytes, _ value: Bytes, _ body: (EntityRules, EncodedRow) throws -> Void
    ) throws -> Bool {
        guard EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key) else { return false }
        return try access.lending {
            guard let row = try? access.records.view(value, root, key), row.body.isWellFormed,
                let entity = access.catalog.entity(id: row.entity), entity.root == root.id
            else { return false }
            let isWhole = try hasWholeLists(row)
            if isWhole || !removesRows { try body(access.state.rules(of: entity.id), row) }
            return isWhole
        }
    }

    private func hasWholeLists(_ row: EncodedRow) throws -> Bool {
        for index in 0..<row.body.count {
            guard let value = row.body.value(at: index), let list = EdgeList(value) else { continue }
            guard try access.isWhole(list, value) else { return false }
        }
        return true
    }

    private mutating func readRows() throws {
        for root in roots {
            var damaged: [[UInt8]] = [], keys = DamagedKeys(), sums: [UInt32: EntrySet] = [:], version: UInt64 = 0,
                lists: [EdgeList] = []
            try forEachRow(of: root) { key, value in
                var isReadable = false
                let isSound = try withRow(root, key, value) { rules, row in
                    isReadable = true
                    if row.version <= SettingsTable.highestSequence { version = max(version, row.version) }
                    for index in 0..<row.body.count {
                        if let list = EdgeList(row.body.value(at: index)) { lists.append(list) }
                    }
                    try access.forEachEntry(rules, key, row.body) { index, entry, _ in
                        sums[index, default: EntrySet()].add(entry)
                    }
                }
                guard !isSound else { return }
                damaged.append(Array(key))
                if isReadable { keys.incomplete.insert(Array(key)) } else { keys.unreadable.insert(Array(key)) }
            }
            if !removesRows, !damaged.isEmpty { self.damaged[root.id] = keys }
            highestVersion = max(highestVersion, version)
            for list in lists {
                self.lists[list.id] = list.count
                highestList = max(highestList, list.id)
            }
            for (index, sum) in sums { expected[index, default: EntrySet()].add(sum) }
            for key in damaged { try take(root, key) }
        }
    }

    /// Reports an unreadable row, and removes it if the options request it.
    private mutating func take(_ root: Catalog.Entity, _ key: [UInt8]) throws {
        try key.withUnsafeBytes { key in
            report.damagedRows.append("\(root.name) \(access.describe(key))")
            if let fields = try changedFields(root, key) {
                report.damagedLocalChanges.append("\(root.name) \(access.describe(key)) (\(fields))")
            }
            guard removesRows else { return }
            // The responses that list it are removed later, as all that list a missing record; its
            // mark as soon as the outbox has the right index entries.
            _ = try raw.delete(access.state.records(of: root.id), key)
            lostRows.append(ListedRecord(entity: root.id, storageKey: Array(key)))
        }
    }

    /// Returns the fields of a record that were changed locally; nil if no readable mark names it.
    private func changedFields(_ root: Catalog.Entity, _ key: Bytes) throws -> String? {
        guard let local = access.state.local else { return nil }
        let place = withUnsafeBytes(of: root.id.bigEndian) { Array($0) } + Array(key)
        return try place.withUnsafeBytes { place in
            guard let row = try raw.get(local, place), EncodedRow.hasValidChecksum(row, table: 0, key: place) else {
                return nil
            }
            return EncodedRow(row).flatMap { LocalMark($0) }?.changedFields(access.catalog)
        }
    }

    /// Removes entries that belong to no list, as their keys have another length.
    ///
    /// Between those of a list, they would make it look incomplete.
    private mutating func removeMalformedListRows() throws {
        guard let edges = access.state.edges else { return }
        try remove(from: edges.table, \.listRowsRemoved) { key, _ in key.count == 12 }
    }

    private mutating func removeLists() throws {
        guard let edges = access.state.edges else { return }
        let lists = lists
        try remove(from: edges.table, \.listRowsRemoved) { key, _ in
            key.count == 12 && key.loadBigEndian(8, UInt32.self) < lists[key.loadBigEndian(0, UInt64.self)] ?? 0
        }
    }

    // MARK: - Indexes

    /// Builds the indexes anew that contradict the rows.
    ///
    /// Many may be damaged: the rows of their entities are read once for all of them.
    private mutating func repairIndexes() throws {
        var rebuilt: Set<UInt32> = []
        for id in access.catalog.indexIDs {
            if try isToBeFilled(index: id) { rebuilt.insert(id) }
        }
        let wanted = Set(access.catalog.entities.filter { !rebuilt.isDisjoint(with: indexes(of: $0)) }.map(\.root))
        var changes = IndexChanges(), bytes = 0, rows = 0
        for root in roots where wanted.contains(root.id) {
            try forEachRow(of: root) { key, value in
                rows += 1
                _ = try withRow(root, key, value) { rules, row in
                    try access.forEachEntry(rules, key, row.body) { index, entry, _ in
                        guard rebuilt.contains(index) else { return }
                        changes.add(entry, to: index, insertion: true)
                        bytes += entry.count
                    }
                }
                guard bytes > Repair.batch else { return }
                try changes.apply(raw, table: access.state.index) { _, _ in }
                changes = IndexChanges()
                bytes = 0
            }
        }
        try changes.apply(raw, table: access.state.index) { _, _ in }
        report.rowsReadForIndexes = rows
    }

    private func indexes(of entity: Catalog.Entity) -> [UInt32] {
        entity.fields.compactMap(\.index) + entity.indexes.map(\.id) + [entity.members].compactMap(\.self)
    }

    /// Empties an index that contradicts the rows, except for entries of damaged rows that stay.
    ///
    /// - Returns: whether the entries of the readable rows are missing now.
    private mutating func isToBeFilled(index id: UInt32) throws -> Bool {
        let table = try access.state.index(id), marks = try IndexMark.of(id, raw, meta)
        // An unfinished index is built anew; readers do not use it.
        if var mark = marks, mark.phase == .building {
            guard mark.count > 0 || !mark.key.isEmpty else { return false }
            (mark.count, mark.key) = (0, [])
            try raw.removeAll(table)
            try mark.put(id, raw, meta)
            return false
        }
        let found = try EntrySet(raw, table), kept = try entriesOfDamagedRows(id, table)
        var wanted = expected[id] ?? EntrySet()
        for entry in kept { entry.withUnsafeBytes { wanted.add($0) } }
        guard found != wanted else { return false }
        try raw.removeAll(table)
        var changes = IndexChanges()
        for entry in kept { entry.withUnsafeBytes { changes.add($0, to: id, insertion: true) } }
        try changes.apply(raw, table: access.state.index) { _, _ in }
        report.indexes.append(
            RepairReport.Rebuilt(
                name: access.catalog.fullName(ofIndex: id), entriesBefore: found.count, entriesAfter: wanted.count))
        return true
    }

    /// Returns the entries of damaged rows in an index that do not follow from what is readable of
    /// the rows.
    ///
    /// Without them, queries would leave the records out and report nothing.
    private func entriesOfDamagedRows(_ id: UInt32, _ table: Table) throws -> Set<[UInt8]> {
        let rules = access.state.rules(forIndex: id)
        guard let root = rules?.0.root ?? access.catalog.entities.first(where: { $0.members == id })?.root,
            let damaged = damaged[root], let entity = access.catalog.entity(id: root)
        else { return [] }
        // The entries that follow from other fields than lists are known.
        let incomplete = rules?.1.targets == nil ? [] : damaged.incomplete
        let keys = damaged.unreadable.union(incomplete)
        var entries: Set<[UInt8]> = []
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var next = try cursor.first()
        while let (entry, value) = next, !keys.isEmpty {
            let key = rules.map { $0.1.recordKey(in: entry, access.catalog) } ?? entry
            if let key, keys.contains(Array(key)), value.isEmpty { entries.insert(Array(entry)) }
            next = try cursor.next()
        }
        for key in incomplete {
            try key.withUnsafeBytes { key in
                guard let value = try raw.get(access.state.records(of: root), key) else { return }
                _ = try withRow(entity, key, value) { rules, row in
                    try access.forEachEntry(rules, key, row.body) { index, entry, _ in
                        if index == id { entries.remove(Array(entry)) }
                    }
                }
            }
        }
        return entries
    }

    private static let batch = 64 << 20

    // MARK: - Responses

    private mutating func repairResponses() throws {
        let state = access.state
        var removed: [UInt64] = [], requests = EntrySet(), urls = EntrySet(), members = EntrySet(), highest: UInt64 = 0
        var totals = CacheTotals()
        try remove(from: state.responses) { key, _ in key.count == 8 }
        try forEachResponse { id, entry in
            guard let entry, entry.hasReadableParts, try hasItsRecords(entry),
                try access.responses.hasBody(of: id, entry)
            else { return removed.append(id) }
            highest = max(highest, id)
            if let cost = entry.cacheCost { (totals.entries, totals.bytes) = (totals.entries + 1, totals.bytes + cost) }
            entry.forEachPlace(id, format: state.format) { place, key, value in
                switch place {
                case .requests: requests.add(key, value)
                case .urls: urls.add(key)
                case .members: members.add(key)
                }
            }
        }
        for id in removed { _ = try withUnsafeBytes(of: id.bigEndian) { try raw.delete(state.responses, $0) } }
        report.responsesRemoved = removed.count
        // They are counted again with the next response.
        if !removed.isEmpty { _ = try raw.delete(meta.table, Bytes(MetaKey.cacheMappings)) }
        try raise(MetaKey.nextResponse, to: highest)
        for (key, total) in [
            (MetaKey.cacheEntries, UInt64(totals.entries)), (MetaKey.cacheBytes, UInt64(totals.bytes)),
        ] {
            guard try counter(key) ?? (meta.hasChecksums ? nil : 0) != total else { continue }
            try raw.put(meta, key: key, number: total)
            report.counters["\(key)"] = total
        }
        if let bodies = state.bodies {
            let raw = raw
            try remove(from: bodies.table) { key, value in
                guard key.count >= 8, bodies.content(value, key: key) != nil else { return false }
                return try raw.get(state.responses, key.slice(0..<8)) != nil
            }
        }
        let known: [(name: String, table: Table, wanted: EntrySet, found: EntrySet?)] = try [
            (TableName.requests, state.requests.table, requests, EntrySet(raw, state.requests)),
            (TableName.urls, state.urls, urls, EntrySet(raw, state.urls)),
            (TableName.members, state.members, members, EntrySet(raw, state.members)),
        ]
        for (name, table, wanted, found) in known where wanted != found {
            let before = try found?.count ?? raw.statistics(table).entries
            try raw.removeAll(table)
            report.tables.append(RepairReport.Rebuilt(name: name, entriesBefore: before, entriesAfter: wanted.count))
        }
        guard !report.tables.isEmpty else { return }
        let isAnew = Set(report.tables.map(\.name))
        try forEachResponse { id, entry in
            guard let entry else { return }
            try entry.forEachPlace(id, format: state.format) { place, key, value in
                switch place {
                case .requests: if isAnew.contains(TableName.requests) { try raw.put(state.requests, key, value) }
                case .urls: if isAnew.contains(TableName.urls) { try raw.put(state.urls, key, .empty) }
                case .members: if isAnew.contains(TableName.members) { try raw.put(state.members, key, .empty) }
                }
            }
        }
    }

    /// Calls the closure with every response and its id; with nil for an unreadable one.
    private func forEachResponse(_ body: (UInt64, ResponseEntry?) throws -> Void) throws {
        let cursor = try raw.cursor(access.state.responses)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            if key.count == 8 {
                let isSound = EncodedRow.hasValidChecksum(value, table: 0, key: key)
                try body(
                    key.loadBigEndian(0, UInt64.self), isSound ? EncodedRow(value).flatMap { ResponseEntry($0) } : nil)
            }
            entry = try cursor.next()
        }
    }

    /// Whether all records that a response lists are stored, unless it may list missing ones.
    private func hasItsRecords(_ entry: ResponseEntry) throws -> Bool {
        let mayListMissing = entry.mayListMissing
        return try entry.listing.listed.allSatisfy { try isThere($0, orWas: mayListMissing) }
    }

    private func isThere(_ record: ListedRecord, orWas: Bool) throws -> Bool {
        guard access.catalog.entity(id: record.entity)?.root == record.entity else { return false }
        return try orWas || raw.get(access.state.records(of: record.entity), record.storageKey) != nil
    }

    // MARK: - What else there is

    private mutating func repairOwnRows() throws {
        func isRow(_ key: Bytes, _ value: Bytes) -> EncodedRow? {
            EncodedRow.hasValidChecksum(value, table: 0, key: key) ? EncodedRow(value) : nil
        }
        let state = access.state
        try remove(from: state.checkpoints) { key, value in isRow(key, value).flatMap { Checkpoint($0) } != nil }
        var unmarked: [ListedRecord] = []
        if let local = state.local {
            try remove(from: local) { key, value in
                guard key.count > 2 else { return false }
                let record = ListedRecord(
                    entity: key.loadBigEndian(0, UInt16.self), storageKey: Array(key.dropFirst(2)))
                guard let mark = isRow(key, value).flatMap({ LocalMark($0) }),
                    state.catalog.entity(id: mark.entity)?.root == record.entity
                else {
                    unmarked.append(record)
                    return false
                }
                return true
            }
        }
        if let scans = state.scans {
            report.scanMembersRestored = try restoreScanMembers(scans)
            try remove(from: scans.table) { key, value in
                let member = scans.content(value, key: key).flatMap { ScanMember(key, $0) }
                return member.map { state.catalog.entity(id: $0.record.entity) != nil } ?? false
            }
        }
        let outbox = try access.repairOutbox()
        report.ownRowsRemoved += outbox.removed
        report.rebuildsOutbox = outbox.isChanged
        for record in lostRows { _ = try access.removeMarkOfLostRow(record) }
        try restoreRecords(lostRows, outbox.lost, unmarked)
    }

    private mutating func remove(
        from table: Table, _ count: WritableKeyPath<RepairReport, Int> = \.ownRowsRemoved,
        unless isSound: (Bytes, Bytes) throws -> Bool
    ) throws {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            if try !isSound(key, value) {
                try cursor.delete()
                report[keyPath: count] += 1
            }
            entry = try cursor.next()
        }
    }

    /// Clears a log that contradicts the rows: its consumers would not notice.
    private mutating func repairChanges() throws {
        // Numbers that no commit can have do not count: there might be no next one.
        let known = try counter(MetaKey.trimmedChanges), trimmed = known ?? 0,
            stored = try counter(MetaKey.sequence), isPossible = (stored ?? 0) <= SettingsTable.highestSequence,
            sequence = isPossible ? stored ?? 0 : 0
        var highest = max(sequence, highestVersion)
        // Without the number, missing changes cannot be detected.
        var newest: [ListedRecord: (sequence: UInt64, isDeleted: Bool)] = [:],
            isSound = isPossible && (known != nil || !meta.hasChecksums)
        let changes = access.state.changes, cursor = try raw.cursor(changes.table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            let group = changes.content(value, key: key).flatMap { ChangeGroup(key, $0) }
            if group == nil { isSound = false }
            for change in group.map(Array.init) ?? [] {
                if change.sequence <= SettingsTable.highestSequence { highest = max(highest, change.sequence) }
                guard isSound else { continue }
                guard change.values?.isWellFormed ?? true, change.sequence >= trimmed, change.sequence <= sequence
                else {
                    isSound = false
                    continue
                }
                if let entity = access.catalog.entity(id: change.entity) {
                    newest[ListedRecord(entity: entity.root, storageKey: Array(change.storageKey))] = (
                        change.sequence, change.operation == .delete
                    )
                }
            }
            entry = try cursor.next()
        }
        for root in roots where isSound {
            try forEachRow(of: root) { key, value in
                let change = newest.removeValue(forKey: ListedRecord(entity: root.id, storageKey: Array(key)))
                // The version of a damaged row says nothing about the log.
                guard EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key),
                    case let version = value.load(12, UInt64.self), version <= SettingsTable.highestSequence
                else { return }
                let isNamed = change.map { !$0.isDeleted && $0.sequence == version } ?? (version <= trimmed)
                isSound = isSound && isNamed
            }
        }
        isSound = isSound && newest.values.allSatisfy(\.isDeleted)
        guard !isSound else { return }
        try raw.removeAll(access.state.changes)
        // A commit of its own: a consumer that knows the newest one may have missed changes, too.
        let next = highest + 1
        if stored == nil || !isPossible { report.counters["\(MetaKey.sequence)"] = next }
        try raw.put(meta, key: MetaKey.sequence, number: next)
        try raw.put(meta, key: MetaKey.trimmedChanges, number: next)
        report.clearsChangeLog = true
    }
}
