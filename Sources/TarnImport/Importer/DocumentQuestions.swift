/// The values to read from a document besides its records.
package struct DocumentQuestions: Sendable, Hashable {
    /// The paths of scalars, from the document's root.
    package var values: [JSONPath]
    /// The path of a scalar in each listed record.
    package var record: JSONPath?
    /// The path of another scalar in each listed record, by which changes are requested.
    var increment: JSONPath?
    /// The paths of values of any kind, from the document's root.
    package var documents: [JSONPath]
    /// The names of members beside the list of records; nil for none.
    package var members: MemberNames?
    /// The objects in listed records that may tell that a list in them goes on.
    ///
    /// Elements that are recognised as unchanged are read for them only with ``readsElements``.
    package var containers = ListContainers()
    /// Whether each element is read, also one that is recognised as unchanged: one of them may have
    /// a list that goes on.
    package var readsElements = false

    /// Creates a set of questions.
    package init(
        values: [JSONPath] = [], record: JSONPath? = nil, increment: JSONPath? = nil, documents: [JSONPath] = [],
        members: MemberNames? = nil
    ) {
        self.increment = increment
        self.values = values
        self.record = record
        self.documents = documents
        self.members = members
    }

    /// Whether there are questions about each record.
    var asksRecords: Bool { record != nil || increment != nil }

    /// Whether each record is read for the questions.
    var readsRecords: Bool { asksRecords || !containers.isEmpty }

    /// Whether an answer may depend on the elements of a list.
    func concernElements(of list: JSONPath) -> Bool {
        asksRecords || readsElements
            || (values + documents).contains { path in
                zip(path.steps, list.steps).allSatisfy { $0 == $1 } || path.origin != list.origin
            }
    }

    /// Whether there are no questions.
    package var isEmpty: Bool {
        values.isEmpty && !readsRecords && documents.isEmpty && members == nil
    }
}
