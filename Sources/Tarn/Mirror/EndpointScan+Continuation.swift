// The conditions under which an interrupted scan continues where it stopped.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Returns whether an interrupted scan continues where it stopped.
    func isContinued(_ old: Checkpoint, _ plan: String) -> Bool {
        old.state == .underWay && old.plan == plan && old.nextURL != nil && !isTooOld(old) && !hasOtherPages(old)
    }

    /// Returns whether a scan has used another pagination: it may have left pages out, and its next
    /// page may be at another position.
    func hasOtherPages(_ old: Checkpoint) -> Bool { old.pagination.map { $0 != pagination } ?? false }

    /// Whether too much time has passed since the last run that has committed a page of a list.
    private func isTooOld(_ checkpoint: Checkpoint) -> Bool {
        client.now.elapsed(since: checkpoint.continuedAt ?? checkpoint.startedAt) >= SyncRun.longestPause
    }

    /// A digest of the pagination with which the scan finds its pages.
    ///
    /// It is no part of the plan: a change of the pagination keeps the scan members of a list.
    static func digest(of pagination: Pagination) -> String {
        SHA256.shortHexadecimal(pagination.text)
    }
}
