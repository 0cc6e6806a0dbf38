// The check of responses and of the three tables that find them by request, URL and listed record.

import TarnStore

extension StoreCheck {
    /// The entries of the other tables that the responses require.
    private struct Expected {
        var requests = EntrySet(), urls = EntrySet(), members = EntrySet()
    }

    func checkResponses() throws {
        var expected = Expected(), highest: UInt64 = 0, totals = CacheTotals()
        let isWhole = file.forEach(in: TableName.responses) { key, value in
            guard let (id, entry) = response(key, value) else { return }
            responseCount += 1
            highest = max(highest, id)
            add(id, entry, to: &expected)
            checkListed(id, entry)
            if let cost = entry.cacheCost { (totals.entries, totals.bytes) = (totals.entries + 1, totals.bytes + cost) }
            checkBody(id, entry)
            if !entry.hasReadableParts {
                findings.add(.responseForm, "response \(id)", "its parts do not match its body")
            }
        }
        if isWhole { checkTotals(totals) }
        if highest > file.number(MetaKey.nextResponse) ?? 0 {
            findings.add(
                .counter, "meta \(MetaKey.nextResponse)",
                "the counter is at \(file.number(MetaKey.nextResponse) ?? 0), but the response \(highest) exists")
        }
        compare(TableName.requests, expected.requests, isWhole, withValues: true)
        compare(TableName.urls, expected.urls, isWhole, withValues: false)
        compare(TableName.members, expected.members, isWhole, withValues: false)
        file.forEach(in: TableName.bodies) { key, _ in
            let id = key.count >= 8 ? key.loadBigEndian(0, UInt64.self) : 0
            guard withUnsafeBytes(of: id.bigEndian, { file.value($0, in: TableName.responses) }) == nil else { return }
            findings.add(.responseExtra, TableName.bodies, "a body of the response \(id), which does not exist")
        }
    }

    /// Compares the counters of the cache with the stored responses: eviction relies on them.
    private func checkTotals(_ totals: CacheTotals) {
        for (key, count) in [(MetaKey.cacheEntries, totals.entries), (MetaKey.cacheBytes, totals.bytes)] {
            let said = file.number(key) ?? 0
            if said != UInt64(count) {
                findings.add(.counter, "meta \(key)", "the counter is at \(said), but there are \(count)")
            }
        }
    }

    private func checkBody(_ id: UInt64, _ entry: ResponseEntry) {
        guard let size = entry.caching?.bodySize else { return }
        var found = 0
        let chunkSize = ResponseBody.chunkSize(format: file.format)
        for chunk in 0..<(size + chunkSize - 1) / chunkSize {
            let count = ResponseBody.withKey(id, chunk) { file.value($0, in: TableName.bodies)?.count }
            guard let count else { break }
            found += count
        }
        if found != size {
            findings.add(.responseMissing, "response \(id)", "expected a body of \(size) bytes, found \(found)")
        }
    }

    /// Decodes a response; nil after a finding if it cannot be read.
    private func response(_ key: Bytes, _ value: Bytes) -> (UInt64, ResponseEntry)? {
        let id = key.count == 8 ? key.loadBigEndian(0, UInt64.self) : 0
        guard key.count == 8, EncodedRow.hasValidChecksum(value, table: 0, key: key) else {
            findings.add(.responseForm, "response \(id)", "the checksum is wrong")
            return nil
        }
        guard let row = EncodedRow(value), row.body.isWellFormed, let entry = ResponseEntry(row) else {
            findings.add(.responseForm, "response \(id)", "its entry is unreadable")
            return nil
        }
        return (id, entry)
    }

    private func add(_ id: UInt64, _ entry: ResponseEntry, to expected: inout Expected) {
        entry.forEachPlace(id, format: file.format) { place, key, value in
            switch place {
            case .requests: expected.requests.add(key, value)
            case .urls: expected.urls.add(key)
            case .members: expected.members.add(key)
            }
        }
    }

    /// Checks that every listed record exists.
    ///
    /// A list without one of its records differs from the server's, so a response must be removed
    /// together with its record, unless it may list missing ones.
    private func checkListed(_ id: UInt64, _ entry: ResponseEntry) {
        let mayListMissing = entry.mayListMissing
        for record in entry.listing.listed {
            guard catalog.entity(id: record.entity)?.root == record.entity else {
                findings.add(
                    .responseRecord, "response \(id)",
                    "it lists a record of the entity \(record.entity), which has no table")
                continue
            }
            guard !mayListMissing, hasAllRows(record.entity) else { continue }
            record.storageKey.withUnsafeBytes { key in
                guard !hasRecord(key, record.entity) else { return }
                let name = catalog.entity(id: record.entity)?.name ?? "?"
                findings.add(
                    .responseRecord, "response \(id)",
                    "it lists \(name) \(RecordKey.describe(storageKey: key)), which does not exist")
            }
        }
    }

    /// Returns whether a record exists. Most lists name neighbours, which are in one leaf.
    func hasRecord(_ key: Bytes, _ root: UInt16) -> Bool {
        if let leaf = lastLeaves[root], file.snapshot.has(key, inLeaf: leaf) { return true }
        guard let table = file.snapshot.tables[TableName.records(root)], table.flags == 0,
            let leaf = file.snapshot.leaf(with: key, in: table)
        else { return false }
        lastLeaves[root] = leaf
        return true
    }

    private func compare(_ table: String, _ wanted: EntrySet, _ isWhole: Bool, withValues: Bool) {
        var found = EntrySet()
        let isTableWhole = file.forEach(in: table) { key, value in
            found.add(key, withValues ? value : .empty)
            if !withValues, !value.isEmpty { findings.add(.responseForm, table, "an entry has a value") }
        }
        guard isWhole, isTableWhole, findings.counts[.responseForm] == nil else {
            return notCompared.append("the table \(table): some of its entries or responses are unreadable")
        }
        guard found != wanted else { return }
        nameDifferences(table)
    }

    private static func table(of place: ResponseEntry.Place) -> String {
        switch place {
        case .requests: TableName.requests
        case .urls: TableName.urls
        case .members: TableName.members
        }
    }

    private func nameDifferences(_ table: String) {
        var wanted: [[UInt8]: UInt64] = [:]
        file.again(TableName.responses) { key, value in
            guard let row = EncodedRow(value), let entry = ResponseEntry(row), key.count == 8 else { return }
            let id = key.loadBigEndian(0, UInt64.self)
            entry.forEachPlace(id, format: file.format) { place, key, _ in
                if table == StoreCheck.table(of: place) { wanted[Array(key)] = id }
            }
        }
        file.again(table) { key, value in
            let id = wanted.removeValue(forKey: Array(key))
            if id == nil {
                findings.add(
                    .responseExtra, table,
                    "an entry that belongs to no response: \(RecordKey.describe(storageKey: key))")
            } else if let id, table == TableName.requests,
                !withUnsafeBytes(of: id.bigEndian, { Bytes.equal($0, value) })
            {
                findings.add(.responseMissing, table, "the request of the response \(id) refers to another response")
            }
        }
        for id in wanted.values.sorted() {
            findings.add(.responseMissing, table, "missing entry of the response \(id)")
        }
    }

    /// Checks that checkpoints, scans and local marks are readable and refer to existing entities.
    func checkProgress() {
        func isSystemRow(_ key: Bytes, _ value: Bytes) -> EncodedRow? {
            guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value),
                row.body.isWellFormed
            else { return nil }
            return row
        }
        file.forEach(in: TableName.checkpoints) { key, value in
            guard isSystemRow(key, value).flatMap({ Checkpoint($0) }) == nil else { return }
            findings.add(
                .checkpoint, "checkpoint \(RecordKey.describe(storageKey: key))",
                "unreadable, or the checksum is wrong")
        }
        file.forEach(in: TableName.scans) { key, value in
            guard let member = ScanMember(key, value) else {
                return findings.add(.scan, TableName.scans, "unreadable entry")
            }
            if catalog.entity(id: member.record.entity) == nil {
                findings.add(
                    .scan, TableName.scans,
                    "an entry of a record of the entity \(member.record.entity), which does not exist")
            }
        }
        file.forEach(in: TableName.local) { key, value in
            let place = "mark \(RecordKey.describe(storageKey: key.slice(min(2, key.count)..<key.count)))"
            guard key.count > 2, let row = isSystemRow(key, value), let mark = LocalMark(row) else {
                return findings.add(.localMark, place, "unreadable, or the checksum is wrong")
            }
            let root = key.loadBigEndian(0, UInt16.self)
            if catalog.entity(id: mark.entity)?.root != root {
                findings.add(.localMark, place, "a record of the entity \(mark.entity), which does not exist")
            }
        }
    }
}
