import TarnStore

/// A reader of consecutive records of one file, which reads a bounded number of rows.
struct RecordPageReader {
    let file: StoreFile
    let entity: Catalog.Entity
    let order: RecordOrder
    let filter: RecordFilter?
    /// The most targets of each relationship that are looked up.
    let targets: Int

    /// Reads records behind a position, until there are enough, or until enough rows were read or
    /// the time is over.
    func page(
        after position: [UInt8]?, reversed: Bool, limit: Int, most: Int, time: Duration?,
        where isWanted: (Record) -> Bool
    ) -> RecordPage {
        var page = RecordPage()
        let end = time.map { ContinuousClock.now + $0 }
        // At least one row is read: each page continues behind the one before it.
        func isOver() -> Bool { page.examined > 0 && (end.map { $0 <= .now } ?? false) }
        // Keys that continue the last one with a zero byte follow it.
        let interval = reversed ? KeyInterval(below: position) : KeyInterval(from: position.map { $0 + [0] })
        let cursor = TableCursor(file, order.table(of: entity), in: interval, reversed: reversed)
        while page.records.count < limit, page.examined < most, !isOver() {
            guard cursor.next() else {
                page.last = nil
                break
            }
            page.examined += 1
            if order.index == nil {
                cursor.withEntry { key, row in
                    page.last = Array(key)
                    read(key, row, into: &page, where: isWanted)
                }
            } else if let entry = cursor.withKey({ Array($0) }) {
                page.last = entry
                entry.withUnsafeBytes { follow($0, into: &page, where: isWanted) }
            }
        }
        for (_, record) in page.records { page.targets.lookUp(record, most: targets, in: file) }
        file.reportFindings { page.damages.append($0) }
        return page
    }

    /// Reads the record of an index entry.
    private func follow(_ entry: Bytes, into page: inout RecordPage, where isWanted: (Record) -> Bool) {
        guard let key = order.owner(of: entry) else {
            let place = "index \(file.catalog.fullName(ofIndex: order.index ?? 0))"
            return page.damages.append(StoreInspector.Damage(place: place, reason: "an entry is unreadable"))
        }
        switch file.lookUp(key, in: TableName.records(entity.root)) {
        case .found(let row): row.withUnsafeBytes { read(key, $0, into: &page, where: isWanted) }
        case .absent: page.damages.append(file.damage(key, entity, "an index has it, and it is not stored"))
        // The page is among the findings.
        case .unreadable: page.damages.append(file.damage(key, entity, StoreInspector.unreachable))
        }
    }

    private func read(_ key: Bytes, _ row: Bytes, into page: inout RecordPage, where isWanted: (Record) -> Bool) {
        var damages: [StoreInspector.Damage] = [], found: Record?
        StoreInspector.read(key, row, of: entity, file, where: filter, damaged: { damages.append($0) }) { found = $0 }
        page.damages += damages
        if let found, isWanted(found) { page.records.append((Array(key), found)) }
    }
}
