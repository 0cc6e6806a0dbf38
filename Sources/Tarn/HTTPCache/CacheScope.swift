import TarnHTTP
import TarnStore

/// The requests that share stored responses, and the rules for these.
struct CacheScope: Sendable {
    /// The rules: of a private cache in the scope of one user, the configured ones otherwise.
    var rules: CacheRules
    /// A keyed hash of the scope; empty for the scope of all users.
    var digest: String
    /// The state of the resource when the transfer began; nil without a transfer.
    var state: ResourceState?

    /// Whether responses may be stored: none of a state that an unsafe request has ended, in this
    /// process or in another one.
    func isCurrent(_ writer: borrowing StoreWriter) throws -> Bool {
        try state.map { try !$0.hasEnded(writer.access.settings.unsafeRequests) } ?? true
    }
}
