// Cursors that name what comes next in some APIs, and the page itself in others: `cursor`,
// `offset`, `scroll_id`, `after`, `next_batch`.

extension PageEvidence {
    /// Returns evidence from a cursor that may be that of the request; nil if other members decide.
    static func position(
        _ facts: PageFacts, _ taken: Taken, _ paths: [(String, Meaning)], _ rule: Rule
    ) -> PageEvidence? {
        // A style that computes its requests stops at a short page: such a cursor contradicts it at
        // the first page only.
        guard facts.recordCount > 0, !taken.isCounted || taken.pages == 1 else { return nil }
        for (_, meaning) in paths {
            switch meaning {
            case .link, .cursor, .nextPage, .total, .pages, .lastPage: return nil
            default: break
            }
        }
        for (path, meaning) in paths where meaning == .position && !rule.ignores(path) {
            guard let text = facts.values[path], leadsOn(path, facts, taken.request, records: taken.records) else {
                continue
            }
            return PageEvidence(name: path, meaning: "names what comes next, \(shown(text))")
        }
        return bookmark(facts, taken, rule)
    }

    /// Returns evidence from a `bookmark` on a page that may be full, as in Pinterest; nil without.
    ///
    /// CouchDB's `_find` has one on every page, and lists 25 records unless it is asked for more.
    private static func bookmark(_ facts: PageFacts, _ taken: Taken, _ rule: Rule) -> PageEvidence? {
        let count = facts.recordCount, request = taken.request
        let size = PageSequence.size(in: request) ?? request.body?.value(at: ["limit"]).flatMap { Int($0) }
        guard size.map({ count >= $0 }) ?? [25, 50, 100, 200, 250, 500, 1000].contains(count) else { return nil }
        for path in facts.values.keys.sorted() where last(of: path, is: "bookmark") && !rule.ignores(path) {
            guard let text = facts.values[path], !maySayEnd(text), text != "true", !isLink(text),
                !request.hasValue(text)
            else { continue }
            return PageEvidence(name: path, meaning: "names what comes next, \(shown(text))")
        }
        return nil
    }

    /// Returns whether a cursor names what comes next, and not the page itself.
    ///
    /// - Parameter records: the number of records up to the end of the page.
    static func leadsOn(_ path: String, _ facts: PageFacts, _ request: PageRequest, records: Int) -> Bool {
        guard let text = facts.values[path], !isNoCursor(text), !request.hasValue(text) else { return false }
        let isAfter = isAfter(path)
        guard isAfter || isOffset(path) else { return true }
        // The offset of the page itself is smaller. An offset of something else, such as a time
        // zone, is another number, or short.
        if let number = Int(text) { return number > 1 && number == records }
        guard !text.utf8.contains(UInt8(ascii: ":")) else { return false }
        guard isAfter else { return text.utf8.count >= 8 }
        // A date, or one of two states.
        let isDate = text.utf8.allSatisfy { (0x30...0x39).contains($0) || [0x2D, 0x2E, 0x2F].contains($0) }
        return !isDate && facts.values[String(path.dropLast("after".count)) + "before"].map(isNoCursor) ?? true
    }

    /// Returns whether the last key of a path is `offset`.
    static func isOffset(_ path: String) -> Bool { last(of: path, is: "offset") }

    /// Returns whether the last key of a path is `after`.
    static func isAfter(_ path: String) -> Bool { last(of: path, is: "after") }

    /// Returns whether the last key of a path is `next_batch`: in Matrix, the next page of a list,
    /// or the token of the next changes.
    static func isBatch(_ path: String) -> Bool { last(of: path, is: "next_batch") }

    private static func last(of path: String, is name: String) -> Bool {
        path.split(separator: ".").last.map { TransportHeaders.same(String($0), name) } ?? false
    }

    /// Returns whether a path leads to a cursor with the name of its parameter:
    /// `continue.apcontinue` of MediaWiki, `metadata.continue` of Kubernetes.
    static func isContinuation(_ path: String) -> Bool {
        path.split(separator: ".").suffix(2).contains { TransportHeaders.same(String($0), "continue") }
    }

    // MARK: Meanings

    /// Returns whether a value at a path is a flag that is true if there are more records.
    package static func isMore(_ path: String) -> Bool { meaning(of: path) == .more }

    /// Returns whether a value at a path is a flag that is true on the last page.
    static func isEnd(_ path: String) -> Bool { meaning(of: path) == .last }

    /// Returns whether a value around a list is one of the answer: the `properties` of an object
    /// may have any names, and only a flag of more records counts there, as in GeoJSON of ArcGIS.
    package static func isOfEnvelope(_ path: String) -> Bool {
        !path.split(separator: ".").dropLast().contains("properties") || isMore(path)
    }

    /// Returns whether a value at a path tells of other pages: a link, a cursor, a flag or a total.
    package static func isSign(_ path: String) -> Bool {
        switch meaning(of: path) {
        case .link, .cursor, .nextPage, .more, .total: true
        default: false
        }
    }

    /// Returns whether a value at a path names what comes next, or is a flag of more records.
    package static func isSuccessor(_ path: String) -> Bool {
        switch meaning(of: path) {
        case .link, .cursor, .nextPage, .more: true
        default: false
        }
    }

    /// Returns whether a value at a path is a sign of other pages, or a number of pages or of one.
    package static func isAboutPages(_ path: String) -> Bool {
        switch meaning(of: path) {
        case .pages, .pageNumber, .lastPage: true
        default: isSign(path)
        }
    }

    /// Returns whether a value at a path is the number of all records.
    package static func isTotal(_ path: String) -> Bool { meaning(of: path) == .total }

    /// Returns whether a header field or a path has the number of pages.
    static func isPageCount(_ name: String) -> Bool {
        pageCountFields.contains(name) || meaning(of: name) == .pages || meaning(of: name) == .lastPage
    }

    /// Returns whether a value at a path is the number of the last page.
    package static func isLastPage(_ path: String) -> Bool { meaning(of: path) == .lastPage }

    /// Returns whether a value at a path names what comes next, by an unknown parameter.
    package static func isPosition(_ path: String) -> Bool {
        meaning(of: path).map { $0 == .position || $0 == .lastKey } ?? false
    }
}

extension TransportBody {
    /// Returns whether a scalar of the body has this text.
    fileprivate func hasValue(_ text: String) -> Bool {
        switch self {
        case .json(let value): TransportBody.has(text, value)
        case .form(let fields): fields.contains { $0.value.hasSameBytes(as: text) }
        }
    }

    private static func has(_ text: String, _ value: JSONBody) -> Bool {
        switch value {
        case .array(let elements): elements.contains { has(text, $0) }
        case .object(let members): members.contains { has(text, $0.value) }
        default: value.scalarText?.hasSameBytes(as: text) ?? false
        }
    }
}

extension PageRequest {
    /// Returns whether a query parameter, or a member of the body, has this text.
    func hasValue(_ text: String) -> Bool {
        QueryParameters.values(in: url).contains { $0.value.hasSameBytes(as: text) } || body?.hasValue(text) == true
    }
}
