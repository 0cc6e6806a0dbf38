// Lists that begin anew behind their last record when their pages get too deep.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Deep pages")
struct DeepPagesTests {
    private func page(_ ids: Int...) -> PageFacts {
        PageFacts(recordCount: ids.count, records: PageFacts.RecordValues(ids.map(String.init)))
    }

    private let numbered = Pagination.pageNumber(parameter: "page", size: .init(parameter: "n", value: 2))
    private let deep = DeepPages(statuses: [422...422], sends: .query("since"), path: "id")

    @Test("a walk that is refused its next page begins again behind the last record")
    func refused() throws {
        var pages = try PageSequence(numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        #expect(try pages.advance(page(1, 2)))
        #expect(try pages.advance(page(3, 4)))
        #expect(pages.url == "http://h/items?page=3&n=2")
        #expect(try !pages.restart(afterStatus: 500))
        let position = pages.position
        #expect(try pages.restart(afterStatus: 422))
        #expect(pages.url == "http://h/items?page=1&n=2&since=4")
        #expect(try pages.advance(page(4, 5)))
        #expect(pages.url == "http://h/items?page=2&n=2&since=4")
        #expect(try !pages.advance(page(6)))
        // One that was interrupted before the refusal knows where to begin, too.
        var resumed = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        try resumed.resume(at: position, ordinal: 3, listed: 4)
        #expect(try resumed.restart(afterStatus: 422))
        #expect(resumed.url == "http://h/items?page=1&n=2&since=4")
    }

    @Test("a refusal of the first page is a refusal, and one at the same place again an error")
    func stuck() throws {
        var pages = try PageSequence(numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        #expect(try !pages.restart(afterStatus: 422))
        #expect(try pages.advance(page(4, 4)))
        #expect(try pages.restart(afterStatus: 422))
        #expect(try pages.advance(page(4, 4)))
        #expect(throws: PaginationError.self) { try pages.restart(afterStatus: 422) }
    }

    @Test("a text that only looks like the one before is another place to begin again")
    func equivalentTexts() throws {
        func page(_ ids: String...) -> PageFacts {
            PageFacts(recordCount: ids.count, records: PageFacts.RecordValues(ids))
        }
        var pages = try PageSequence(numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        #expect(try pages.advance(page("cafe", "cafe\u{301}")))
        #expect(try pages.restart(afterStatus: 422))
        #expect(pages.url == "http://h/items?page=1&n=2&since=cafe%CC%81")
        #expect(try pages.advance(page("caff", "caf\u{E9}")))
        #expect(try pages.restart(afterStatus: 422))
        #expect(pages.url == "http://h/items?page=1&n=2&since=caf%C3%A9")
    }

    @Test("it begins again before it is refused, where the limit is known")
    func beforehand() throws {
        var limited = deep
        (limited.statuses, limited.records) = ([], 4)
        var pages = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: limited)
        #expect(try pages.advance(page(1, 2)))
        #expect(try pages.advance(page(3, 4)))
        #expect(pages.url == "http://h/items?page=1&n=2&since=4" && pages.ordinal == 3 && pages.listed == 4)
    }

    @Test("it begins again, too, where the server names no next page at its limit, and not where the list ends before")
    func endAtLimit() throws {
        var limited = deep
        (limited.statuses, limited.records) = ([], 4)
        let first = PageRequest(url: "http://h/items")
        var pages = try PageSequence(.headerLink(), first, .init(base: "http://h"), deep: limited)
        func next(_ page: PageFacts) -> PageFacts {
            var page = page
            page.headers["Link"] = "</items?page=2>; rel=\"next\""
            return page
        }
        #expect(try pages.advance(next(page(1, 2))))
        // The total is that of the whole list.
        var last = page(3, 4)
        last.headers["X-Total-Count"] = "5"
        #expect(try pages.advance(last))
        #expect(pages.url == "http://h/items?since=4" && pages.ordinal == 3 && pages.listed == 4)
        #expect(try !pages.advance(page(4, 5)))
        #expect(pages.doubt == nil)
        // A filter without the value itself lists nothing behind a whole list.
        var whole = try PageSequence(.headerLink(), first, .init(base: "http://h"), deep: limited)
        #expect(try whole.advance(next(page(1, 2))))
        #expect(try whole.advance(page(3, 4)))
        #expect(try !whole.advance(page()))
        #expect(whole.doubt == nil)

        (limited.records, limited.pages) = (nil, 2)
        var short = try PageSequence(numbered, first, .init(base: "http://h"), deep: limited)
        #expect(try short.advance(page(1, 2)))
        #expect(try !short.advance(page(3)))
    }

    @Test("the page before a restart may come again: all its records have the value behind which the list begins")
    func equalPages() throws {
        var limited = deep
        (limited.statuses, limited.records) = ([], 4)
        var pages = try PageSequence(
            numbered, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: limited)
        func page(_ digest: Int, _ ids: Int...) -> PageFacts {
            PageFacts(
                headers: TransportHeaders(), recordCount: ids.count, values: [:],
                records: PageFacts.RecordValues(ids.map(String.init)), digest: digest)
        }
        #expect(try pages.advance(page(1, 1, 2)))
        #expect(try pages.advance(page(2, 3, 3)))
        #expect(pages.url == "http://h/items?page=1&n=2&since=3")
        #expect(try pages.advance(page(2, 3, 3)))
        #expect(throws: PaginationError.self) { try pages.advance(page(2, 3, 3)) }
    }

    @Test("a total is that of the list behind the record")
    func totals() throws {
        let style = Pagination.offset(.query("o"), total: "total")
        var pages = try PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        func total(_ total: Int, _ page: PageFacts) -> PageFacts {
            var page = page
            page.values["total"] = "\(total)"
            return page
        }
        #expect(try pages.advance(total(5, page(1, 2))))
        #expect(try pages.restart(afterStatus: 422))
        #expect(try pages.advance(total(4, page(2, 3))))
        #expect(try !pages.advance(total(4, page(4, 5))))
    }

    @Test("the list behind a record may have it again: fewer different records than its total are no doubt")
    func repeatedRecords() throws {
        let style = Pagination.offset(.query("o"), total: "total")
        var pages = try PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"), deep: deep)
        func facts(_ page: PageFacts, total: Int, different: Int) -> PageFacts {
            var page = page
            page.values["total"] = "\(total)"
            page.differentRecords = different
            return page
        }
        #expect(try pages.advance(facts(page(1, 2), total: 5, different: 2)))
        #expect(try pages.restart(afterStatus: 422))
        #expect(try pages.advance(facts(page(3, 4), total: 4, different: 2)))
        #expect(try pages.advance(facts(page(4, 5), total: 4, different: 3)))
        #expect(try !pages.advance(facts(page(), total: 4, different: 3)))
        #expect(pages.doubt == nil)
    }
}
