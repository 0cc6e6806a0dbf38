// The part of a repair by which the next sync brings back what is lost.

internal import LMDB

extension Repair {
    /// Lets the next sync restore records that the repair has removed.
    func restoreRecords(_ rows: [ListedRecord]) throws {
        if !rows.isEmpty { try forgetConfirmations() }
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
            guard key.count > 1, key[1] != UInt8(ascii: "*"), let forgotten = progress.forgotten else { return }
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
}
