// Single values of a document beside its records: where the next page is, say.

internal import TarnStore

/// What is asked of a document while it is read, beside its records.
public struct DocumentQuestions: Sendable, Hashable {
    /// From the document's root.
    public var values: [KeyPath]
    /// From each of the listed records.
    public var record: KeyPath?
    /// From the document's root, whatever is there.
    public var documents: [KeyPath]

    public init(values: [KeyPath] = [], record: KeyPath? = nil, documents: [KeyPath] = []) {
        self.values = values
        self.record = record
        self.documents = documents
    }

    /// Whether nothing is asked for.
    public var isEmpty: Bool { values.isEmpty && record == nil && documents.isEmpty }
}

/// The answers to `DocumentQuestions`.
public struct DocumentFacts: Sendable, Hashable {
    /// In the order of the questions: texts without their quotes, numbers and booleans as they are written; nil for what is not there, null, or
    /// no scalar.
    public var values: [String?] = []
    /// Of each listed record that has one, in their order.
    public var records: [String] = []
    /// In the order of the questions, as compact JSON; nil for what is not there.
    public var documents: [String?] = []

    public init() {}
}

extension Importer {
    /// Answers questions about a document.
    ///
    /// - Parameter places: where its records are, or lists of them.
    func facts(_ questions: DocumentQuestions, _ tape: Tape, _ places: [Int]) -> DocumentFacts {
        var facts = DocumentFacts()
        facts.values = questions.values.map { path in tape.value(at: path.steps[...], from: Tape.root).flatMap(tape.scalarText) }
        facts.documents = questions.documents.map { path in
            tape.value(at: path.steps[...], from: Tape.root).map { JSONValue(tape, $0).text }
        }
        guard let path = questions.record else { return facts }
        func add(_ record: Int) {
            if let text = tape.value(at: path.steps[...], from: record).flatMap(tape.scalarText) { facts.records.append(text) }
        }
        for place in places {
            if tape.kind(place) == .array { tape.forEachElement(place, add) } else { add(place) }
        }
        return facts
    }
}

extension Tape {
    fileprivate func scalarText(_ index: Int) -> String? {
        switch kind(index) {
        case .string: String(decoding: string(index), as: UTF8.self)
        case .true: "true"
        case .false: "false"
        case .int, .uint, .double:
            switch JSONValue(self, index) {
            case .number(let text): text
            default: nil
            }
        case .object, .array, .null, nil: nil
        }
    }
}
