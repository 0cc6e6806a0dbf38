// The position at which an interrupted scan goes on, if the server no longer accepts it.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Whether a refusal is one of the page with which an interrupted scan goes on: its cursor may
    /// have expired, or the list may have become shorter.
    ///
    /// Refused credentials and passing refusals say nothing about the page.
    func refusesPosition(_ response: TransportResponse, _ list: ListScan) -> Bool {
        let begun = list.target.beginning, status = response.status
        guard begun.pages > 0, list.target.checkpoint.pages == begun.pages, (400..<500).contains(status) else {
            return false
        }
        return ![401, 407, 408, 425, 429].contains(status)
            && !RetryPolicy.isPassing(.answer(status: status, headers: response.headers))
    }

    /// Returns the way out for a server that goes on refusing the page with which an interrupted
    /// scan goes on: an expired cursor may have any status.
    ///
    /// - Returns: nil for other pages, refused credentials and rate limits.
    func hint(forContinued list: ListScan, _ status: Int) -> String? {
        let begun = list.target.beginning
        guard begun.pages > 0, list.target.checkpoint.pages == begun.pages, ![401, 407, 429].contains(status) else {
            return nil
        }
        return "an earlier sync ended before this page: if it is refused again, tarn sync --restart "
            + "begins the list anew"
    }

    /// Begins an interrupted scan again with the first page, as a further scan.
    func giveUpPosition(_ list: ListScan) async throws {
        let given = list.target.beginning
        var request = list.target.request
        request.since = nil
        guard let other = try await self.list(request, list.index, isRepeated: true, isAnew: true) else { return }
        list.begin(as: other)
        measured.resumedPages = max(0, measured.resumedPages - given.pages)
        measured.resumedRecords = max(0, measured.resumedRecords - given.records)
        if !endpoint.hasSeveralLists { report.isResumed = false }
    }
}
