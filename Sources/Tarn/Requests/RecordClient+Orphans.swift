// Orphans: records that a complete list of a request no longer has.

import TarnImport
public import TarnStore

extension RecordRequest {
    /// Returns the request after whose complete list records are removed that it no longer lists.
    ///
    /// ```swift
    /// .issues("acme/anvil").removingOrphans()
    /// .issues("acme/anvil").removingOrphans(
    ///     Orphans(.matching(Issue.where { $0.repository == "acme/anvil" }), scans: 1)
    /// ) { issue in !issue.isPinned }
    /// ```
    ///
    /// The rules are those of ``Orphans``: by default, a record goes that earlier complete lists of
    /// this request had, and that two such lists in a row lack. Nothing is removed after a part of
    /// a list: a loop over pages that is left, a limit, a failure, an unreadable record, or a page
    /// that the store has answered. So the server is asked with conditions, unless the request has
    /// a policy of its own. Records that another stored response lists stay: also one to the same
    /// path with other header fields or hooks, unless it was not used for 30 days. A record that
    /// the list never had, and that something else stores while it loads, needs two lists that lack
    /// it.
    ///
    /// It works with `all`, `batch`, and with `pages` whose loop reaches the last page: that page's
    /// ``ResponsePage/orphans`` has the findings. A ``ListLoader`` removes orphans after one load
    /// of all its pages.
    ///
    /// - Parameters:
    ///   - rules: the records among which orphans are looked for, and the conditions. Rules for
    ///     parents (`owner`, `unlink`) are those of endpoints of a description.
    ///   - isRemoved: decides about an orphan, in the transaction that removes it; it must not use
    ///     the store. By default, all are removed. A record that the struct cannot hold stays.
    public func removingOrphans(
        _ rules: Orphans = Orphans(), where isRemoved: (@Sendable (Value) -> Bool)? = nil
    ) -> RecordRequest {
        with { request in
            request.options.orphans = OrphanOptions(rules: rules)
            guard let isRemoved else { return }
            request.options.orphans?.mayDelete = { @Sendable record, reader in
                guard let record = try? reader.decode(Value.self, from: record) else { return false }
                return isRemoved(record)
            }
        }
    }
}

extension RecordRequest {
    /// Returns the request after whose complete list records are changed that it no longer lists.
    ///
    /// ```swift
    /// .issues("acme/anvil").markingOrphans { $0.set(.isGone, true) }
    /// ```
    ///
    /// The rules are those of ``removingOrphans(_:where:)``. A record that is listed again keeps
    /// its mark, unless the response or ``editing(file:line:column:_:)`` sets the attribute.
    ///
    /// - Parameters:
    ///   - rules: the records among which orphans are looked for, and the conditions.
    ///   - mark: sets fields of an orphan, in the transaction that changes it.
    public func markingOrphans(
        _ rules: Orphans = Orphans(), _ mark: @escaping @Sendable (_ record: inout RowEncoder<Value>) throws -> Void
    ) -> RecordRequest {
        with { request in
            request.options.orphans = OrphanOptions(rules: rules)
            request.options.orphans?.mark = { @Sendable key, writer in
                guard let key = Value.Key(key) else { return }
                try writer.patch(Value.self, key) { try mark(&$0) }
            }
        }
    }
}

extension Orphans.Scope {
    /// The records of an entity that meet the condition of a query.
    ///
    /// The order and the limit of the query are ignored.
    public static func matching<Record>(_ query: TypedQuery<Record>) -> Orphans.Scope {
        .matching(query.query.condition)
    }
}

extension RecordClient {
    /// Begins to note the records of a list, before its first request.
    func beginList() -> ListedPages {
        ListedPages(startedAt: client.now, begunAfter: client.lastCommit)
    }

    /// Notes a complete list of a request, and removes the records that it lacks by the rules.
    ///
    /// - Returns: the findings, and the counts of deleted records.
    func removeOrphans<Value>(
        of request: RecordRequest<Value>, _ options: OrphanOptions, after list: ListedPages
    ) async throws -> (orphans: OrphanReport, report: ImportReport) {
        var refused = OrphanReport()
        if let refusal = list.refusal { refused.refusals = [refusal] }
        if list.records.isEmpty, !options.rules.allowsEmpty {
            refused.refusals.append("the list has no records; allow that in the rules if it is possible")
        }
        guard refused.refusals.isEmpty else { return (refused, ImportReport()) }
        var endpoint = request.endpoint
        endpoint.orphans = options.rules
        var target = EndpointRequest(
            client: client, endpoint: endpoint, fingerprint: fingerprint(of: request),
            authScope: try await client.authScope())
        target.priority = request.options.transfer.priority
        let first = try target.firstPage(), name = request.scanName, plan = EndpointScan.plan(of: first, target)
        let listing = EndpointScan.listing(of: first, target)
        let identity = ScanIdentity(name: name, target, plan: plan, listing: listing)
        let step = APIMirror.Options().orphanStep
        let old = try await identity.renamingMembers(
            of: try store.read { try $0.checkpoint(name) }, in: store, step: step)
        if let members = old?.membersName(of: identity.responses), members != identity.members {
            // Those of other keys or of another URL are no orphans.
            while try store.read({ try $0.access.scans.hasMembers(of: members) }) {
                _ = try await store.write(alone: true) { try $0.removeScanMembers(of: members, limit: step) }
            }
        }
        let siblings = SiblingLists(name, target, request.options.transfer.hooks, uses: cache.uses.all)
        let earlier = try await takeOver(siblings, identity, firstURL: target.key(of: first).url)
        let now = client.now
        let scan = try await store.write(alone: true) { writer -> UInt64? in
            let old = try writer.access.checkpoints.checkpoint(name)
            // A list that is older than another one knows less. One of the future has ended before,
            // while the clock was ahead.
            if let ended = old?.completedAt, ended > list.storedAt ?? list.startedAt, !ended.isAhead(of: now) {
                return nil
            }
            // Without the checkpoint, which may have been damaged, the members know the last scan.
            // It may be this one: that of parts which were loaded before any complete list.
            let last = try old?.scan ?? max(1, writer.access.scans.lastScan(of: identity.members)) - 1
            var checkpoint = Checkpoint(
                state: .complete, plan: plan, scan: max(last, earlier) + 1, startedAt: list.startedAt, completedAt: now
            ).counting(pages: list.pages, records: list.records.count, skipped: list.skipped)
            checkpoint.members = identity.members
            checkpoint.listing = listing
            if options.rules.scope != .listed { checkpoint.begunAfter = list.begunAfter }
            checkpoint.whole = Checkpoint.WholeScan(identity: identity.responses, scan: checkpoint.scan)
            try writer.noteListed(list.records, of: identity.members, scan: checkpoint.scan)
            try writer.setCheckpoint(name, checkpoint)
            return checkpoint.scan
        }
        guard let scan else {
            refused.refusals = ["another list of the same request was completed meanwhile"]
            return (refused, ImportReport())
        }
        var mirror = APIMirror.Options()
        mirror.decidesOrphan = options.mayDelete
        mirror.marksOrphan = options.mark
        var pass = OrphanPass(
            target, mirror, options.rules,
            Batch.Completed(identity: identity, parent: nil, checkpointName: name, scan: scan))
        pass.siblings = siblings
        try await pass.run()
        return (pass.report, pass.imported)
    }

    /// Makes the members of retired siblings members of a list, and removes the siblings.
    ///
    /// - Returns: the number of a scan that no such member was listed after.
    private func takeOver(
        _ siblings: SiblingLists, _ identity: ScanIdentity, firstURL: String
    ) async throws -> UInt64 {
        let retired = try store.read { try siblings.retired($0, firstURL: firstURL) }
        let step = APIMirror.Options().orphanStep
        for (name, members) in retired {
            while try await !store.write(
                alone: true,
                {
                    try $0.moveScanMembers(of: members, to: identity.members, limit: step)
                })
            {}
            try await store.write(alone: true) { try $0.removeCheckpoint(name) }
        }
        return retired.isEmpty ? 0 : 1
    }
}
