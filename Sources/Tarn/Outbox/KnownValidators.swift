import Locking
import TarnHTTP
import TarnStore

/// The validators of records after writes of this process, by URL.
///
/// The answer to a write is no response to a GET, so the cache does not have it. A write whose
/// answer had no validator leaves an empty one: older validators are no longer right.
final class KnownValidators: Sendable {
    static let limit = 10_000

    private struct Known {
        var validators: Validators
        var at: Timestamp
        /// The ordinal of the write.
        var write: UInt64
    }

    private struct State {
        var known: [String: Known] = [:]
        var lastWrite: UInt64 = 0

        /// Removes the older half: a record that was just written may be written again soon.
        mutating func removeOlderHalf() {
            let writes = known.values.map(\.write).sorted(), first = writes[writes.count / 2]
            known = known.filter { $0.value.write >= first }
        }
    }

    private let state = Guarded(State())

    /// The number of URLs, for tests.
    var count: Int { state.withLock { $0.known.count } }

    /// The validators, and the time of the answer; nil if this process has not written the record.
    subscript(url: String) -> (validators: Validators, at: Timestamp)? {
        state.withLock { $0.known[url] }.map { ($0.validators, $0.at) }
    }

    func set(_ url: String, _ validators: Validators, at now: Timestamp) {
        state.withLock { state in
            // Without a validator the server decides without a precondition.
            if state.known.count >= KnownValidators.limit, state.known[url] == nil { state.removeOlderHalf() }
            state.lastWrite += 1
            state.known[url] = Known(validators: validators, at: now, write: state.lastWrite)
        }
    }
}
