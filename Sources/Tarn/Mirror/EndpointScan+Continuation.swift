// The conditions under which an interrupted scan continues where it stopped.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Returns whether an interrupted scan continues where it stopped.
    func isContinued(_ old: Checkpoint, _ plan: String) -> Bool {
        old.state == .underWay && old.plan == plan && old.nextURL != nil && !isTooOld(old) && !hasOtherPages(old)
            && !mayHaveMovedUp(old)
    }

    /// Whether records of a list that begins with the latest one, or of a window, may have moved
    /// past an interrupted scan of changes, because others before them were deleted.
    ///
    /// Later scans do not list them. With a limit, a scan would begin anew each time.
    private func mayHaveMovedUp(_ old: Checkpoint) -> Bool {
        guard let rule = endpoint.incremental, rule.endsAtValue || rule.until != nil, old.begunSince != nil,
            options.limit == nil
        else { return false }
        return endpoint.pagination.isCounted || endpoint.pagination == .automatic
    }

    /// Returns whether the list of a record need not be requested, because the record has not
    /// changed since the last complete scan of the list began (`only: changed`), and the whole list
    /// is not due (`full_every`).
    func isUnchanged(_ parent: ParentRecord?, since old: Checkpoint, plan: String) -> Bool {
        guard endpoint.forEach?.onlyChanged == true, let parent, parent.version > 0, givenParents == nil else {
            return false
        }
        guard !options.beginsAnew, old.state == .complete, old.plan == plan, old.failure == nil, !old.isCutOff,
            !old.wasInDoubt, !old.isOvertaken, !hasOtherPages(old), let begunAfter = old.begunAfter,
            !(endpoint.incremental?.isWholeDue(old.wholeSince, at: client.now) ?? false)
        else { return false }
        return parent.version <= begunAfter
    }

    /// Returns whether a scan has used another pagination: it may have left pages out, and its next
    /// page may be at another position.
    func hasOtherPages(_ old: Checkpoint) -> Bool { old.pagination.map { $0 != pagination } ?? false }

    /// Whether too much time has passed since the last run that has committed a page of a list.
    private func isTooOld(_ checkpoint: Checkpoint) -> Bool {
        client.now.elapsed(since: checkpoint.continuedAt ?? checkpoint.startedAt) >= SyncRun.longestPause
    }

    /// Notes that a list is requested from its beginning only because its credentials have changed.
    func noteOtherCredentials(
        _ old: Checkpoint, of name: String, _ request: EndpointRequest, plan: String, _ identity: ScanIdentity
    ) throws {
        let isContinuable = old.state == .underWay && old.pages > 0 && old.nextURL != nil
        guard !report.hasOtherCredentials, old.plan != plan, old.since != nil || isContinuable,
            !options.isFull, !options.beginsAnew, options.since == nil, client.api.account == nil,
            !endpoint.isTypedRequest
        else { return }
        let known = old.members?.split(separator: " ").first.map(String.init) ?? old.whole?.identity
        if let known, known != identity.responses {
            report.hasOtherCredentials = true
        } else if !hasComparedCredentials {
            // All responses are read: once, and not for each of many lists.
            hasComparedCredentials = true
            report.hasOtherCredentials = try hasResponses(of: name, scan: old.scan, unlike: request)
        }
    }

    /// Notes that another description with an endpoint of this name scans into the store in turn:
    /// each of them begins its list anew after the other.
    ///
    /// The first return to the plan before may be an edit of one description that was taken back.
    func noteOtherDescription(_ old: Checkpoint, plan: String, _ identity: ScanIdentity) {
        let isContinuable = old.state == .underWay && old.pages > 0 && old.nextURL != nil
        guard !report.hasOtherCredentials, old.plan != plan, old.earlierPlan == plan,
            old.hasReturned, old.scanned == identity.responses,
            old.since != nil || isContinuable || endpoint.orphans != nil && old.members != identity.members,
            !options.isFull, !options.beginsAnew,
            !endpoint.isTypedRequest
        else { return }
        report.hasOtherDescription = true
    }

    /// Returns whether a page of a scan was requested with other credentials, and else alike.
    private func hasResponses(of name: String, scan: UInt64, unlike request: EndpointRequest) throws -> Bool {
        let key = RequestKey.endpoint(endpoint.name, mapping: request.fingerprint)
        return try client.store.read { reader in
            var isFound = false
            try reader.access.responses.forEach { view in
                guard view.scan == scan, view.endpoint == key, let entry = view.entry else { return true }
                let other = entry.request
                isFound =
                    (other.authScope != request.authScope || other.variant != request.variant)
                    && view.identity == ScanIdentity.responses(of: name, endpoint, authScope: other.authScope)
                return !isFound
            }
            return isFound
        }
    }

    /// A digest of the pagination with which the scan finds its pages.
    ///
    /// It is no part of the plan: a change of the pagination keeps the scan members of a list.
    static func digest(of pagination: Pagination) -> String {
        SHA256.shortHexadecimal(pagination.text)
    }
}
