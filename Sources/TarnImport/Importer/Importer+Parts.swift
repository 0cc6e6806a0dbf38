// Documents that are too large to be held as a whole: read in pieces, drafted in parts.

internal import TarnStore

extension Importer {
    /// How much is read, and how much of it at once. Sizes are in bytes.
    ///
    /// How deep a document may be nested is fixed: 1,024 objects and lists in each other; those around a list that is divided do
    /// not count for its elements.
    public struct Limits: Sendable, Hashable {
        /// Of a body: one that is larger is refused with `.tooLarge(.body, …)` as soon as that is known.
        public var bodySize = 16 << 30
        /// Of what is parsed at once: a body that is larger is divided by the elements of its list. At most 4 GiB.
        public var documentSize = 256 << 20 {
            didSet { precondition(documentSize > 0 && documentSize < 4 << 30, "limits.documentSize is from 1 byte to 4 GiB") }
        }
        /// Of the parts that a body is divided into, about: a part ends with the element that reaches it.
        public var partSize = 8 << 20

        public init() {}
    }

    /// Reads a document piece by piece, and drafts the elements of its list in parts: for a document of any size, within the
    /// memory of one part and one element.
    ///
    /// After each part the closure may commit what was added: into one transaction, and then the whole document is one atomic
    /// change; or each part into one of its own, and then a part is the unit. What is said of one record in different parts is
    /// merged part by part, with the outcome of one unit, but the reports count the record for each part; and values that have
    /// to be unique are compared part by part.
    ///
    ///     let report = try store.write { writer in
    ///         var report = ImportReport()
    ///         try importer.addParts(entity: "Issue", next: { try file.read(1 << 20) }) { _ in
    ///             report.add(try importer.commit(into: &writer))
    ///         }
    ///         return report
    ///     }
    ///
    /// A document without a list, as of one record, is one part, and within `limits.documentSize`. Unlike ``add(_:records:entity:parent:)``
    /// this cannot know what comes behind a part: a document may turn out to be wrong after parts of it were handed over.
    ///
    /// - Parameters:
    ///   - next: the next bytes of the document, as many as the caller likes; nil at its end.
    ///   - context: what the mapping may take from beside the body.
    ///   - part: what was added of a part, in the order of the document. Called at least once for a sound document.
    /// - Throws: `ImportError` with offsets in the whole document, and what the closures throw. Then what was added since the
    ///   last commit has to be discarded, and a transaction with earlier parts must not be committed if the document is to
    ///   be one change. Of a list that stands twice in the document, `.notRecords`. `.rootUnavailable` if the document has a list and
    ///   the mapping takes values of its records from `@root`, which may stand behind it.
    public func addParts(
        records: KeyPath = KeyPath(keys: []), entity: String, parent: ParentReference? = nil, context: ImportContext = ImportContext(),
        next: () throws -> [UInt8]?, part: (Added) throws -> Void
    ) throws {
        let target = try target(entity, parent), takesRoot = plan.takesRoot(target.plan)
        drafter.begin(context, nil)
        var isWhole = false
        try divide(records, next) { frame in
            drafter.begin(context, frame)
            isWhole = true
        } _: { tape, place in
            if takesRoot, !isWhole { throw ImportError.rootUnavailable(entity: entity) }
            let added = draft(tape, place, target, from: parser.origin.firstElement)
            if let failure = drafter.failure { throw failure }
            try part(added)
        }
    }

    /// A body that is in memory, and too large for the parser.
    func addDivided(
        _ body: [UInt8], _ records: KeyPath, _ target: Target, _ context: ImportContext, _ questions: DocumentQuestions
    ) throws(ImportError) -> Added {
        var added = Added(listed: [], count: 0)
        do {
            for isDrafted in [false, true] {
                var start = 0
                func next() -> [UInt8]? {
                    guard start < body.count else { return nil }
                    let end = min(start + 1 << 20, body.count)
                    defer { start = end }
                    return Array(body[start..<end])
                }
                try divide(records, next) { frame in
                    // The values of the root are known when the records are drafted.
                    guard !isDrafted else { return }
                    drafter.begin(context, frame)
                    let ofRoot = facts(questions, frame, [], lists: [records])
                    (added.facts.values, added.facts.documents, added.facts.members) = (ofRoot.values, ofRoot.documents, ofRoot.members)
                } _: { tape, place in
                    guard isDrafted else { return }
                    added.append(draft(tape, place, target, from: parser.origin.firstElement))
                    if questions.record != nil { added.facts.records += facts(questions, tape, [place]).records }
                    if let failure = drafter.failure { throw failure }
                }
            }
        } catch let error as ImportError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown here")
        }
        return added
    }

    /// Hands over the tape of every part, with the place of its list, or of the one record.
    ///
    /// - Parameter frame: called with everything but the elements of the list, behind the last of them; before the one record if
    ///   there is no list.
    private func divide(
        _ records: KeyPath, _ next: () throws -> [UInt8]?, frame handOver: (Tape) -> Void, _ body: (Tape, Int) throws -> Void
    ) throws {
        let limits = limits
        guard records.isPlain else { return try readWhole(records, next, frame: handOver, body) }
        var splitter = DocumentSplitter(path: records.keys, partSize: limits.partSize, limit: limits.documentSize)
        let path = "$" + records.keys.map { Tape.step($0) }.joined()
        var elements = 0
        func take(_ part: DocumentSplitter.Part) throws {
            let tape = try parse(part.text) { $0 + part.offset }
            // Between two commas, or behind the last one, there is an element.
            if tape.isEmpty(Tape.root), !(part.isFirst && part.isLast) {
                let problem = JSONProblem(kind: .valueExpected, offset: part.offset + part.text.count - 1)
                throw ImportError.invalidJSON(reason: problem.reason, offset: problem.offset, beginning: "")
            }
            parser.origin = JSONParser.Origin(path: path, firstElement: elements)
            defer { parser.origin = JSONParser.Origin() }
            tape.forEachElement(Tape.root) { _ in elements += 1 }
            try body(tape, Tape.root)
        }
        var size = 0
        do {
            while let piece = try next() {
                size += piece.count
                guard size <= limits.bodySize else { throw ImportError.tooLarge(.body, limit: limits.bodySize) }
                try piece.withUnsafeBytes { try splitter.append($0, take) }
            }
            try splitter.finish(take)
        } catch let excess as DocumentSplitter.Excess {
            throw ImportError.tooLarge(excess.what, limit: limits.documentSize)
        }
        let frame = try parse(splitter.frame.bytes) { splitter.offset(inFrame: $0) }
        handOver(frame)
        let place = try locate(records, in: frame)[0]
        guard splitter.hasList else { return try body(frame, place) }
        // The last of equal keys counts, which may not be the list that was read.
        guard frame.kind(place) == .array, !splitter.hasSecondList else {
            throw ImportError.notRecords(path: records.description, found: "not the only value of its key")
        }
    }

    /// Where the records are cannot be told from the keys on the way: such a document is one part.
    private func readWhole(
        _ records: KeyPath, _ next: () throws -> [UInt8]?, frame handOver: (Tape) -> Void, _ body: (Tape, Int) throws -> Void
    ) throws {
        var whole = ByteWriter(capacity: 1 << 16)
        while let piece = try next() {
            guard whole.count + piece.count <= limits.bodySize else { throw ImportError.tooLarge(.body, limit: limits.bodySize) }
            guard whole.count + piece.count <= limits.documentSize else { throw ImportError.tooLarge(.document, limit: limits.documentSize) }
            whole.append(piece)
        }
        let tape = try parse(whole.bytes) { $0 }
        let places = try locate(records, in: tape)
        handOver(tape)
        for place in places { try body(tape, place) }
    }

    private func parse(_ bytes: Bytes, offset: (Int) -> Int) throws(ImportError) -> Tape {
        do throws(ImportError) {
            return try parser.parse(bytes)
        } catch {
            guard case .invalidJSON(let reason, let found, let beginning) = error else { throw error }
            throw .invalidJSON(reason: reason, offset: offset(found), beginning: beginning)
        }
    }
}
