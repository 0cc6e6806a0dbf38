// The change log from its end, for a reader that pages through it.

import TarnStore

extension StoreInspector {
    /// Reads some changes, the newest first, as of one snapshot.
    ///
    /// - Parameters:
    ///   - position: The position that the page before it names; nil for the newest changes.
    ///   - limit: The most entries that are read.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func latestChanges(before position: [UInt8]? = nil, limit: Int) throws -> ChangePage {
        try open { file in
            try checkIsReadable(file)
            var page = ChangePage()
            page.sequence = file.number(MetaKey.sequence) ?? 0
            page.trimmed = file.number(MetaKey.trimmedChanges) ?? 0
            let cursor = TableCursor(file, TableName.changes, in: KeyInterval(below: position), reversed: true)
            var read = 0, last: [UInt8]?
            while cursor.next() {
                guard read < limit else {
                    page.next = last
                    break
                }
                read += 1
                last = cursor.withKey { Array($0) }
                cursor.withEntry { key, value in
                    guard let entry = ChangeEntry(key, value) else {
                        return page.damages.append(Damage(place: "the change log", reason: "an entry is unreadable"))
                    }
                    // A change of an entity that the catalog no longer has.
                    guard let entity = file.catalog.entity(id: entry.entity) else { return }
                    guard let change = Change(entry, of: entity, in: file) else {
                        let place = "change \(entry.sequence).\(entry.ordinal)"
                        return page.damages.append(Damage(place: place, reason: "undecodable value"))
                    }
                    page.changes.append(change)
                }
            }
            file.reportFindings { page.damages.append($0) }
            return page
        }
    }
}
