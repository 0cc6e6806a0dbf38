// Which page comes first and which comes after a page. Pure: facts in, a request out.

/// What follows a page.
public enum NextPage: Sendable, Hashable {
    /// This reference is next; it may be relative, and it has not been checked: `PageSequence` does that.
    case next(String)
    /// The same URL with another body.
    case nextBody(RequestBody)
    case end
}

extension PageRequest {
    /// What a request carries at a place.
    func value(at place: Pagination.ParameterPlace) -> String? {
        switch place {
        case .query(let name): QueryParameters.values(in: url).first { $0.name == name }?.value
        case .body(let keys): body?.value(at: keys)
        }
    }

    /// The request with a value at a place.
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
    /// The request for the first page: number and size are added where the style asks for them.
    public func firstPage(of request: PageRequest) -> PageRequest {
        switch self {
        case .pageNumber(let pages): sized(request.setting(pages.sends, to: String(pages.start), isNumber: true), pages.size)
        case .offset(let offset): sized(request.setting(offset.sends, to: String(offset.start), isNumber: true), offset.size)
        case .recordCursor(let cursor): sized(request, cursor.size)
        default: request
        }
    }

    private func sized(_ request: PageRequest, _ size: PageSize?) -> PageRequest {
        size.map { request.setting($0.place, to: String($0.value), isNumber: true) } ?? request
    }

    /// What follows a page, from what is known of that page.
    ///
    /// - Parameters:
    ///   - request: the one by which the page was requested.
    ///   - ordinal: which page it was, from 1.
    ///   - listed: how many records were listed so far, this page included.
    /// - Throws: `PaginationError` if the page contradicts itself.
    public func next(
        after request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int
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
            return change(request, place, to: cursor, isNumber: false)
        case .cursor(let cursor):
            if facts.recordCount == 0, cursor.endsAtEmptyPage || cursor.hasMore != nil && facts.flag(cursor.hasMore) == nil { return .end }
            guard facts.flag(cursor.hasMore) ?? true, let value = facts.values[cursor.path], !value.isEmpty, value != cursor.last else {
                return .end
            }
            return change(request, cursor.sends, to: value, isNumber: false)
        case .offset(let offset): return try next(offset, request, facts, ordinal: ordinal, listed: listed)
        case .pageNumber(let pages): return try next(pages, request, facts, ordinal: ordinal, listed: listed)
        case .recordCursor(let cursor): return next(cursor, request, facts)
        case .automatic: return .end
        case .custom(let custom):
            do {
                return try custom.next(request, facts, ordinal)
            } catch {
                throw .refused(by: custom.name, reason: "\(error)")
            }
        }
    }

    private func change(_ request: PageRequest, _ place: ParameterPlace, to text: String, isNumber: Bool) -> NextPage {
        let next = request.setting(place, to: text, isNumber: isNumber)
        if case .body = place, let body = next.body { return .nextBody(body) }
        return .next(next.url)
    }

    private func next(
        _ offset: Offset, _ request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int
    ) throws(PaginationError) -> NextPage {
        let counts = PageCounts(facts, total: offset.total, totalPages: nil, hasMore: offset.hasMore)
        let current = request.value(at: offset.sends).flatMap { Int($0) } ?? offset.start
        guard try counts.goesOn(facts, size: offset.size, end: offset.end, ordinal: ordinal, listed: listed, pages: ordinal) else { return .end }
        // By what the page lists: a server that gives less than was asked for must not make a gap.
        let step = facts.recordCount > 0 ? facts.recordCount : offset.size?.value ?? 1
        return change(request, offset.sends, to: String(current + step), isNumber: true)
    }

    private func next(
        _ pages: PageNumber, _ request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int
    ) throws(PaginationError) -> NextPage {
        let counts = PageCounts(facts, total: pages.total, totalPages: pages.totalPages, hasMore: pages.hasMore)
        // The number in the request goes before the count: a walk that is resumed does not begin at the first page.
        let current = request.value(at: pages.sends).flatMap { Int($0) } ?? pages.start + ordinal - 1
        guard
            try counts.goesOn(
                facts, size: pages.size, end: pages.end, ordinal: ordinal, listed: listed, pages: current - pages.start + 1)
        else { return .end }
        return change(request, pages.sends, to: String(current + 1), isNumber: true)
    }

    private func next(_ cursor: RecordCursor, _ request: PageRequest, _ facts: PageFacts) -> NextPage {
        guard facts.recordCount > 0, let records = facts.records else { return .end }
        var value = cursor.direction == .backward ? records.smallest : records.largest
        if cursor.includesNamed, let number = Int(value) { value = String(cursor.direction == .backward ? number - 1 : number + 1) }
        // The named record alone: there is nothing beyond it.
        if value == request.value(at: cursor.sends) { return .end }
        return change(request, cursor.sends, to: value, isNumber: Int(value) != nil)
    }
}

/// What a page says about how much there is.
struct PageCounts {
    /// Header fields in which servers say how many records there are.
    static let fields = ["X-Total-Count", "X-Total", "X-Total-Pages"]

    var total: Int?
    var totalPages: Int?
    var hasMore: Bool?
    /// What a page says beside what the description asks it for: a hint that a short page is not the last.
    private var hint: String?

    init(_ facts: PageFacts, total: String?, totalPages: String?, hasMore: String?) {
        self.total = facts.number(total)
        self.totalPages = facts.number(totalPages)
        self.hasMore = facts.flag(hasMore)
        if LinkHeader.target(relation: "next", in: facts.headers) != nil {
            hint = "its Link field names a next one"
        } else if let pages = facts.headers["X-Total-Pages"].flatMap({ Int($0) }), pages > 1 {
            hint = "there are \(pages) pages (X-Total-Pages)"
        } else if let field = ["X-Total-Count", "X-Total"].first(where: { Int(facts.headers[$0] ?? "") ?? 0 > facts.recordCount }),
            let count = facts.headers[field]
        {
            hint = "there are \(count) records (\(field))"
        }
    }

    /// Whether there is another page.
    ///
    /// - Throws: `PaginationError.shrunk` if the walk would end although the page says that there is more.
    func goesOn(
        _ facts: PageFacts, size: Pagination.PageSize?, end: Pagination.End, ordinal: Int, listed: Int, pages: Int
    ) throws(PaginationError) -> Bool {
        if let hasMore, !hasMore { return false }
        if let totalPages { return pages < totalPages }
        if let total {
            if listed >= total { return false }
            guard facts.recordCount > 0 else { throw .shrunk(listed: listed, hint: "there are \(total) records") }
            return true
        }
        if hasMore == true {
            guard facts.recordCount > 0 else { throw .shrunk(listed: listed, hint: "there are more") }
            return true
        }
        if facts.recordCount == 0 { return false }
        guard let size, end == .short, facts.recordCount < size.value else { return true }
        // A server that gives less than it is asked for would end every walk at its first page.
        if ordinal == 1, let hint { throw .shrunk(listed: facts.recordCount, hint: "\(size.value) were asked for, and \(hint)") }
        return false
    }
}
