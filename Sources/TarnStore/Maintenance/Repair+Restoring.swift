// The part of a repair by which the next sync brings back what is lost.

internal import LMDB

extension Repair {
    /// Lets the next sync restore records that the repair has removed, or whose queued deletion is
    /// lost.
    ///
    /// - Parameter unmarked: the records whose marks were unreadable. Those that are not stored
    ///   were deleted locally, and no deletion is sent any more unless an operation of the outbox
    ///   has it.
    mutating func restoreRecords(
        _ rows: [ListedRecord], _ operations: [LostOperation], _ unmarked: [ListedRecord]
    ) throws {
        var isLacking = !rows.isEmpty
        for record in unmarked where try !isLacking && !access.isStored(record) {
            isLacking = try access.outbox.touching(record).isEmpty
        }
        for (operation, effect) in try access.settle(operations) {
            var text = "operation \(operation.id)"
            if let record = operation.record {
                let name = access.catalog.entity(id: record.entity)?.name ?? "?"
                text += " of \(name) " + record.storageKey.withUnsafeBytes { access.describe($0) }
            }
            switch effect {
            case .restores:
                isLacking = true
                text += ": the deletion is not sent, and the next sync restores the record"
            case .keeps(let fields?): text += ": the change (\(fields)) is not sent, and stays a local change"
            case .keeps(nil): text += ": it is not sent"
            }
            report.lostOperations.append(text)
        }
        if isLacking { try forgetConfirmations() }
    }

    /// Removes the validators of all responses, and the values of all incremental lists.
    ///
    /// A list of changes would not have a record that the server has not changed, and a 304 would
    /// confirm a response that contains a record without listing it. Writes still require the
    /// versions that the responses name.
    private func forgetConfirmations() throws {
        let next = (try counter(MetaKey.sequence) ?? 0) &+ 1, responses = access.responses
        var lists: [(key: [UInt8], progress: Checkpoint)] = [], ids: [UInt64] = []
        try access.checkpoints.forEachKey(withPrefix: "") { key, progress in
            // The checkpoint of a sync is of no list.
            guard key.count > 1, key[1] != UInt8(ascii: "*"), let forgotten = progress.outdated else { return }
            lists.append((Array(key), forgotten))
        }
        for (key, progress) in lists { try access.checkpoints.put(progress, key: key, sequence: next) }
        try responses.forEach { view in
            // The body of a whole response does not depend on records.
            if view.bodySize == nil, !ResponseEntry.Validation.validators(of: view.headers).isEmpty {
                ids.append(view.id)
            }
            return true
        }
        for id in ids {
            guard var entry = try responses.entry(id: id) else { continue }
            entry.validation.removeValidators(keepingVersion: true)
            try responses.put(entry, sequence: next)
        }
    }

    /// Stores the scan members anew that are damaged, and whose records a response lists.
    ///
    /// Without it, a record that the server has deleted would stay for ever: no later scan would
    /// know that it was listed. It counts as listed by the last scan that is known. The response
    /// shows that the key is not damaged.
    ///
    /// - Returns: the number of members stored.
    func restoreScanMembers(_ scans: ChecksummedTable) throws -> Int {
        var damaged: [[UInt8]] = [], last: [[UInt8]: UInt64] = [:]
        let cursor = try access.raw.cursor(scans.table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            let identity = Array(key.prefix(ScanMember.identitySize))
            if let member = scans.content(value, key: key).flatMap({ ScanMember(key, $0) }) {
                last[identity] = max(last[identity] ?? 0, member.lastListed, member.decided)
            } else if ScanMember.root(inKey: key) != nil {
                damaged.append(Array(key))
            }
            entry = try cursor.next()
        }
        var count = 0
        for key in damaged {
            let record = ListedRecord(
                entity: key.withUnsafeBytes { $0.loadBigEndian(ScanMember.identitySize, UInt16.self) },
                storageKey: Array(key[(ScanMember.identitySize + 2)...]))
            guard try !access.responses.ids(listing: record).isEmpty else { continue }
            let scan = last[Array(key.prefix(ScanMember.identitySize))] ?? 1
            var value = ByteWriter()
            ScanMember(record, lastListed: max(1, scan)).appendValue(to: &value)
            try key.withUnsafeBytes { try access.raw.put(scans, $0, value.bytes) }
            count += 1
        }
        return count
    }
}
