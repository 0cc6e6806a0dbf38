import TarnStore

/// The progress of consecutive endpoints, or of the lists of one.
package struct ProgressPage: Sendable {
    /// The endpoints in the order of their names; empty if the lists of one are wanted.
    package internal(set) var endpoints: [EndpointProgress] = []
    /// The lists of one endpoint.
    package internal(set) var lists: [ListProgress] = []
    /// The position at which the next page begins; nil after the last endpoint or list.
    package internal(set) var next: [UInt8]?
    /// The unreadable checkpoints and pages.
    package internal(set) var damages: [StoreInspector.Damage] = []
}
