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

    /// What the elements of the next document's list are compared with.
    struct WantedElements {
        let entry: ResponseEntry?
        /// What determines the import of an element beside its text.
        let about: [UInt8]
    }

    /// Parses a document, as far as it is not known.
    ///
    /// If the stored entry has most elements of its list, the tape has only the others.
    func parse(_ body: [UInt8], _ records: JSONPath, _ questions: DocumentQuestions) throws(ImportError) -> Tape {
        if let entry = wanted?.entry, entry.imported?.elements.isEmpty == false, mayRecognizeElements(records),
            !questions.concernElements(of: records), parser.index(keeping: body), let tape = reduced(entry, records)
        {
            return tape
        }
        let tape = try parser.parse(keeping: body)
        if wanted != nil, recognition == nil {
            let digests = mayRecognizeElements(records) ? digests(parser.elementRanges(at: records.keys)) : nil
            recognition = ElementRecognition(digests, wanted?.entry)
        }
        return tape
    }

    /// Returns the tape of a document with only the elements that the stored entry does not have.
    private func reduced(_ entry: ResponseEntry, _ records: JSONPath) -> Tape? {
        guard let ranges = parser.elementRanges(at: records.keys), let digests = digests(ranges) else { return nil }
        let recognition = ElementRecognition(digests, entry)
        self.recognition = recognition
        guard recognition.knownCount * 2 > digests.count else { return nil }
        let text = parser.text
        var rest: [UInt8] = []
        rest.reserveCapacity(text.count - ranges.list.count + JSONParser.padding)
        rest += text[..<ranges.list.lowerBound]
        var isFirst = true
        for (range, found) in zip(ranges.elements, recognition.found) where found < 0 {
            if !isFirst { rest.append(UInt8(ascii: ",")) }
            isFirst = false
            rest += text[range]
        }
        rest += text[ranges.list.upperBound...]
        // Invalid text is reported by the parser of the whole document, with its location.
        guard let tape = try? parser.parse(keeping: rest) else { return nil }
        recognition.isReduced = true
        return tape
    }

    private func mayRecognizeElements(_ records: JSONPath) -> Bool {
        !plan.takesSurroundings && plan.documentSources.isEmpty && records.isPlain
    }

    /// Keeps a document that was added without regard to an entry.
    func keep(_ body: [UInt8], _ lists: RecordLists, _ context: ImportContext) {
        guard bodyDigest != nil, wanted == nil else { return }
        kept.add(KeptBodies.Body(bytes: body, lists: lists, context: context), hasEntry: false)
    }

    /// Returns the digest of each element; nil if elements are not recognised one by one.
    private func digests(_ ranges: JSONParser.ElementRanges?) -> [UInt64]? {
        guard let wanted, let bodyDigest, let ranges,
            ranges.list.count / max(ranges.elements.count, 1) >= ElementRecognition.smallestElement
        else { return nil }
        let text = parser.text
        var digests: [UInt64] = []
        digests.reserveCapacity(ranges.elements.count)
        for range in ranges.elements {
            let digest = wanted.about.withUnsafeBytes { bodyDigest.shortDigest(of: text.slice(range), about: $0) }
            guard let digest else { return nil }
            digests.append(digest)
        }
        return digests
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
        guard try areUnchanged(repeated, writer) else {
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
        let unit = unit, digest = bodyDigest
        draftedAgain += 1
        discard()
        self.unit = unit
        bodyDigest = nil
        defer { bodyDigest = digest }
        for body in bodies.bodies { _ = try add(body.bytes, body.lists, context: body.context) }
        // Their records are as the bodies have them from this commit on.
        for index in self.unit.responses.indices { self.unit.responses[index].imported?.sequence = 0 }
    }
}
