// Bodies that come again: recognised by their digests, and not drafted.
//
// A body that is equal to the one of a stored entry has no effect if all its records are still as
// its import has left them; so has an element of its list. This is certain only in the transaction
// of the commit. If it is not so there, all bodies of the unit are drafted, in their order: the
// result is the same as without recognition.

package import TarnStore

extension Importer {
    /// Whether bodies may be recognised when they come again.
    ///
    /// Not with policies that depend on the stored record or on the rest of a unit, nor with values
    /// from outside of the body.
    package var canRecognizeBodies: Bool {
        plan.isIndependent && !plan.readsContext && hooks.isEmpty && !isStrict
    }

    /// Adds a document, unless it is equal to the one of a stored entry.
    ///
    /// Elements of its list that are equal to those of the entry are not drafted either. With
    /// ``bodyDigest``, the result has what an entry keeps to be recognised.
    ///
    /// - Parameter entry: the entry of the same request as the caller has read it. The commit reads
    ///   it again.
    /// - Returns: for an equal document the listed records of the entry, and no facts.
    /// - Throws: the errors of ``add(_:records:entity:parent:context:)``.
    package func add(
        _ body: [UInt8], _ lists: RecordLists, context: ImportContext, asking questions: DocumentQuestions,
        known entry: ResponseEntry?
    ) throws(ImportError) -> Added {
        var about = ByteWriter(capacity: 64)
        if case .list(_, _, let parent?) = lists {
            about.append(parent.relationship)
            about.append(parent.tuple)
        }
        let ofElements = Array(about.bytes)
        about.appendLittleEndian(UInt64(truncatingIfNeeded: context.firstPosition))
        guard canRecognizeBodies, body.count <= limits.documentSize,
            let digest = body.withUnsafeBytes({ bodyDigest?.digest(of: $0, about: about.bytes) })
        else { return try add(body, lists, context: context, asking: questions) }
        var kept = KeptBodies.Body(bytes: body, lists: lists, context: context)
        let entry = self.kept.canRecognize ? entry : nil
        if let entry, let imported = entry.imported, imported.digest == digest {
            kept.repeated = RepeatedBodies.Body(request: entry.request, digest: digest)
            self.kept.add(kept, hasEntry: true)
            listed += entry.listing.count
            var added = Added(
                listed: entry.listing.listed, count: entry.listing.count, skipped: entry.listing.skipped)
            (added.imported, added.isRepeated) = (imported, true)
            return added
        }
        wanted = WantedElements(entry: entry, about: ofElements)
        defer { (wanted, recognition) = (nil, nil) }
        var added = try add(body, lists, context: context, asking: questions)
        guard let recognition else { return added }
        added.imported = recognition.imported(digest)
        if let entry, let known = entry.imported, !recognition.recognized.isEmpty {
            kept.repeated = RepeatedBodies.Body(
                request: entry.request, digest: known.digest, elements: recognition.recognized)
        }
        self.kept.add(kept, hasEntry: entry != nil)
        return added
    }

    // MARK: Elements

    /// The elements that those of the next document's list are compared with.
    struct WantedElements {
        let entry: ResponseEntry?
        /// The conditions of an element's import beside its text.
        let about: [UInt8]
    }

    /// Parses a document, as far as it is not known.
    ///
    /// If the stored entry has most elements of its list, the tape has only the others.
    func parse(_ body: [UInt8], _ records: JSONPath, _ questions: DocumentQuestions) throws(ImportError) -> Tape {
        let known =
            mayRecognizeElements(records) && !questions.concernElements(of: records)
            ? wanted?.entry.flatMap { KnownElements($0) } : nil
        if let known, let tape = reduced(body, known, records.keys) { return tape }
        let tape = try parser.parse(keeping: body)
        if wanted != nil, recognition == nil {
            let listed =
                mayRecognizeElements(records) ? listed(parser.elementRanges(at: records.keys), parser.text) : nil
            recognition = ElementRecognition(listed, known)
        }
        return tape
    }

    /// Returns the tape of a document with only the elements that the stored entry does not have.
    private func reduced(_ body: [UInt8], _ known: KnownElements, _ keys: [String]) -> Tape? {
        let reduced: [UInt8]? = body.withUnsafeBytes { bytes in
            let text = Bytes(rebasing: bytes[JSONParser.markLength(bytes)...])
            if let found = walk(text, known, keys), let rest = rest(of: text, found, known) { return rest }
            return indexed(body, keys).flatMap { rest(of: text, $0, known) }
        }
        guard let reduced else { return nil }
        // Invalid text is reported by the parser of the whole document, with its location. Of equal
        // keys the last one wins: the list is the one that was found if each key occurs once.
        guard let tape = try? parser.parse(keeping: reduced), tape.isUnique(keys) else {
            recognition = nil
            return nil
        }
        recognition?.isReduced = true
        return tape
    }

    /// Returns a text without the elements that the stored entry has; nil if it has few of them.
    private func rest(
        of text: Bytes, _ found: (ranges: JSONParser.ElementRanges, listed: [ListedElement]), _ known: KnownElements
    ) -> [UInt8]? {
        let recognition = ElementRecognition(found.listed, known), ranges = found.ranges
        guard recognition.knownCount * 2 > found.listed.count else { return nil }
        self.recognition = recognition
        var rest: [UInt8] = []
        rest.reserveCapacity(text.count - ranges.list.count + JSONParser.padding)
        rest += text[..<ranges.list.lowerBound]
        var isFirst = true
        for (range, position) in zip(ranges.elements, recognition.found) where position < 0 {
            if !isFirst { rest.append(UInt8(ascii: ",")) }
            isFirst = false
            rest += text[range]
        }
        rest += text[ranges.list.upperBound...]
        return rest
    }

    /// Finds the elements by the lengths of those in the stored entry: what is known is not read
    /// but by its digest.
    private func walk(
        _ text: Bytes, _ known: KnownElements, _ keys: [String]
    ) -> (ranges: JSONParser.ElementRanges, listed: [ListedElement])? {
        guard known.hasLengths else { return nil }
        var listed: [ListedElement] = [], walk = ElementWalk(text), next = 0, missed = 0
        let ranges = walk.elements(at: keys) { start in
            // The next element, or the one behind it if that was changed or removed.
            for position in next...next + 1 {
                guard let element = known.element(position), text.mayEndElement(start + element.length) else {
                    continue
                }
                guard digest(text.slice(start..<start + element.length)) == element.digest else { continue }
                listed.append(element)
                next = position + 1
                return element.length
            }
            return nil
        } found: { range in
            guard let digest = digest(text.slice(range)) else { return false }
            listed.append(ListedElement(digest: digest, length: range.count))
            if let position = known.position(of: digest, near: next) { next = position + 1 }
            missed += 1
            // simdjson is faster if many are to be looked for.
            return missed <= 8 + listed.count / 4
        }
        return ranges.flatMap { isWorthwhile($0) ? ($0, listed) : nil }
    }

    /// Finds the elements by the tokens of the document.
    private func indexed(
        _ body: [UInt8], _ keys: [String]
    ) -> (ranges: JSONParser.ElementRanges, listed: [ListedElement])? {
        guard parser.index(keeping: body), let ranges = parser.elementRanges(at: keys),
            let listed = listed(ranges, parser.text)
        else { return nil }
        return (ranges, listed)
    }

    private func mayRecognizeElements(_ records: JSONPath) -> Bool {
        !plan.takesSurroundings && plan.documentSources.isEmpty && records.isPlain
    }

    /// Keeps a document that was added without regard to an entry.
    func keep(_ body: [UInt8], _ lists: RecordLists, _ context: ImportContext) {
        guard bodyDigest != nil, wanted == nil else { return }
        kept.add(KeptBodies.Body(bytes: body, lists: lists, context: context), hasEntry: false)
    }

    /// Returns the elements of a list; nil if they are not recognised one by one.
    private func listed(_ ranges: JSONParser.ElementRanges?, _ text: Bytes) -> [ListedElement]? {
        guard let ranges, isWorthwhile(ranges) else { return nil }
        var listed: [ListedElement] = []
        listed.reserveCapacity(ranges.elements.count)
        for range in ranges.elements {
            guard let digest = digest(text.slice(range)) else { return nil }
            listed.append(ListedElement(digest: digest, length: range.count))
        }
        return listed
    }

    private func isWorthwhile(_ ranges: JSONParser.ElementRanges) -> Bool {
        ranges.list.count / max(ranges.elements.count, 1) >= ElementRecognition.smallestElement
    }

    /// Returns the digest of an element; nil if elements are not recognised one by one.
    private func digest(_ element: Bytes) -> UInt64? {
        guard let wanted, let bodyDigest else { return nil }
        return wanted.about.withUnsafeBytes { bodyDigest.shortDigest(of: element, about: $0) }
    }

    /// Whether the drafts of the unit can be recognised by their bodies: alone and in any order,
    /// each would leave the store as the unit does.
    var canRecognizeDrafts: Bool {
        bodyDigest != nil && canRecognizeBodies && drafter.derived.isEmpty && drafter.claims.isEmpty
            && drafter.tombstones.isEmpty && drafter.diagnostics.count == 0 && drafter.skipped == 0
            && drafter.list.conflicts == 0 && !drafter.list.hasMixedKinds
    }

    // MARK: The commit

    /// Checks what is recognised in the unit. If a record of it has changed, drafts all bodies.
    ///
    /// - Returns: what is recognised; nil if nothing is.
    func checkRepeated(_ writer: borrowing StoreWriter) throws -> RepeatedBodies? {
        guard kept.hasRepeated else { return nil }
        let repeated = RepeatedBodies()
        // A deletion of the unit may concern a record that was recognised: their order counts.
        guard try drafter.tombstones.isEmpty && areUnchanged(repeated, writer) else {
            try draftAgain(kept)
            return nil
        }
        for draft in drafter.list.drafts {
            repeated.uncount(plan.plans[Int(draft.plan)].entity.root, drafter.list.key(draft))
        }
        return repeated
    }

    private func areUnchanged(_ repeated: RepeatedBodies, _ writer: borrowing StoreWriter) throws -> Bool {
        guard canRecognizeBodies, try !writer.access.localChanges.hasMarks else { return false }
        for body in kept.bodies {
            guard let part = body.repeated else { continue }
            guard try repeated.isUnchanged(part, in: writer.access) else { return false }
        }
        return true
    }

    /// Drafts all bodies of a unit, in their order.
    func draftAgain(_ bodies: KeptBodies) throws {
        let unit = unit, concealers = concealers, digest = bodyDigest
        draftedAgain += 1
        discard()
        self.unit = unit
        self.concealers = concealers
        bodyDigest = nil
        defer { bodyDigest = digest }
        for body in bodies.bodies { _ = try add(body.bytes, body.lists, context: body.context) }
        // Their records are as the bodies have them from this commit on.
        for index in self.unit.responses.indices { self.unit.responses[index].imported?.sequence = 0 }
    }
}

extension Bytes {
    /// Returns whether an object may end at an offset, by the bytes before it and behind it.
    fileprivate func mayEndElement(_ offset: Int) -> Bool {
        guard offset > 0, offset < count, self[offset - 1] == UInt8(ascii: "}") else { return false }
        return self[offset] == UInt8(ascii: ",") || self[offset] == UInt8(ascii: "]") || self[offset] <= 0x20
    }
}
