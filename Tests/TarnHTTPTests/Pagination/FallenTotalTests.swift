// Totals that fall during a scan of counted pages: records may have moved to pages before.

import Testing

@testable import TarnHTTP

@Suite("Pagination: totals that fall")
struct FallenTotalTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var style = Pagination.pageNumber(.query("page"), total: "total")
        var more = PageEvidence.Rule.fail
        /// The number of records of each page, and its members.
        var pages: [(count: Int, values: [String: String])]
        /// The largest total; nil for no doubt.
        var before: Int?
        var testDescription: String { name }
    }

    private static func totals(_ pages: (Int, Int)...) -> [(count: Int, values: [String: String])] {
        pages.map { ($0.0, ["total": "\($0.1)"]) }
    }

    static let rows: [Row] = [
        Row(name: "page numbers", pages: totals((3, 7), (3, 6)), before: 7),
        Row(name: "an offset", style: .offset(.query("o"), total: "total"), pages: totals((3, 7), (3, 6)), before: 7),
        Row(
            name: "a style that auto has chosen", style: .automatic,
            pages: [7, 6].map { (3, ["total": "\($0)", "offset": "\(21 - 3 * $0)"]) }, before: 7),
        Row(name: "a total that has grown before", pages: totals((2, 6), (2, 7), (2, 6)), before: 7),
        Row(name: "a total that has grown", pages: totals((3, 6), (4, 7))),
        Row(name: "all evidence is ignored", more: .ignore, pages: totals((3, 7), (3, 6))),
        Row(name: "the total is ignored", more: .ignoring(["total"]), pages: totals((3, 7), (3, 6))),
        Row(
            name: "a total of more than the list",
            style: .pageNumber(.query("page"), totalPages: "pages", total: "hits"),
            pages: [7, 6].map { (2, ["pages": "2", "hits": "\($0)"]) }),
    ]

    @Test("a list of counted pages whose total has fallen is in doubt", arguments: rows)
    func fallen(_ row: Row) throws {
        var bounds = PageSequence.Bounds(base: "http://h")
        bounds.more = row.more
        var pages = try PageSequence(row.style, PageRequest(url: "http://h/items"), bounds)
        for (count, values) in row.pages.dropLast() {
            #expect(try pages.advance(PaginationStyleTests.page(count, values)))
        }
        let (count, values) = try #require(row.pages.last)
        #expect(try !pages.advance(PaginationStyleTests.page(count, values)))
        #expect(pages.doubt == row.before.map { .smallerTotal(name: "total", before: $0, total: 6) })
    }

    @Test("the total of the page before counts in a scan that continues")
    func continued() throws {
        let style = Pagination.pageNumber(.query("page"), total: "total")
        var pages = try PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        try pages.resume(at: "http://h/items?page=2", ordinal: 2, listed: 3)
        pages.note(pageBefore: PaginationStyleTests.page(3, ["total": "7"]))
        #expect(try !pages.advance(PaginationStyleTests.page(3, ["total": "6"])))
        #expect(pages.doubt == .smallerTotal(name: "total", before: 7, total: 6))
    }
}
