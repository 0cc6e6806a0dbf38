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
        let text = "\(reason)", nothing = "nothing was written"
        // The reason may say it already.
        let done =
            report.steps > 0
            ? "; \(report.changed) records in \(report.steps) earlier steps were written"
            : text.contains(nothing) ? "" : "; \(nothing)"
        if case .lmdb(let error)? = reason as? StoreError, error.kind == .nestedWrite {
            return "\(text)\(done). Inside of a write, call the writer's function of the same name"
        }
        return "\(text)\(done). Repeat the call to continue with the others"
    }
}
