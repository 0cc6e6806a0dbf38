/// Targets of a relationship that are not in the store.
package struct MissingTargets: Sendable {
    /// The targets, each once, in ascending order.
    ///
    /// Keys are `.reference` values. For a joined relationship these are the values that no record
    /// has.
    package var targets: [Value]
    /// The number of further targets of a joined relationship, too long for its index.
    package var unnamedCount: Int
    /// The token for the next part of the list; nil if there is none.
    package var next: ContinuationToken?
}
