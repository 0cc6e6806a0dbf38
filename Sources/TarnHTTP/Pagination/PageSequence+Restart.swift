// Restarts behind the last record, on servers that list no deep pages.

extension PageSequence {
    /// Restarts the scan behind a page that ends the list just where the server lists no more: some
    /// servers name no next page there, instead of refusing one.
    ///
    /// - Returns: nil if the list ends before.
    func restart(atEnd facts: PageFacts) throws(PaginationError) -> (PageRequest, Window)? {
        guard let deep, facts.recordCount > 0 else { return nil }
        let window = progress(behind: facts)
        // A short page may have the number of the last one that the server lists.
        let pages = isFull(facts.recordCount) ? window.pages : 0
        guard deep.isReached(pages: pages, records: window.records) else { return nil }
        let (next, restarted) = try restart(deep, window)
        guard !hasRequested(next) else { throw .repeated(url: next.url) }
        return (next, restarted)
    }

    /// The progress since the last restart, with a page.
    func progress(behind facts: PageFacts) -> Window {
        var window = window
        window.pages = window.pages.addingClamped(1)
        window.records = window.records.addingClamped(facts.recordCount)
        window.lastValue = facts.records.map(\.last) ?? window.lastValue
        return window
    }

    /// Returns the request with which the scan restarts behind its last record.
    ///
    /// - Throws: `PaginationError.stuck` if it would restart where it already restarted.
    func restart(_ deep: DeepPages, _ window: Window) throws(PaginationError) -> (PageRequest, Window) {
        guard let value = window.lastValue, window.after.map({ !$0.hasSameBytes(as: value) }) ?? true else {
            throw .stuck(value: window.lastValue ?? "", url: request.url)
        }
        let next = pagination.firstPage(of: first).setting(deep.sends, to: value, isNumber: value.isJSONInteger)
        return (next, Window(after: value, lastValue: value))
    }
}
