public import TarnImport

/// The meaning of a response: what is imported, what follows, and what went wrong beside the data.
public struct RemoteAnswer<Info: Sendable>: Sendable {
    /// The records of the response, in order.
    package var parts: [RemotePart]
    /// The operations that follow, such as that of the next page.
    package var next: [RemoteOperation<Info>]
    /// Values besides the records, for the caller.
    var metadata: [String: JSONValue]
    /// Errors that the server reports beside data. The data is imported all the same, but null
    /// clears nothing.
    var errors: [RemoteError]

    /// Creates an answer.
    public init(
        _ parts: [RemotePart] = [], next: [RemoteOperation<Info>] = [], metadata: [String: JSONValue] = [:],
        errors: [RemoteError] = []
    ) {
        self.parts = parts
        self.next = next
        self.metadata = metadata
        self.errors = errors
    }
}
