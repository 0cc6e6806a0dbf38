// Scans of changes by windows with an end: one after another, each complete before the value moves.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Sets the window that a scan requests.
    ///
    /// - Parameters:
    ///   - known: the value of the last complete window; nil if there was none.
    ///   - index: the index of the list.
    ///   - continued: the progress of an interrupted scan that goes on; nil for a new one.
    /// - Returns: the end of the window; nil if the endpoint has none.
    func window(
        of request: inout EndpointRequest, after known: String?, _ index: Int, _ continued: Checkpoint?
    ) throws -> Timestamp? {
        guard let rule = endpoint.incremental, rule.until != nil, let increments = request.increments else {
            return nil
        }
        if let continued {
            request.until = try continued.begunUntil.map { try increments.text(ofWindowEnd: $0) }
            return continued.begunUntil
        }
        // The first window of a sync with --full is that of the initial value.
        let begins = options.isFull && !begunWindows.contains(index)
        let value = options.since ?? (begins ? nil : known) ?? rule.initial ?? ""
        let window = try increments.window(from: value, now: client.now)
        (request.since, request.until) = (window.since, try increments.text(ofWindowEnd: window.end))
        return window.end
    }

    /// Queues a list for its next window, once the complete one is stored with its value.
    func beginNextWindow(_ list: ListScan) async throws {
        try await flush()
        try await settle()
        begunWindows.insert(list.index)
        queue.repeat([list.index])
    }

    /// Returns whether another window follows a complete one in the same sync.
    ///
    /// Each one begins later than the one before, so that a sync ends: a window that has reached
    /// the present, or the clock of the server, is the last one.
    ///
    /// - Parameter target: the list, with the value with which the window began.
    func hasFurtherWindow(_ checkpoint: Checkpoint, _ target: ScanTarget) -> Bool {
        guard let rule = endpoint.incremental, rule.window != nil, let end = checkpoint.begunUntil,
            let since = checkpoint.since, options.since == nil, !options.isPartial, !holdsCommits,
            let increments = target.request.increments, EndpointScan.isPast(end, checkpoint)
        else { return false }
        if case .window = rule.source { return since == increments.value(ofWindowEnd: end) }
        let before = target.checkpoint.since, begins = options.isFull && !begunWindows.contains(target.index)
        guard let before, !begins else { return since != before }
        guard let value = increments.time(since), let earlier = increments.time(before) else { return false }
        return value > earlier
    }

    /// Checks that the server has stated a later value for a window of the past than for the one
    /// before.
    ///
    /// - Throws: `MirrorError.endpoint` if it has not: each sync would request this window, and
    ///   none behind it.
    func checkWindowMoves(of list: ListScan) throws {
        let checkpoint = list.target.checkpoint, begins = options.isFull && !begunWindows.contains(list.index)
        guard let rule = endpoint.incremental, rule.window != nil, options.since == nil, !options.isPartial,
            let end = checkpoint.begunUntil, EndpointScan.isPast(end, checkpoint), let seen = checkpoint.seen,
            let before = (begins ? nil : checkpoint.since) ?? rule.initial,
            let increments = list.target.request.increments,
            let value = increments.time(seen), let earlier = increments.time(before), value <= earlier
        else { return }
        // Its value is the clock of the server if that is behind.
        if case .window = rule.source { return }
        list.target.checkpoint.nextURL = nil
        batch.add(list.target.checkpoint, list.target.name, of: list.index)
        throw MirrorError.endpoint(
            place: list.target.request.place,
            message: "since: the server states \(seen.excerpt) for the window up to \(end), which began there: write a "
                + "longer window, or leave out cursor, and see whether the clock of this machine is right")
    }

    /// Whether a window has ended before its scan began: one up to the present ends then.
    private static func isPast(_ end: Timestamp, _ checkpoint: Checkpoint) -> Bool {
        checkpoint.startedAt.elapsed(since: end) > 1_000_000
    }
}
