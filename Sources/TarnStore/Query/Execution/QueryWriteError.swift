internal import LMDB

/// A write by query that stopped in between. The steps before are committed, what the failed step did is not; the same call
/// goes on with what is left.
public struct QueryWriteError: Error, CustomStringConvertible {
    /// What is committed.
    public var report: QueryWriteReport
    /// Why the next step was not: a `StoreError`, for all that the store itself finds.
    public var reason: any Error

    public var description: String {
        let done = report.steps == 0
            ? "nothing was written" : "\(report.changed) records were written before, in \(report.steps) steps, and stay so"
        return "\(reason); \(done). The same call goes on with the others"
    }
}
