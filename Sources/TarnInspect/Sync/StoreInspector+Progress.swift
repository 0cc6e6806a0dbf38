// The progress of syncs, without the description: as far as the file has it.

import TarnStore

extension StoreInspector {
    /// Reads the progress of some endpoints in the order of their names, as of one snapshot.
    ///
    /// - Parameters:
    ///   - position: The position that the page before it names; nil for the beginning.
    ///   - lists: The most lists of an endpoint that are read.
    ///   - most: The most lists that are read; the page then ends behind an endpoint.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func progress(after position: [UInt8]? = nil, lists: Int = .max, most: Int = .max) throws -> ProgressPage {
        try open { file in
            try checkIsReadable(file)
            let reader = CheckpointReader(file: file)
            var page = ProgressPage(), first = position, read = 0
            while true {
                // Behind the lists of an endpoint that has more than are read.
                let skipped = StoreInspector.readEndpoints(reader, from: first, lists, most, &read, &page)
                guard let skipped else { break }
                first = skipped
            }
            file.reportFindings { page.damages.append($0) }
            return page
        }
    }

    /// Reads endpoints until one has too many lists, or until the page is full.
    ///
    /// - Returns: The position behind the former; nil if the page has ended.
    private static func readEndpoints(
        _ reader: CheckpointReader, from first: [UInt8]?, _ lists: Int, _ most: Int, _ read: inout Int,
        _ page: inout ProgressPage
    ) -> [UInt8]? {
        let cursor = TableCursor(reader.file, TableName.checkpoints, in: KeyInterval(from: first))
        // The lists of damaged pages may be those of the endpoint before and of the one behind.
        func noteDamage() {
            if !cursor.isWhole, !page.endpoints.isEmpty { page.endpoints[page.endpoints.count - 1].isWhole = false }
        }
        var own = 0
        while cursor.next() {
            noteDamage()
            guard let key = cursor.withKey({ Array($0) }), CheckpointReader.isList(key) else { continue }
            let id = CheckpointReader.endpoint(of: key)
            if page.endpoints.last?.id != id {
                guard read < most else {
                    page.next = key
                    return nil
                }
                let name = CheckpointReader.name(id + [0]).text
                page.endpoints.append(EndpointProgress(name: name, id: id))
                own = 0
                noteDamage()
            }
            let last = page.endpoints.count - 1
            guard own < lists else {
                page.endpoints[last].isWhole = false
                return CheckpointReader.lists(of: id).upper
            }
            (read, own) = (read + 1, own + 1)
            if let list = reader.checkpoint(cursor) {
                page.endpoints[last].lists.append(list)
            } else {
                page.endpoints[last].isWhole = false
            }
        }
        noteDamage()
        return nil
    }

    /// Reads the progress of some lists of an endpoint, as of one snapshot.
    ///
    /// - Parameters:
    ///   - endpoint: The ``EndpointProgress/id`` of the endpoint.
    ///   - position: The position that the page before it names; nil for the beginning.
    ///   - limit: The most lists.
    ///   - members: The most members of a list that are counted.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func lists(
        of endpoint: [UInt8], after position: [UInt8]? = nil, limit: Int = .max, members: Int = .max
    ) throws -> ProgressPage {
        try open { file in
            try checkIsReadable(file)
            let reader = CheckpointReader(file: file)
            var page = ProgressPage(), interval = CheckpointReader.lists(of: endpoint), read = 0
            if let position, interval.lower.map({ $0.lexicographicallyPrecedes(position) }) ?? true {
                interval.lower = position
            }
            let cursor = TableCursor(file, TableName.checkpoints, in: interval)
            while cursor.next() {
                guard let key = cursor.withKey({ Array($0) }), CheckpointReader.endpoint(of: key) == endpoint else {
                    continue
                }
                guard read < limit else {
                    page.next = key
                    break
                }
                read += 1
                guard var list = reader.checkpoint(cursor) else { continue }
                reader.countMembers(of: &list, most: members)
                page.lists.append(list)
            }
            file.reportFindings { page.damages.append($0) }
            return page
        }
    }

    /// Reads what belongs to no list: syncs, failures and limits of servers.
    ///
    /// - Parameter most: The most syncs, and the most failures of a kind, that are read.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func syncNotes(most: Int = .max) throws -> SyncNotes {
        try open { file in
            try checkIsReadable(file)
            let reader = CheckpointReader(file: file)
            var notes = SyncNotes()
            func forEach(_ prefix: String, _ body: (ListProgress) -> Void) {
                // The key of a text without its end.
                let interval = KeyInterval(prefix: Array(RecordKey(prefix).storageKey.dropLast()))
                let cursor = TableCursor(file, TableName.checkpoints, in: interval)
                var read = 0
                while cursor.next() {
                    guard read < most else {
                        notes.isWhole = false
                        return
                    }
                    read += 1
                    if let found = reader.checkpoint(cursor) { body(found) }
                }
            }
            forEach("*") { notes.syncs.append($0) }
            forEach("! ") { notes.failures[String($0.name.dropFirst(2))] = $0.checkpoint.lastFailure }
            forEach("? ") { notes.requestFailures[String($0.name.dropFirst(2))] = $0.checkpoint.lastFailure }
            notes.members = file.snapshot.tables[TableName.scans].map { Int(clamping: $0.entries) }
            notes.budgets = file.text(MetaKey.requestBudgets)
            if file.damagedSettings.contains("\(MetaKey.requestBudgets)") {
                notes.damages.append(Damage(place: "the limits of servers", reason: FileOutbox.unreadable))
            }
            file.reportFindings { notes.damages.append($0) }
            return notes
        }
    }
}
