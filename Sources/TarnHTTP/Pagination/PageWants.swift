/// What has to be known of a page beside its header fields and the number of its records.
public struct PageWants: Sendable, Hashable {
    /// Key paths in the body, from its root: `meta.next`.
    public var values: [String]
    /// A key path in the records.
    public var record: String?
    /// Header fields that are needed for the page after this one.
    public var fields: [String]

    public init(values: [String] = [], record: String? = nil, fields: [String] = []) {
        self.values = values
        self.record = record
        self.fields = fields
    }

    /// Whether nothing of the body is asked for.
    public var isEmpty: Bool { values.isEmpty && record == nil && fields.isEmpty }
}
