// The location of records in a document.

extension Importer {
    /// Parses a document with records of several entities and drafts them, with all nested records.
    ///
    /// `@position` counts from 0 in each of the lists.
    ///
    /// - Parameters:
    ///   - envelope: the locations of the records, by entity.
    ///   - context: the data besides the body that the mapping may read.
    /// - Returns: the records of all lists, in the order of the envelope.
    /// - Throws: the errors of ``add(_:records:entity:parent:context:)``; `.recordsNotFound`
    ///   if a part that is not optional is absent. A body beyond ``Limits/documentSize`` is
    ///   refused: it has no single list at which it could be split.
    public func add(
        _ body: [UInt8], envelope: [EnvelopePart], context: ImportContext = ImportContext()
    ) throws(ImportError) -> Added {
        try add(body, envelope: envelope, context: context, asking: DocumentQuestions())
    }

    /// Parses a document with records of several entities, drafts them, and reads further values.
    package func add(
        _ body: [UInt8], envelope: [EnvelopePart], context: ImportContext = ImportContext(),
        asking questions: DocumentQuestions
    ) throws(ImportError) -> Added {
        var targets: [Target] = []
        for part in envelope { targets.append(try target(part.entity, nil)) }
        guard body.count <= limits.bodySize else { throw .tooLarge(.body, limit: limits.bodySize) }
        guard body.count <= limits.documentSize else { throw .tooLarge(.document, limit: limits.documentSize) }
        let tape = try parser.parse(keeping: body)
        // Before drafting, so that an error leaves nothing in the unit.
        var places: [[Int]] = []
        for (part, target) in zip(envelope, targets) { places.append(try locate(part, in: tape, target)) }
        var context = context
        context.firstPosition = 0
        drafter.begin(context, tape)
        drafter.limitDrafts(to: limits.drafts(ofDocument: body.count))
        if wanted != nil { recognition = ElementRecognition(nil, nil) }
        var added = Added(listed: [], count: 0)
        for ((part, target), places) in zip(zip(envelope, targets), places) {
            added.append(draft(tape, places, target, at: part.path, by: part.elements))
            if envelope.count > 1, added.firstCount == nil { added.firstCount = added.count }
        }
        if let failure = drafter.failure { throw failure }
        keep(body, .envelope(envelope), context)
        if !questions.isEmpty {
            added.facts = facts(
                questions, tape, places, lists: envelope.map(\.path),
                exceptions: envelope.map { ($0.path, $0.exceptions) })
        }
        return added
    }

    /// Returns the places of a part of an envelope; empty if the part is optional and absent.
    ///
    /// - Parameter target: the plan of its records; nil if these are not drafted.
    func locate(_ part: EnvelopePart, in tape: Tape, _ target: Target? = nil) throws(ImportError) -> [Int] {
        if part.isOptional {
            var isThere = false
            tape.forEach(at: part.path.steps[...], from: Tape.root) { place, _ in
                isThere = isThere || tape.kind(place) != .null
            }
            guard isThere else { return [] }
        }
        return try locate(part.path, in: tape, target, except: part.exceptions)
    }

    /// Returns the list or record at a path; with wildcards, all of them.
    ///
    /// - Parameters:
    ///   - target: the plan of the records; nil if these are not drafted.
    ///   - exceptions: the names of members of a map that are no records.
    /// - Throws: `.recordsNotFound`, `.notRecords`.
    func locate(
        _ path: JSONPath, in tape: Tape, _ target: Target? = nil, except exceptions: Set<String> = []
    ) throws(ImportError) -> [Int] {
        guard path.isPlain else { return try locateAll(path, in: tape, target, exceptions) }
        var index = Tape.root
        for key in path.keys {
            guard tape.kind(index) == .object, let value = tape.value(of: key, in: index) else {
                throw .recordsNotFound(path: path.description, missing: key, present: Importer.keys(tape, index))
            }
            index = value
        }
        return [try records(at: index, path, tape)]
    }

    private func locateAll(
        _ path: JSONPath, in tape: Tape, _ target: Target?, _ exceptions: Set<String>
    ) throws(ImportError) -> [Int] {
        var places: [Int] = []
        let isThere = tape.forEach(at: path.steps[...], from: Tape.root) { place, name in
            let isException =
                name >= 0 && !exceptions.isEmpty
                && exceptions.contains(String(decoding: tape.string(name), as: UTF8.self))
            if !isException { places.append(place) }
        }
        guard isThere else {
            throw .recordsNotFound(
                path: path.description, missing: path.description, present: Importer.keys(tape, Tape.root))
        }
        // Nothing at the path in any element: as without a wildcard, that is no empty list.
        if places.isEmpty, let (place, step) = tape.missingStep(of: path) {
            let key = if case .key(let key) = step { key } else { path.description }
            throw .recordsNotFound(path: path.description, missing: key, present: Importer.keys(tape, place))
        }
        // A value of a map may be a record itself: `{"EUR": 1, "USD": 1.1}`.
        let mayBeValues = path.steps.last == .each && target.map { plan.mayBeRecord(.string, of: $0.plan) } ?? true
        var found: [Int] = []
        for place in places where !path.hasWildcard || tape.kind(place) != .null {
            found.append(mayBeValues ? place : try records(at: place, path, tape))
        }
        return found
    }

    /// Returns the lists at a path that are records themselves: in a map, lists of values that are
    /// no records of the entity, if lists are.
    func rows(at path: JSONPath, _ tape: Tape, _ target: Target) -> Set<Int> {
        var rows: Set<Int> = []
        guard path.steps.last == .each, plan.mayBeRecord(.array, of: target.plan),
            !plan.mayBeRecord(.string, of: target.plan)
        else { return rows }
        tape.forEach(at: path.steps[...], from: Tape.root) { place, name in
            if name >= 0, tape.isRow(place) { rows.insert(place) }
        }
        return rows
    }

    private func records(at index: Int, _ path: JSONPath, _ tape: Tape) throws(ImportError) -> Int {
        guard tape.kind(index) == .array || tape.kind(index) == .object else {
            throw .notRecords(path: path.description, found: tape.describe(index))
        }
        return index
    }

    /// Returns the first keys of an object.
    private static func keys(_ tape: Tape, _ index: Int) -> [String] {
        guard tape.kind(index) == .object else { return [] }
        var keys: [String] = [], i = index + 1
        while i < tape.end(index), keys.count < 8 {
            keys.append(Tape.excerpt(tape.string(i), 80))
            i = tape.next(i + 1)
        }
        return keys
    }
}
