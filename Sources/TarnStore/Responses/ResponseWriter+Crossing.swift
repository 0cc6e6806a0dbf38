// Answers that were under way at the same time and tell different things of one record.

extension ResponseWriter {
    /// Notes a record if a value that was committed after the request of the present answer was
    /// sent is replaced by another one.
    ///
    /// The present answer may be the older one.
    ///
    /// - Parameters:
    ///   - old: the stored row.
    ///   - body: the fields of the answer.
    mutating func noteCrossing(_ root: UInt16, _ key: Bytes, _ old: EncodedRow, _ body: RowBody) {
        guard let requestedAfter, old.version > requestedAfter, old.version < sequence else { return }
        for index in 0..<body.count {
            let known = old.body.value(of: body.id(at: index))
            guard let value = body.value(at: index), let known, !value.isContained(in: known) else { continue }
            crossed.insert(ListedRecord(root, key))
            return
        }
    }

    /// Removes the validators of the responses of other lists that have the noted records, and ends
    /// the notes.
    ///
    /// A 304 would confirm them, and the store would keep the older values for good.
    ///
    /// - Parameter lists: the identities of the present answers' lists: their pages follow one
    ///   another.
    package mutating func removeValidatorsOfCrossed(sparing lists: Set<String?>) throws {
        let records = crossed
        (requestedAfter, crossed) = (nil, [])
        for record in records {
            for id in try table.ids(listing: record) {
                guard let view = try table.view(id: id), !lists.contains(view.identity) else { continue }
                try removeValidators(ofResponse: id)
            }
        }
    }
}
