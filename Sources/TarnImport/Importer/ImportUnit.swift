// The parts of a unit besides its drafts.

package import TarnStore

/// The parts of a unit that are committed with its records, as one change, or discarded with them.
///
/// Set them on ``Importer/unit`` before the commit.
package struct ImportUnit: Sendable {
    /// The entries of the responses that were added.
    ///
    /// A record that is not stored, because it has unique values of another record, is removed from
    /// them.
    package var responses: [ResponseEntry]
    /// The responses that a 304 confirms.
    ///
    /// Each applies only if the stored entry still is the one whose validators the request carried.
    package var revalidated: [RevalidatedResponse] = []
    /// The progress of scans, by name.
    package var checkpoints: [ExactText: Checkpoint]
    /// Writes further parts of the unit, in its transaction, after the merge.
    package var additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)?

    /// The revision of the outbox when the first of the unit's requests was sent; nil if the unit
    /// cannot be older than a local change that the server has.
    ///
    /// A record whose operation has reached the server since then keeps its values, and the entries
    /// of the unit cannot be confirmed by a 304: they may lack the change.
    package var outboxRevision: UInt64?

    /// The last commit before the first of the unit's requests was sent; nil if it is not known.
    package var requestedAfter: UInt64?

    /// The records that keep their values, in place of those that follow from
    /// ``outboxRevision``; nil to use that.
    package var overtaken: Set<ListedRecord>?

    /// Whether an entry keeps its place among the pages of a scan: that of the entry that it
    /// replaces, which a scan may have stored or confirmed since the request was sent.
    package var keepsPlaces = false

    /// The validations of the entries that those of single records have replaced, by their places
    /// in ``responses``.
    private var replaced: [Int: ResponseEntry.Validation] = [:]

    /// Creates the parts of a unit.
    package init(
        responses: [ResponseEntry] = [], checkpoints: [ExactText: Checkpoint] = [:],
        additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) {
        self.responses = responses
        self.checkpoints = checkpoints
        self.additions = additions
    }

    /// Checks that the responses that a 304 confirms are the stored ones.
    ///
    /// - Throws: ``RevalidationConflict`` if a stored entry has changed.
    func checkRevalidated(_ writer: borrowing StoreWriter) throws {
        let overtaken = try revalidated.filter { try !writer.isCurrent($0) }
        guard overtaken.isEmpty else { throw RevalidationConflict(requests: overtaken.map(\.entry.request)) }
    }

    /// Writes the entries of the unit's responses.
    ///
    /// - Parameter sequence: the commit sequence of the bodies that this commit imports; nil if
    ///   they cannot be recognised when they come again.
    mutating func putResponses(_ writer: inout StoreWriter, importedAt sequence: UInt64?) throws {
        for response in revalidated { try writer.putResponse(response.entry) }
        for (index, response) in responses.enumerated() {
            var entry = response
            let isSingle = entry.listing.listed.count == 1
            if isSingle || keepsPlaces, let known = try writer.access.responses.entry(of: entry.request) {
                if isSingle { replaced[index] = known.validation }
                if keepsPlaces { entry.listing.keepPlace(of: known.listing) }
            }
            if let sequence {
                if entry.imported?.sequence == 0 { entry.imported?.sequence = sequence }
            } else {
                entry.imported = nil
            }
            try writer.putResponse(entry)
        }
    }

    /// Makes the entries agree with what was stored of the responses.
    ///
    /// - Parameters:
    ///   - dropped: the records that were not stored: no entry lists them.
    ///   - leftOut: the records of which something was left out for now. The next request for such
    ///     a response has no condition, and its body is not recognised. The record may be nested in
    ///     a response that does not list it: if none does, that holds for all of the unit.
    ///   - restored: those of ``leftOut`` that keep all of their values: writes are based on the
    ///     version before.
    func correctResponses(
        dropped: Set<ListedRecord>, leftOut: Set<ListedRecord>, restored: Set<ListedRecord>,
        _ writer: inout StoreWriter
    ) throws {
        guard !dropped.isEmpty || !leftOut.isEmpty else { return }
        try writer.responses.keepVersions(of: restored, besides: responses)
        var listed: Set<ListedRecord> = []
        if !leftOut.isEmpty { for response in responses { listed.formUnion(response.listing.listed) } }
        let isAnywhere = !leftOut.isSubset(of: listed)
        for (index, response) in responses.enumerated() {
            let isPart = isAnywhere || response.listing.listed.contains(where: leftOut.contains)
            guard isPart || response.listing.listed.contains(where: dropped.contains) else { continue }
            // A deletion of the unit may have removed it.
            guard var entry = try writer.access.responses.entry(of: response.request) else { continue }
            if isPart {
                // Marks have the values that were left out: writes are based on this version.
                entry.validation.removeValidators(keepingVersion: true)
                if response.listing.listed.count == 1, restored.isSuperset(of: response.listing.listed) {
                    entry.validation.knownVersion = replaced[index]?.version ?? []
                }
                entry.imported = nil
            }
            entry.listing.listed.removeAll { dropped.contains($0) }
            try writer.putResponse(entry)
        }
    }

    /// Writes the progress of scans.
    ///
    /// A scan of which something was left out leaves the value of ``Checkpoint/since`` as it was:
    /// the next one lists the record again. If the progress of the list was forgotten since the
    /// scan began, because another mapping has changed records, the next one lists everything.
    ///
    /// - Parameter isIncomplete: whether a record of the unit keeps its values, or something was
    ///   left out for now.
    func putCheckpoints(isIncomplete: Bool, _ writer: inout StoreWriter) throws {
        for (name, var checkpoint) in checkpoints.sorted(by: { $0.key < $1.key }) {
            // A first scan may not have a value yet; `begunAfter` shows that its list has one, or
            // that it is requested only if its record has changed.
            if checkpoint.isIncremental || checkpoint.begunAfter != nil || isIncomplete {
                let known = try writer.access.checkpoints.checkpoint(name.text)
                let stored = known.flatMap { $0.plan == checkpoint.plan ? $0 : nil }
                let isForgotten = known.map { known in
                    known.plan.isEmpty && (known.scan == checkpoint.scan || checkpoint.hadValue)
                }
                if isIncomplete || isForgotten ?? false
                    || stored.map({ $0.isOvertaken && $0.scan == checkpoint.scan }) ?? false
                {
                    // Of a complete scan, it shows that the list is not done with (`only:
                    // changed`).
                    checkpoint.isOvertaken = true
                    checkpoint.since = stored?.since
                }
            }
            try writer.setCheckpoint(name.text, checkpoint)
        }
    }
}

extension ResponseEntry.Listing {
    /// Takes the place of another listing among the pages of a scan, unless it has one of its own.
    fileprivate mutating func keepPlace(of other: ResponseEntry.Listing) {
        identity = identity ?? other.identity
        guard identity == other.identity else { return }
        scan = other.scan
        position = position ?? other.position
    }
}

extension StoreWriter {
    /// Returns whether the stored entry still is the one whose validators the request carried.
    fileprivate borrowing func isCurrent(_ response: RevalidatedResponse) throws -> Bool {
        try access.responses.view(response.entry.request.digest)?.isUnchanged(since: response.asked) ?? false
    }
}
