internal import TarnStore

/// The values to read from a document besides its records.
public struct DocumentQuestions: Sendable, Hashable {
    /// The paths of scalars, from the document's root.
    public var values: [JSONPath]
    /// The path of a scalar in each listed record.
    public var record: JSONPath?
    /// The paths of values of any kind, from the document's root.
    public var documents: [JSONPath]
    /// The names of members beside the list of records; nil for none.
    public var members: MemberNames?

    /// Creates a set of questions.
    public init(
        values: [JSONPath] = [], record: JSONPath? = nil, documents: [JSONPath] = [], members: MemberNames? = nil
    ) {
        self.values = values
        self.record = record
        self.documents = documents
        self.members = members
    }

    /// Whether there are no questions.
    public var isEmpty: Bool { values.isEmpty && record == nil && documents.isEmpty && members == nil }
}
