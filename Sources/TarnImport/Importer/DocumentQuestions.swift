internal import TarnStore

/// What is asked of a document while it is read, beside its records.
public struct DocumentQuestions: Sendable, Hashable {
    /// From the document's root.
    public var values: [KeyPath]
    /// From each of the listed records.
    public var record: KeyPath?
    /// From the document's root, whatever is there.
    public var documents: [KeyPath]
    /// Names of members beside the list of records; nil for none.
    public var members: MemberNames?

    public init(values: [KeyPath] = [], record: KeyPath? = nil, documents: [KeyPath] = [], members: MemberNames? = nil) {
        self.values = values
        self.record = record
        self.documents = documents
        self.members = members
    }

    /// Whether nothing is asked for.
    public var isEmpty: Bool { values.isEmpty && record == nil && documents.isEmpty && members == nil }
}
