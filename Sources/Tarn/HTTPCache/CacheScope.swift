import TarnHTTP
import TarnStore

/// The requests that share stored responses, and the rules for these.
struct CacheScope: Sendable {
    /// The rules: of a private cache in the scope of one user, the configured ones otherwise.
    var rules: CacheRules
    /// A keyed hash of the scope; empty for the scope of all users.
    var digest: String
}
