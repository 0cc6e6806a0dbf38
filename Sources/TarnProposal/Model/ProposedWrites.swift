/// The requests of a proposed entity that send changes: its `write`.
struct ProposedWrites {
    /// A request, as a description writes it.
    struct Request {
        /// The key under `write`: `create`, `update` or `delete`.
        var key: String
        /// The method and the URL template.
        var line: String
        /// Further keys with their values, as a description writes them.
        var options: [(key: String, text: String)] = []
        /// The names of the fields; nil for all.
        var fields: [String]?
        var comments: [String] = []
    }

    var requests: [Request] = []
    /// The URL that reads a record; nil for the default.
    var read: String?
    /// The header field of the idempotency key; nil for the default.
    var idempotency: String?
    /// Remarks about requests that are not described.
    var remarks: [String] = []
}
