/// The failure of one step of a change of many records, after other steps were queued.
///
/// The steps before it are committed and will be sent, the failed one is not.
package struct PartlyQueuedError: Error, CustomStringConvertible {
    /// The number of records whose changes are queued.
    package var records: Int
    /// The number of writes committed.
    package var steps: Int
    /// The error of the failed step.
    package var reason: any Error

    package var description: String {
        "\(reason); the changes of \(records) record\(records == 1 ? "" : "s") in \(steps) earlier "
            + "step\(steps == 1 ? "" : "s") are queued, and a push sends them. "
            + "Repeat the call to continue with the others, or discard the queued changes"
    }
}
