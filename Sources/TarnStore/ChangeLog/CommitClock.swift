internal import LMDB

/// What tells the time of commits.
struct CommitClock: Sendable {
    // In a struct of its own: a closure that is the value of a generic type gets another wrapping whenever it is lent, and
    // the wrappings add up.
    var now: @Sendable () -> Timestamp = { Timestamp.systemTime }
}
