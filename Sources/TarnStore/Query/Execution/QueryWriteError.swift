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
        var text = "\(reason)"
        let nothing = "nothing was written", done: String
        if report.steps > 0 {
            text = text.replacing(nothing, with: "nothing of this step was written")
            done =
                "; \(report.changed) record\(report.changed == 1 ? "" : "s") in \(report.steps) earlier "
                + "step\(report.steps == 1 ? "" : "s") \(report.changed == 1 ? "was" : "were") written"
        } else {
            // The reason may say it already.
            done = text.contains(nothing) ? "" : "; \(nothing)"
        }
        if case .lmdb(let error)? = reason as? StoreError, error.kind == .nestedWrite {
            return "\(text)\(done). Inside of a write, call the writer's function of the same name"
        }
        return "\(text)\(done). Repeat the call to continue with the others"
    }
}
