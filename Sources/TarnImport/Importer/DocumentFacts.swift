// Single values of a document beside its records: where the next page is, say.

internal import TarnStore

/// The answers to `DocumentQuestions`.
public struct DocumentFacts: Sendable, Hashable {
    /// In the order of the questions: texts without their quotes, numbers and booleans as they are written; nil for what is not there, null, or
    /// no scalar.
    public var values: [String?] = []
    /// Of each listed record that has one, in their order.
    public var records: [String] = []
    /// In the order of the questions, as compact JSON; nil for what is not there.
    public var documents: [String?] = []
    /// Scalars beside the list of records, by the names that were asked for, in the order of the document. Of a key that stands twice the last
    /// one counts.
    public var members: [Member] = []

    /// A scalar and the path to it from the document's root.
    public struct Member: Sendable, Hashable {
        public var path: String
        public var text: String

        public init(_ path: String, _ text: String) {
            self.path = path
            self.text = text
        }
    }

    public init() {}
}

extension Importer {
    /// Answers questions about a document.
    ///
    /// - Parameters:
    ///   - places: where its records are, or lists of them.
    ///   - lists: the paths of its lists.
    func facts(_ questions: DocumentQuestions, _ tape: Tape, _ places: [Int], lists: [KeyPath] = []) -> DocumentFacts {
        var facts = DocumentFacts()
        if let names = questions.members {
            var scan = MemberScan(tape, names)
            scan.add(around: lists)
            facts.members = scan.members
        }
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
    func scalarText(_ index: Int) -> String? {
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
