// Change feeds whose first value is the response to another request, and the lists that they keep
// up to date.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Returns the first value of a change feed, if its scan begins without a valid one.
    ///
    /// - Parameters:
    ///   - known: the value of the last complete scan; nil if there was none.
    ///   - old: the progress of the list before.
    /// - Returns: nil if the scan begins with the stored value, or with another one.
    func firstValue(of request: EndpointRequest, after known: String?, _ old: Checkpoint?) async throws -> String? {
        guard let rule = endpoint.incremental, rule.start != nil, options.since == nil else { return nil }
        if known != nil, !options.isFull {
            guard rule.isWholeDue(old?.wholeSince, at: client.now) else { return nil }
            report.isPeriodicallyFull = true
        }
        return try await requestFirstValue(of: request)
    }

    /// Requests the first value of a change feed.
    private func requestFirstValue(of request: EndpointRequest) async throws -> String {
        guard let start = endpoint.incremental?.start else { return "" }
        let message = try request.startMessage(start)
        shownURL = Redaction.shown(message.url)
        progress(snapshot(requesting: shownURL))
        let response = try await transport.send(message)
        return try request.startValue(start, in: response, url: shownURL)
    }

    /// Notes a first value in the progress of a change feed: the whole list is to be read after it.
    ///
    /// - Parameter sequence: the last commit before it was requested.
    func note(firstValue value: String, _ sequence: UInt64, in checkpoint: inout Checkpoint, _ identity: ScanIdentity) {
        checkpoint.since = value
        checkpoint.hadValue = true
        (checkpoint.tokenAfter, checkpoint.tokenAt) = (max(1, sequence), client.now)
        checkpoint.wholeSince = checkpoint.tokenAt
        // Pages of the feed from before keep no record that the whole list lacks.
        checkpoint.whole = Checkpoint.WholeScan(identity: identity.responses, scan: checkpoint.scan)
    }

    /// Begins a change feed again with a new first value, because the server no longer accepts the
    /// stored one.
    func beginAnewWithFirstValue(_ list: ListScan) async throws {
        let sequence = try client.store.read { try $0.access.settings.sequence }
        var request = list.target.request
        let value = try await requestFirstValue(of: request)
        report.expired += 1
        report.since = value
        request.since = value
        list.pages = try request.pages()
        list.target.request = request
        note(firstValue: value, sequence, in: &list.target.checkpoint, list.target.identity)
        list.hasFirstValue = true
        list.target.checkpoint.begunSince = value
        list.target.checkpoint.nextURL = list.pages.position
    }

    // MARK: The list of a feed

    /// Whether the beginning of the endpoint's scans is compared with the first values of feeds.
    var isListOfFeeds: Bool { !feeds.isEmpty }

    /// Returns whether the list need not be requested, because change feeds tell what has changed
    /// since its last complete scan began.
    func isFollowed(_ old: Checkpoint, plan: String) throws -> Bool {
        guard isListOfFeeds, syncRun != nil, givenParents == nil, variant == nil,
            !options.beginsAnew, !options.isDryRun,
            old.state == .complete, old.plan == plan, old.failure == nil, !old.isCutOff, !old.wasInDoubt,
            !old.isOvertaken, !old.isOfTwoShapes, old.partialError == nil, !hasOtherPages(old)
        else { return false }
        return try values(ofFeedsBefore: old, isMissing: false)
    }

    /// Returns whether an interrupted scan of the list began before the value of a feed: changes
    /// between its first pages and the value would be missing.
    func isOlderThanFeeds(_ old: Checkpoint) throws -> Bool {
        try isListOfFeeds && !values(ofFeedsBefore: old, isMissing: true)
    }

    /// Returns whether the value of each feed is from before a scan.
    ///
    /// - Parameter isMissing: the outcome for a feed without a value.
    private func values(ofFeedsBefore scan: Checkpoint, isMissing: Bool) throws -> Bool {
        let names = feeds
        return try client.store.read { reader in
            try names.allSatisfy { name in
                guard let feed = try reader.checkpoint(name), feed.since != nil, let after = feed.tokenAfter,
                    let at = feed.tokenAt
                else { return isMissing }
                guard let begunAfter = scan.begunAfter else { return false }
                // Only commits that change records are counted.
                return begunAfter > after || begunAfter == after && scan.startedAt >= at
            }
        }
    }
}
