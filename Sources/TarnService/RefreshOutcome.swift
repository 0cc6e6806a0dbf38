/// The end of one run of a refresh.
enum RefreshOutcome: Sendable {
    case complete, interrupted
    /// The description of the failure, without secrets.
    case failed(String)

    var name: String {
        switch self {
        case .complete: "complete"
        case .interrupted: "interrupted"
        case .failed: "failed"
        }
    }
}
