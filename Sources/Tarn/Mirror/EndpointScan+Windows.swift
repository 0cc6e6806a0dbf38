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
            let increments = target.request.increments,
            // One up to the present ends when its scan begins.
            checkpoint.startedAt.elapsed(since: end) > 1_000_000
        else { return false }
        if case .window = rule.source { return since == increments.value(ofWindowEnd: end) }
        let before = target.checkpoint.since, begins = options.isFull && !begunWindows.contains(target.index)
        guard let before, !begins else { return since != before }
        guard let value = increments.time(since), let earlier = increments.time(before) else { return false }
        return value > earlier
    }
}
