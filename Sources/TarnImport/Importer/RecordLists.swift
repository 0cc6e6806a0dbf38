/// The locations of a document's records: one list or record, or several lists by entity.
package enum RecordLists: Sendable {
    case list(JSONPath, entity: String, parent: ParentReference? = nil)
    case envelope([EnvelopePart])
}

extension Importer {
    /// Parses a document, drafts its records, and reads further values.
    package func add(
        _ body: [UInt8], _ lists: RecordLists, context: ImportContext = ImportContext(),
        asking questions: DocumentQuestions = DocumentQuestions()
    ) throws(ImportError) -> Added {
        switch lists {
        case .list(let records, let entity, let parent):
            try add(body, records: records, entity: entity, parent: parent, context: context, asking: questions)
        case .envelope(let parts): try add(body, envelope: parts, context: context, asking: questions)
        }
    }
}
