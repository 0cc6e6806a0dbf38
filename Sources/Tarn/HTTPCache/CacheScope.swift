import TarnHTTP
import TarnStore

/// The requests that share stored responses, and the rules for these.
struct CacheScope: Sendable {
    /// A private cache's for one user, the configured ones for everybody.
    var rules: CacheRules
    /// A keyed hash; empty for everybody.
    var digest: String
}
