// The decision whether an interrupted scan goes on where it has ended.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// Whether an interrupted scan goes on where it has ended.
    func isContinued(_ old: Checkpoint, _ plan: String) -> Bool {
        old.state == .underWay && old.plan == plan && old.nextURL != nil && !isTooOld(old) && !hasOtherPages(old)
    }

    /// Whether a scan has found its pages by another pagination: it may have left some out, and the
    /// next one of them is at another place.
    func hasOtherPages(_ old: Checkpoint) -> Bool { old.pagination.map { $0 != pagination } ?? false }

    /// Whether too much time has passed since the last run that has committed a page of a list.
    private func isTooOld(_ checkpoint: Checkpoint) -> Bool {
        client.now.elapsed(since: checkpoint.continuedAt ?? checkpoint.startedAt) >= SyncRun.longestPause
    }

    /// A digest of the pagination with which the scan finds its pages.
    ///
    /// The plan does not have it: the scan members of a list stay when its pages become others.
    static func digest(of pagination: Pagination) -> String {
        String(SHA256.hexadecimal(pagination.text).prefix(16))
    }
}
