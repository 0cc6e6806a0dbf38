// Values of a document besides its records, such as the link to the next page.

/// The values that answer `DocumentQuestions`.
package struct DocumentFacts: Sendable, Hashable {
    /// Scalars as texts, in the order of the questions.
    ///
    /// Nil stands for an absent value, null, or a value that is no scalar. Strings are unquoted;
    /// numbers and booleans are as written.
    package var values: [String?] = []
    /// The positions of the values that are objects or lists with values, and no links.
    package var containers: Set<Int> = []
    /// The scalar of each listed record that has one, in the order of the records.
    package var records: [String] = []
    /// The scalar of each listed record at the path of increments, in the order of the records.
    package var increments: [String] = []
    /// Values in the order of the questions, as compact JSON; nil for an absent value.
    package var documents: [String?] = []
    /// The scalars with the requested names beside the list of records, in document order.
    ///
    /// If a key occurs twice, the last one wins.
    package var members: [Member] = []
    /// The numbers of records with a list that goes on, by the paths of the flags that say so.
    package var cutLists: [String: Int] = [:]

    /// A scalar and its path from the document's root.
    package struct Member: Sendable, Hashable {
        /// The path, in the syntax of a ``JSONPath``.
        package var path: String
        /// The scalar as a text.
        package var text: String

        /// Creates a member.
        init(_ path: String, _ text: String) {
            self.path = path
            self.text = text
        }
    }

    /// Creates empty facts.
    package init() {}
}

extension Importer {
    /// Reads the values of a document, and counts its records without drafting them.
    ///
    /// - Parameter lists: the paths of the lists; those that are absent have no records.
    package func facts(
        of body: [UInt8], lists: [JSONPath], asking questions: DocumentQuestions
    ) throws(ImportError) -> Added {
        guard body.count <= limits.documentSize else { throw .tooLarge(.document, limit: limits.documentSize) }
        let tape = try parser.parse(keeping: body)
        var places: [[Int]] = []
        for list in lists { places.append(try locate(EnvelopePart(list, "", optional: true), in: tape)) }
        var counts = lists.map { _ in 0 }
        for (list, places) in places.enumerated() {
            for place in places {
                if tape.kind(place) == .array {
                    tape.forEachElement(place) { _ in counts[list] += 1 }
                } else {
                    counts[list] += 1
                }
            }
        }
        var added = Added(listed: [], count: counts.reduce(0, +))
        if lists.count > 1 { added.firstCount = counts[0] }
        if !questions.isEmpty { added.facts = facts(questions, tape, places, lists: lists) }
        return added
    }

    /// Reads the values that answer questions about a document.
    ///
    /// - Parameters:
    ///   - places: the locations of its records, or of lists of them, for each of its lists. The
    ///     values of records are those of the first list; increments have those of all.
    ///   - lists: the paths of its lists.
    ///   - exceptions: the names of members of its maps that are no records.
    func facts(
        _ questions: DocumentQuestions, _ tape: Tape, _ places: [[Int]], lists: [JSONPath] = [],
        exceptions: [(map: JSONPath, names: Set<String>)] = []
    ) -> DocumentFacts {
        var facts = DocumentFacts()
        if let names = questions.members {
            var scan = MemberScan(tape, names)
            scan.add(around: lists)
            for (map, names) in exceptions { scan.add(names, of: map) }
            facts.members = scan.members
        }
        for (position, path) in questions.values.enumerated() {
            let place = tape.value(at: path.steps[...], from: Tape.root)
            if let place, tape.isOtherContainer(place) { facts.containers.insert(position) }
            facts.values.append(place.flatMap(tape.scalarText))
        }
        facts.documents = questions.documents.map { path in
            tape.value(at: path.steps[...], from: Tape.root).map { JSONValue(tape, $0).text }
        }
        guard questions.readsRecords else { return facts }
        func text(_ path: JSONPath?, _ record: Int) -> String? {
            path.flatMap { tape.value(at: $0.steps[...], from: record) }.flatMap(tape.scalarText)
        }
        func add(_ record: Int, of list: Int) {
            for path in list < questions.containers.paths.count ? questions.containers.paths[list] : [] {
                if let flag = tape.flag(ofMoreIn: path, of: record) {
                    facts.cutLists[flag.description, default: 0] += 1
                }
            }
            if list == 0, let text = text(questions.record, record) { facts.records.append(text) }
            if let text = text(questions.increment, record) { facts.increments.append(text) }
        }
        for (list, places) in places.enumerated() {
            for place in places {
                if tape.kind(place) == .array {
                    tape.forEachElement(place) { add($0, of: list) }
                } else {
                    add(place, of: list)
                }
            }
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
