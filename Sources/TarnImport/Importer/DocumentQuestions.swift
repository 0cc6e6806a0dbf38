internal import TarnStore

/// The values to read from a document besides its records.
public struct DocumentQuestions: Sendable, Hashable {
    /// The paths of scalars, from the document's root.
    public var values: [KeyPath]
    /// The path of a scalar in each listed record.
    public var record: KeyPath?
    /// The paths of values of any kind, from the document's root.
    public var documents: [KeyPath]
    /// The names of members beside the list of records; nil for none.
    public var members: MemberNames?

    /// Creates a set of questions.
    public init(values: [KeyPath] = [], record: KeyPath? = nil, documents: [KeyPath] = [], members: MemberNames? = nil) {
        self.values = values
        self.record = record
        self.documents = documents
        self.members = members
    }

    /// Whether there are no questions.
    public var isEmpty: Bool { values.isEmpty && record == nil && documents.isEmpty && members == nil }
}
