/// The progress of an endpoint's lists, as the store has it.
package struct EndpointProgress: Sendable {
    /// The name of the endpoint or request.
    package var name: String
    /// The beginning of the keys of its lists, for a question about them.
    package var id: [UInt8]
    /// The lists that were read.
    package internal(set) var lists: [ListProgress] = []
    /// Whether these are all of its lists: a question reads a limited number, and some may be
    /// unreadable.
    package internal(set) var isWhole = true
}
