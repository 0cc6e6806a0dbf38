// The first request of a scan, and the successor of a page. Pure.

extension PageRequest {
    /// Returns the value of a parameter of the request, or nil.
    func value(at place: Pagination.ParameterPlace) -> String? {
        switch place {
        case .query(let name): QueryParameters.values(in: url).first { $0.name == name }?.value
        case .body(let keys): body?.value(at: keys)
        }
    }

    /// Returns the request without a query parameter. A parameter in the body is kept.
    func without(_ place: Pagination.ParameterPlace) -> PageRequest {
        guard case .query(let name) = place else { return self }
        var reference = URLReference(url), request = self
        reference.query = reference.query.map { query in
            query.split(separator: "&", omittingEmptySubsequences: false).filter {
                QueryParameters.name(of: $0) != name
            }.joined(separator: "&")
        }
        request.url = reference.description
        return request
    }

    /// Returns the request with a value of a parameter.
    func setting(_ place: Pagination.ParameterPlace, to text: String, isNumber: Bool) -> PageRequest {
        var request = self
        switch place {
        case .query(let name): request.url = QueryParameters.set(name, to: text, in: url)
        case .body(let keys):
            var body = request.body ?? .json(.object([]))
            body.set(keys, to: isNumber ? .number(text) : .string(text))
            request.body = body
        }
        return request
    }
}

extension Pagination {
    /// Returns the request for the first page, with the page number and page size of the style.
    public func firstPage(of request: PageRequest) -> PageRequest {
        switch self {
        case .pageNumber(let pages):
            sized(request.setting(pages.sends, to: String(pages.start), isNumber: true), pages.size)
        case .offset(let offset):
            sized(request.setting(offset.sends, to: String(offset.start), isNumber: true), offset.size)
        case .recordCursor(let cursor): sized(request, cursor.size)
        default: request
        }
    }

    /// Returns the request with the page size, if there is one.
    private func sized(_ request: PageRequest, _ size: PageSize?) -> PageRequest {
        size.map { request.setting($0.place, to: String($0.value), isNumber: true) } ?? request
    }

    /// Returns the successor of a page.
    ///
    /// - Parameters:
    ///   - request: the request for the page.
    ///   - facts: the facts about the page.
    ///   - ordinal: the ordinal of the page, counted from 1.
    ///   - listed: the number of records listed so far, this page included.
    ///   - rule: the treatment of evidence that a short page is not the last one.
    /// - Throws: `PaginationError` if the page contradicts itself.
    public func next(
        after request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int, more rule: PageEvidence.Rule = .fail
    ) throws(PaginationError) -> NextPage {
        switch self {
        case .singlePage: return .end
        case .headerLink(let relation):
            return LinkHeader.target(relation: relation, in: facts.headers).map(NextPage.next) ?? .end
        case .jsonLink(let path):
            let link = [path, path + ".href", path + ".url"].lazy.compactMap { facts.values[$0] }.first
            return link.flatMap { $0.isEmpty ? nil : .next($0) } ?? .end
        case .headerCursor(let field, let place):
            guard let cursor = facts.headers[field], !cursor.isEmpty else { return .end }
            return try change(request, place, to: cursor, isNumber: false)
        case .cursor(let cursor):
            if facts.recordCount == 0,
                cursor.endsAtEmptyPage || cursor.hasMore != nil && facts.flag(cursor.hasMore) == nil
            {
                return .end
            }
            guard facts.flag(cursor.hasMore) ?? true, let value = facts.values[cursor.path], !value.isEmpty,
                value != cursor.last
            else {
                return .end
            }
            return try change(request, cursor.sends, to: value, isNumber: false)
        case .offset(let offset): return try next(offset, request, facts, ordinal: ordinal, listed: listed, rule)
        case .pageNumber(let pages): return try next(pages, request, facts, ordinal: ordinal, listed: listed, rule)
        case .recordCursor(let cursor): return try next(cursor, request, facts)
        case .automatic: return .end
        case .custom(let custom):
            do {
                return try custom.next(request, facts, ordinal)
            } catch {
                throw .refused(by: custom.name, reason: "\(error)")
            }
        }
    }

    /// Returns the page whose request has a parameter set to a value from a page.
    ///
    /// - Throws: `PaginationError.malformed` if the value is too long for a request.
    private func change(
        _ request: PageRequest, _ place: ParameterPlace, to text: String, isNumber: Bool
    ) throws(PaginationError) -> NextPage {
        guard text.utf8.count <= PageSequence.linkLimit else {
            throw .malformed(link: text.excerpt, reason: PageSequence.tooLong)
        }
        let next = request.setting(place, to: text, isNumber: isNumber)
        if case .body = place, let body = next.body { return .nextBody(body) }
        return .next(next.url)
    }

    private func next(
        _ offset: Offset, _ request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int,
        _ rule: PageEvidence.Rule
    ) throws(PaginationError) -> NextPage {
        let counts = PageCounts(facts, total: offset.total, totalPages: nil, hasMore: offset.hasMore)
        func taken(_ first: PageRequest) -> PageEvidence.Taken {
            .init(by: self, request, facts, first: first, pages: ordinal, records: listed)
        }
        let current = request.value(at: offset.sends).flatMap { Int($0) } ?? offset.start
        if try !counts.goesOn(facts, size: offset.size, end: offset.end, listed: listed, pages: ordinal) {
            // A server that caps the page size ends every scan at its first page, unless the page
            // has a declared count or other evidence.
            guard facts.recordCount > 0, counts.isUndecided, let size = offset.size, facts.recordCount < size.value,
                PageEvidence.find(facts, taken(request.without(offset.sends)), rule) != nil
            else { return .end }
        }
        // The step is the number of listed records: a server that caps the page size must not cause
        // a gap.
        let step = facts.recordCount > 0 ? facts.recordCount : offset.size?.value ?? 1
        let (sum, overflows) = current.addingReportingOverflow(step)
        guard !overflows else { throw .beyondCounting(value: String(current), url: request.url) }
        return try change(request, offset.sends, to: String(sum), isNumber: true)
    }

    private func next(
        _ pages: PageNumber, _ request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int,
        _ rule: PageEvidence.Rule
    ) throws(PaginationError) -> NextPage {
        let counts = PageCounts(facts, total: pages.total, totalPages: pages.totalPages, hasMore: pages.hasMore)
        // The number in the request takes precedence over the ordinal: a resumed scan does not
        // start at the first page.
        let current = request.value(at: pages.sends).flatMap { Int($0) } ?? pages.start.addingClamped(ordinal - 1)
        let taken = current.subtractingClamped(pages.start).addingClamped(1)
        guard try counts.goesOn(facts, size: pages.size, end: pages.end, listed: listed, pages: taken) else {
            // If the server caps the page size, its page numbers may assume a size that it does not
            // return: the next page could leave a gap.
            if ordinal == 1, facts.recordCount > 0, counts.isUndecided, let size = pages.size,
                facts.recordCount < size.value,
                let evidence = PageEvidence.find(
                    facts,
                    .init(
                        by: self, request, facts, first: request.without(pages.sends), pages: ordinal, records: listed),
                    rule)
            {
                throw .shrunk(listed: facts.recordCount, hint: "\(size.value) were asked for, and \(evidence)")
            }
            return .end
        }
        guard current < .max else { throw .beyondCounting(value: String(current), url: request.url) }
        return try change(request, pages.sends, to: String(current + 1), isNumber: true)
    }

    private func next(_ cursor: RecordCursor, _ request: PageRequest, _ facts: PageFacts) throws(PaginationError)
        -> NextPage
    {
        guard facts.recordCount > 0, let records = facts.records else { return .end }
        var value = cursor.direction == .backward ? records.smallest : records.largest
        if cursor.includesNamed, let number = Int(value) {
            // Overflow: no number lies beyond the smallest or the largest integer.
            let (beyond, overflows) =
                cursor.direction == .backward
                ? number.subtractingReportingOverflow(1) : number.addingReportingOverflow(1)
            if overflows { return .end }
            value = String(beyond)
        }
        // The page lists no record beyond the one that the request named.
        if value == request.value(at: cursor.sends) { return .end }
        return try change(request, cursor.sends, to: value, isNumber: value.isJSONInteger)
    }
}

extension Int {
    /// Returns the sum, clamped to the range of `Int`.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range of `Int`.
    func subtractingClamped(_ other: Int) -> Int {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}

extension String {
    /// Whether the text is an integer in JSON's syntax. `+7` and `007` are not.
    var isJSONInteger: Bool { Int(self).map { String($0).utf8.elementsEqual(utf8) } ?? false }
}
