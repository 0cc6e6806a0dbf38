import Locking
import TarnHTTP
import TarnStore

/// The validators of records after writes of this process, by URL.
///
/// The answer to a write is no response to a GET, so the cache does not have it. A write whose
/// answer had no validator leaves an empty one: older validators are no longer right.
final class KnownValidators: Sendable {
    private static let limit = 10_000
    private let known = Guarded<[String: (validators: Validators, at: Timestamp)]>([:])

    /// The validators, and the time of the answer; nil if this process has not written the record.
    subscript(url: String) -> (validators: Validators, at: Timestamp)? { known.withLock { $0[url] } }

    func set(_ url: String, _ validators: Validators, at now: Timestamp) {
        known.withLock { known in
            // Without a validator the server decides without a precondition.
            if known.count >= KnownValidators.limit, known[url] == nil { known.removeAll() }
            known[url] = (validators, now)
        }
    }
}
