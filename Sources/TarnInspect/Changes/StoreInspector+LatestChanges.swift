// The change log from its end, for a reader that pages through it.

import TarnStore

extension StoreInspector {
    /// Reads some changes, the newest first, as of one snapshot.
    ///
    /// - Parameters:
    ///   - position: The position that the page before it names; nil for the newest changes.
    ///   - limit: The most changes that are read.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func latestChanges(before position: [UInt8]? = nil, limit: Int) throws -> ChangePage {
        try open { file in
            try checkIsReadable(file)
            var page = ChangePage()
            page.incarnation = file.text(MetaKey.incarnation) ?? ""
            page.sequence = file.number(MetaKey.sequence) ?? 0
            page.trimmed = file.number(MetaKey.trimmedChanges) ?? 0
            let cursor = TableCursor(file, TableName.changes, in: KeyInterval(below: position), reversed: true)
            var read = 0, last: [UInt8]?
            while page.next == nil, cursor.next() {
                cursor.withEntry { key, value in
                    guard read < limit else { return page.next = last }
                    guard let group = ChangeGroup(key, value) else {
                        read += 1
                        last = Array(key)
                        return page.damages.append(Damage(place: "the change log", reason: "an entry is unreadable"))
                    }
                    for entry in group.reversed() where entry.isBelow(position) {
                        guard read < limit else { return page.next = last }
                        read += 1
                        last = entry.position
                        guard let entity = file.catalog.entity(id: entry.entity) else {
                            page.unknown += 1
                            continue
                        }
                        guard let change = Change(entry, of: entity, in: file) else {
                            page.damages.append(entry.damage)
                            continue
                        }
                        page.changes.append(change)
                    }
                }
            }
            file.reportFindings { page.damages.append($0) }
            return page
        }
    }
}

extension ChangeEntry {
    /// The key that an entry with only this change has.
    fileprivate var position: [UInt8] {
        withUnsafeBytes(of: sequence.bigEndian) { Array($0) } + withUnsafeBytes(of: ordinal.bigEndian) { Array($0) }
    }

    fileprivate func isBelow(_ key: [UInt8]?) -> Bool {
        key.map { position.lexicographicallyPrecedes($0) } ?? true
    }
}
