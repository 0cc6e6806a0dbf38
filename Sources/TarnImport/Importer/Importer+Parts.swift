// Documents that are too large for memory: read in pieces, drafted in parts.

internal import TarnStore

extension Importer {
    /// The limits on the size of documents, in bytes.
    ///
    /// The maximum depth is fixed: 1,024 nested objects and lists. If a document is split, the
    /// levels around the list do not count for its elements.
    public struct Limits: Sendable, Hashable {
        /// The limit on a body.
        ///
        /// A larger one is refused with `.tooLarge(.body, …)` as soon as that is known.
        public var bodySize = 16 << 30
        /// The limit on what is parsed at once: a larger body is split at its list's elements.
        ///
        /// It is less than 4 GiB.
        public var documentSize = 256 << 20 {
            didSet {
                precondition(
                    documentSize > 0 && documentSize < 4 << 30, "limits.documentSize must be from 1 byte to 4 GiB")
            }
        }
        /// The approximate size of the parts of a split body.
        ///
        /// A part ends with the element that reaches it.
        package var partSize = 8 << 20
        /// The size that the drafts of one document may have, in addition to 64 times its own.
        ///
        /// A value from outside of the records (`@root`, `@parent`) is in each of the drafts, and a
        /// repeated record is merged as a whole: a small document could fill the memory, or take
        /// hours.
        package var draftSize = 256 << 20

        /// Returns the limit on the drafts of a document.
        func drafts(ofDocument size: Int) -> Int { draftSize + 64 * size }

        /// Creates the default limits.
        public init() {}
    }

    /// Reads a document in pieces, and drafts the elements of its list in parts.
    ///
    /// A document of any size needs only the memory of one part and one element.
    ///
    /// After each part, the closure may commit what was added. If all parts are committed in one
    /// transaction, the whole document is one atomic change. If each part has its own transaction,
    /// the part is the unit. Drafts of one record in different parts are merged part by part, with
    /// the outcome of one unit. However, the reports count the record once per part, and unique
    /// values are compared part by part.
    ///
    ///     let report = try store.write { writer in
    ///         var report = ImportReport()
    ///         try importer.addParts(entity: "Issue", next: { try file.read(1 << 20) }) { _ in
    ///             report.add(try importer.commit(into: &writer))
    ///         }
    ///         return report
    ///     }
    ///
    /// A document without a list, such as a single record, is one part, and limited by
    /// `limits.documentSize`. Unlike ``add(_:records:entity:parent:context:)``, this
    /// function does not know the text after a part: a document may prove invalid after parts of it
    /// were passed on.
    ///
    /// - Parameters:
    ///   - next: returns the next bytes of the document, any number of them; nil at its end.
    ///   - context: the data besides the body that the mapping may read.
    ///   - part: receives the added records of a part, in document order. Called at least once for
    ///     a valid document, unless `records` has wildcards that lead to no list.
    /// - Throws: `ImportError` with offsets in the whole document, and the errors of the closures.
    ///   The records added since the last commit must be discarded then. If the document is to be
    ///   one change, a transaction with earlier parts must not be committed. `.notRecords` if the
    ///   list occurs twice in the document. `.rootUnavailable` if the document has a list and the
    ///   mapping takes values of its records from `@root`, which may follow the list.
    public func addParts(
        records: JSONPath = JSONPath(keys: []), entity: String, parent: ParentReference? = nil,
        context: ImportContext = ImportContext(),
        next: () throws -> [UInt8]?, part: (Added) throws -> Void
    ) throws {
        let target = try target(entity, parent), takesRoot = plan.takesRoot(target.plan)
        drafter.begin(context, nil)
        let limit = limits.drafts(ofDocument: limits.documentSize)
        var isWhole = false
        try divide(records, target, next) { frame in
            drafter.begin(context, frame)
            isWhole = true
        } _: { tape, place, path in
            if takesRoot, !isWhole { throw ImportError.rootUnavailable(entity: entity) }
            drafter.limitDrafts(to: limit)
            let added = draft(tape, place, target, from: parser.origin.firstElement, path: path)
            if let failure = drafter.failure { throw failure }
            try part(added)
        }
    }

    /// Adds a body that is in memory, but too large for the parser.
    func addDivided(
        _ body: [UInt8], _ records: JSONPath, _ target: Target, _ context: ImportContext, _ questions: DocumentQuestions
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
                try divide(records, target, next) { frame in
                    // The values of the root are known before the records are drafted.
                    guard !isDrafted else { return }
                    drafter.begin(context, frame)
                    let ofRoot = facts(questions, frame, [], lists: [records])
                    (added.facts.values, added.facts.documents, added.facts.members) = (
                        ofRoot.values, ofRoot.documents, ofRoot.members
                    )
                    added.facts.containers = ofRoot.containers
                } _: { tape, place, path in
                    guard isDrafted else { return }
                    drafter.limitDrafts(to: limits.drafts(ofDocument: limits.documentSize))
                    added.append(draft(tape, place, target, from: parser.origin.firstElement, path: path))
                    if questions.readsRecords {
                        let ofPart = facts(questions, tape, [[place]])
                        added.facts.records += ofPart.records
                        added.facts.increments += ofPart.increments
                        added.facts.cutLists.merge(ofPart.cutLists, uniquingKeysWith: +)
                    }
                    if let failure = drafter.failure { throw failure }
                }
            }
        } catch let error as ImportError {
            throw error
        } catch {
            preconditionFailure("unexpected error type")
        }
        return added
    }

    /// Passes on the tape of every part, with the place of its list, or of the single record, and
    /// its path if it is known.
    ///
    /// - Parameter frame: receives everything but the elements of the list, after the last of them.
    ///   Without a list, it is called before the single record.
    private func divide(
        _ records: JSONPath, _ target: Target, _ next: () throws -> [UInt8]?, frame handOver: (Tape) -> Void,
        _ body: (Tape, Int, Tape.Found?) throws -> Void
    ) throws {
        let limits = limits
        guard records.isPlain else { return try readWhole(records, target, next, frame: handOver, body) }
        var splitter = DocumentSplitter(path: records.keys, partSize: limits.partSize, limit: limits.documentSize)
        let path = "$" + records.keys.map { Tape.step($0) }.joined()
        var elements = 0
        func take(_ part: DocumentSplitter.Part) throws {
            parser.origin = JSONParser.Origin(path: path, firstElement: elements)
            defer { parser.origin = JSONParser.Origin() }
            let tape = try parse(part.text) { $0 + part.offset }
            // An element must precede and follow every comma.
            if tape.isEmpty(Tape.root), !(part.isFirst && part.isLast) {
                let problem = JSONProblem(kind: .valueExpected, offset: part.offset + part.text.count - 1)
                throw ImportError.invalidJSON(
                    reason: problem.reason, offset: problem.offset, path: "\(path)[\(elements)]", beginning: "")
            }
            tape.forEachElement(Tape.root) { _ in elements += 1 }
            try body(tape, Tape.root, nil)
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
        guard splitter.hasList else { return try body(frame, place, nil) }
        // Of equal keys the last one wins, which may not be the list that was read.
        guard frame.kind(place) == .array, !splitter.hasSecondList else {
            throw ImportError.notRecords(path: records.description, found: "one of several values of its key")
        }
    }

    /// Reads a document as one part: the splitter follows keys, but no indexes or wildcards.
    private func readWhole(
        _ records: JSONPath, _ target: Target, _ next: () throws -> [UInt8]?, frame handOver: (Tape) -> Void,
        _ body: (Tape, Int, Tape.Found?) throws -> Void
    ) throws {
        var whole = ByteWriter(capacity: 1 << 16)
        while let piece = try next() {
            guard whole.count + piece.count <= limits.bodySize else {
                throw ImportError.tooLarge(.body, limit: limits.bodySize)
            }
            guard whole.count + piece.count <= limits.documentSize else {
                throw ImportError.tooLarge(.document, limit: limits.documentSize)
            }
            whole.append(piece)
        }
        let tape = try parse(whole.bytes) { $0 }
        let places = try locate(records, in: tape, target)
        handOver(tape)
        let paths = paths(of: places, at: records, tape)
        for place in places { try body(tape, place, paths[place]) }
    }

    private func parse(_ bytes: Bytes, offset: (Int) -> Int) throws(ImportError) -> Tape {
        do throws(ImportError) {
            return try parser.parse(bytes)
        } catch {
            guard case .invalidJSON(let reason, let found, let path, let beginning) = error else { throw error }
            throw .invalidJSON(reason: reason, offset: offset(found), path: path, beginning: beginning)
        }
    }
}
