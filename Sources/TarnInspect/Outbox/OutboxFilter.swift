import TarnStore

/// The operations of a list.
package enum OutboxFilter: String, Sendable, CaseIterable {
    case pending, sending, dead
    /// Pending operations whose last attempt has failed.
    case failed

    func contains(_ state: (state: OutboxOperation.State, hasFailed: Bool)) -> Bool {
        switch self {
        case .pending: state.state == .pending
        case .sending: state.state == .sending
        case .dead: state.state == .dead
        case .failed: state.state == .pending && state.hasFailed
        }
    }
}
