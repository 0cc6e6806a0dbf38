/// The clock of commits.
struct CommitClock: Sendable {
    // A struct of its own: a closure that is the value of a generic type is wrapped again whenever
    // it is borrowed, and the wrappers accumulate.
    var now: @Sendable () -> Timestamp = { Timestamp.systemTime }
}
