/// The requests of a refresh, as digests: its records are complete only for the same ones.
package struct RefreshPlan: Sendable {
    /// A digest of the requests: refreshes of one name may have others.
    package let requests: String
    /// A digest of the requests, their limits, and the import of their responses.
    package let plan: String
    /// The URL of the API that answers the requests; of several ones, the first.
    package let api: String
}
