internal import LMDB

/// The failure of one step of a write by query.
///
/// The steps before it are committed, the failed one is not. The same call continues with the
/// remaining records.
public struct QueryWriteError: Error, CustomStringConvertible {
    /// The result of the committed steps.
    public var report: QueryWriteReport
    /// The error of the failed step: a `StoreFailure` for every failure in the store itself.
    public var reason: any Error

    public var description: String {
        let done =
            report.steps == 0
            ? "nothing was written"
            : "\(report.changed) records in \(report.steps) earlier steps were written"
        return "\(reason); \(done). Repeat the call to continue with the others"
    }
}
