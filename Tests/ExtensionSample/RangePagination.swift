// A pagination style as a program that uses the library writes it: this target sees public declarations only. The page
// "Extending Tarn" shows it.

import Tarn

/// The style `range`: a request names the first and the last record of its page.
public struct RangePagination: PaginationStyle {
    /// The parameter of the first record, counted from 0.
    var from: Pagination.ParameterPlace
    /// The parameter of the last record.
    var to: Pagination.ParameterPlace
    /// The number of records per page.
    var width: Int
    /// The path of the number of all records in the body; nil if it has none.
    var total: String?

    public init(from: String, to: String, width: Int = 100, total: String? = nil) {
        self.from = .query(from)
        self.to = .query(to)
        self.width = width
        self.total = total
    }

    public var name: String { "range" }
    public var wants: PageWants { PageWants(values: [total].compactMap(\.self)) }
    public var parameters: [Pagination.ParameterPlace] { [from, to] }

    public func firstPage(of request: PageRequest) -> PageRequest { self.request(0, like: request) }

    public func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        guard let first = page.request.value(at: from).flatMap({ Int($0) }), first < .max - 2 * width else {
            throw .refused(by: name, reason: "the request has no number at \(from)")
        }
        let next = first + width
        let hasMore = page.facts.number(total).map { next < $0 } ?? (page.facts.recordCount == width)
        return hasMore ? .next(request(next, like: page.request).url) : .end
    }

    private func request(_ first: Int, like request: PageRequest) -> PageRequest {
        request.setting(from, to: "\(first)").setting(to, to: "\(first + width - 1)")
    }
}

extension RangePagination {
    /// The keys of the style under `paginate`.
    public static let syntax = PaginationSyntax(
        "range",
        keys: [
            .text("from", required: true, example: "first"), .text("to", required: true, example: "last"),
            .number("width", minimum: 1), .path("total"),
        ],
        make: RangePagination.init(values:))

    private init(values: PaginationValues) throws(PaginationProblem) {
        let from = try values.required("from"), to = try values.required("to")
        if from == to { throw PaginationProblem("to", "from has this name already: they are two parameters") }
        self.init(from: from, to: to, width: values.number("width") ?? 100, total: values.text("total"))
    }
}
