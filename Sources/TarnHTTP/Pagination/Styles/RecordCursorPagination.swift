/// The styles `max_id` and `since_id`: a request names a record of the page before.
struct RecordCursorPagination: LastingStyle {
    static let maxIDSyntax = syntax(.backward)
    static let sinceIDSyntax = syntax(.forward)

    /// The order in which the server lists records.
    var direction: Pagination.Direction
    /// The parameter that names the record.
    var sends: Pagination.ParameterPlace
    /// The path of the id in a record.
    var path: String
    /// The page size; nil for the server's default.
    var size: Pagination.PageSize?
    /// Whether the server lists the named record again. If so, a numeric id is moved by one.
    var includesNamed: Bool

    var name: String { direction.style }
    var wants: PageWants { PageWants(record: path) }
    var parameters: [Pagination.ParameterPlace] { [sends] + (size.map { [$0.place] } ?? []) }
    var restartProblem: String? { "max_id and since_id go on behind a record anyway: remove restart" }

    func firstPage(of request: PageRequest) -> PageRequest { request.sized(size) }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        guard page.facts.recordCount > 0 else { return .end }
        guard let records = page.facts.records else {
            throw .refused(
                by: name,
                reason: "no record of the page has a value at `\(path)`: write id: PATH under paginate, "
                    + "with the location of a record's id")
        }
        var value = direction == .backward ? records.smallest : records.largest
        if includesNamed, let number = Int(value) {
            // Overflow: no number lies beyond the smallest or the largest integer.
            let (beyond, overflows) =
                direction == .backward ? number.subtractingReportingOverflow(1) : number.addingReportingOverflow(1)
            if overflows { return .end }
            value = String(beyond)
        }
        // The page lists no record beyond the one that the request named.
        if page.request.value(at: sends)?.hasSameBytes(as: value) ?? false { return .end }
        return try page.next(setting: sends, to: value, isNumber: value.isJSONInteger)
    }
}

extension RecordCursorPagination {
    private static func syntax(_ direction: Pagination.Direction) -> PaginationSyntax {
        let name = direction.style
        return PaginationSyntax(
            name, keys: [.parameter(), .path("id"), .pageSize("per_page"), .flag("includes_named")],
            needs: "its parameter: write { \(name): { param: \(name) } }"
        ) { values throws(PaginationProblem) in
            RecordCursorPagination(
                direction: direction, sends: try values.parameter(), path: values.text("id") ?? "id",
                size: values.pageSize("per_page"), includesNamed: values.flag("includes_named"))
        }
    }
}

extension Pagination {
    /// The order in which a server lists records.
    public enum Direction: Sendable, Hashable {
        /// Newest first: the next request names the smallest id of the page (`max_id`).
        case backward
        /// Oldest first: the next request names the largest id of the page (`since_id`).
        case forward

        /// The name of the style in descriptions.
        fileprivate var style: String { self == .backward ? "max_id" : "since_id" }
    }

    /// The next request names a record of this page, and lists the records before it or after it.
    ///
    /// - Parameters:
    ///   - direction: the order in which the server lists records.
    ///   - sends: the parameter that names the record.
    ///   - path: the path of the id in a record.
    ///   - size: the page size; nil for the server's default.
    ///   - includesNamed: whether the server lists the named record again. If so, a numeric id is
    ///     moved by one.
    public static func recordCursor(
        _ direction: Direction, sends: ParameterPlace, path: String = "id", size: PageSize? = nil,
        includesNamed: Bool = false
    ) -> Pagination {
        Pagination(
            RecordCursorPagination(
                direction: direction, sends: sends, path: path, size: size, includesNamed: includesNamed))
    }
}
