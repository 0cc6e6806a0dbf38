// The stored responses that an unsafe request has made stale while the store takes no writes.

import TarnStore

/// The URLs whose entries could not be invalidated.
///
/// This process uses the entries only after a confirmation. The next write invalidates them.
///
/// Beyond the limit, this process confirms every entry from before, and the next write invalidates
/// those of the URLs that are known: other processes may use the others until they are stale.
struct OutdatedURLs: Sendable {
    static let limit = 10_000

    /// The numbers of failed attempts by URL.
    private(set) var attempts: [String: Int] = [:]
    /// The time of the last URL beyond the limit; nil without one.
    private(set) var latest: Timestamp?

    mutating func add(_ urls: [String], at now: Timestamp) {
        for url in urls {
            if attempts[url] == nil, attempts.count >= OutdatedURLs.limit {
                latest = max(latest ?? now, now)
            } else {
                attempts[url, default: 0] += 1
            }
        }
    }

    /// Removes URLs whose entries are invalidated, unless a later attempt has failed.
    mutating func remove(_ invalidated: [String: Int]) {
        for (url, count) in invalidated where attempts[url] == count { attempts[url] = nil }
    }

    /// Returns the time up to which an entry of a URL must have been confirmed to be outdated; nil
    /// for none.
    func end(of url: String) -> Timestamp? { attempts[url] == nil ? latest : Timestamp(microseconds: .max) }
}
