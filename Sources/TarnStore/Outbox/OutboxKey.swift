/// The key of a record that is created locally.
package enum OutboxKey: Sendable, Hashable {
    /// A temporary key. Parts that the values contain, such as the owner, are kept.
    case temporary
    /// A key of which the server assigns the components that are nil.
    case partial([KeyComponent?])
    /// A key that the client chooses.
    case client(RecordKey)
}
