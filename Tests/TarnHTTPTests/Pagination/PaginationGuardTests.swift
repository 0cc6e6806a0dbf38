// Scans that must not end early, go on for ever, or leave the API.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Pagination guards")
struct PaginationGuardTests {
    private typealias Styles = PaginationStyleTests

    private func page(
        _ count: Int, digest: Int? = nil, _ values: [String: String] = [:], _ fields: [String: String] = [:]
    ) -> PageFacts {
        var facts = Styles.page(count, values, fields)
        facts.digest = digest
        return facts
    }

    @Test("a cursor that comes again is an error, not a loop")
    func repeatedCursor() {
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        let pages = ["1", "2", "1"].map { page(2, ["next": $0]) }
        #expect(throws: PaginationError.repeated(url: "http://h/items?state=all&c=1")) {
            try Styles.walk(cursor, pages)
        }
        let body = Pagination.cursor(path: "next", sends: .body(["c"]))
        #expect(throws: PaginationError.repeated(url: "http://h/q")) {
            try Styles.walk(body, from: PageRequest(url: "http://h/q", body: .json(.object([]))), pages)
        }
    }

    @Test(
        "a cursor that is a word for nothing, and leads back to the beginning, is an error that names the mend",
        arguments: ["null", "LTE=", "0", "-1"])
    func lastCursor(value: String) throws {
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        let pages = ["a", value, "a"].map { page(2, ["next": $0]) }
        let error = #expect(throws: PaginationError.self) { try Styles.walk(cursor, pages) }
        let text = "\(try #require(error))"
        #expect(text.contains("page loop: ") && text.contains("write last: '\(value)' under paginate"), "\(text)")
        // The server may know the value.
        let others = ["a", value, "b"].map { page(2, ["next": $0]) }
        #expect(try Styles.walk(cursor, others + [page(1, [:])]).count == 4)
    }

    @Test("a server that refuses what is behind the last page gets an error that names the mend")
    func refusedEnd() throws {
        let request = PageRequest(url: "http://h/items"), bounds = PageSequence.Bounds(base: "http://h")
        var numbered = try PageSequence(.pageNumber(.query("page")), request, bounds)
        #expect(numbered.hint(afterStatus: 404) == nil)
        #expect(try numbered.advance(page(10)))
        #expect(numbered.hint(afterStatus: 404)?.contains("responses: [{ status: 404, then: stop }]") == true)
        #expect(numbered.hint(afterStatus: 403) == nil)
        var cursors = try PageSequence(.cursor(path: "next", sends: .query("c")), request, bounds)
        #expect(try cursors.advance(page(10, ["next": "ab"])))
        #expect(cursors.hint(afterStatus: 400) == nil)
        #expect(try cursors.advance(page(10, ["next": "null"])))
        #expect(cursors.hint(afterStatus: 400)?.contains("write last: 'null' under paginate") == true)
    }

    @Test("a relative link is relative to the URL of the page")
    func relativeLink() throws {
        let asked = try Styles.walk(
            .jsonLink(path: "next"), from: PageRequest(url: "http://h/v4/items?x=1"),
            [page(2, ["next": "items?token=2"]), page(2, ["next": "../v4/items?token=3"]), page(1)])
        #expect(asked == ["/v4/items?x=1", "/v4/items?token=2", "/v4/items?token=3"])
    }

    @Test("a server that ignores what tells pages apart gives the same page for ever: that is seen at the second one")
    func samePage() {
        let pages = [page(2, digest: 7), page(2, digest: 7)]
        for style in [
            Pagination.pageNumber(parameter: "p"), .offset(.query("o")),
            .custom(name: "x") { _, _, n in .next("?x=\(n)") },
        ] {
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages) }
        }
        // Links and cursors are the server's own, and other records may follow.
        #expect(throws: Never.self) { try Styles.walk(.cursor(path: "next", sends: .query("c")), pages) }
        #expect(throws: Never.self) {
            try Styles.walk(.pageNumber(parameter: "p"), [page(0, digest: 7), page(0, digest: 7)])
        }
    }

    @Test(
        "an empty page in between ends no list of cursors, whatever flags and counts it has",
        arguments: [
            ["truncated": "false"], ["has_more": "false"], ["total": "2"], ["more": "false", "go": "true"],
            ["has_more": "false", "total_pages": "4"],
        ])
    func emptyBetween(_ values: [String: String]) throws {
        let pages = (1...4).map { number in
            page(number == 3 ? 0 : 2, digest: number, values.merging(["next": number < 4 ? "\(number)" : ""]) { $1 })
        }
        let style = Pagination.cursor(path: "next", sends: .query("c"), hasMore: values["go"].map { _ in "go" })
        let asked = try Styles.walk(style, pages, bounds: { $0.more = .ignore })
        #expect(asked.count == 4, "\(asked)")
        let remaining = (1...4).map { number in
            page(
                number == 3 ? 0 : 2, digest: number,
                ["next": number < 4 ? "\(number)" : "", "go": values["go"] ?? "", "total": "\(8 - 2 * number)"])
        }
        #expect(try Styles.walk(style, remaining, bounds: { $0.more = .ignore }).count == 4)
    }

    @Test("a declared flag that promises another page, without a cursor for it, is an error that names both places")
    func promisedWithoutCursor() throws {
        let style = Pagination.cursor(path: "page.end", sends: .query("c"), hasMore: "page.again")
        for values in [[:], ["page.end": ""], ["page.end": "false"]] {
            let pages = [
                page(2, ["page.end": "1", "page.again": "true"]),
                page(1, values.merging(["page.again": "true"]) { $1 }),
            ]
            let error = #expect(throws: PaginationError.self) { try Styles.walk(style, pages) }
            let text = "\(try #require(error))"
            #expect(text.contains("page.again is true, and page.end has no cursor"), "\(text)")
            #expect(try Styles.walk(style, pages) { $0.more = .ignoring(["page.again"]) }.count == 2)
        }
        // A cursor that marks the end does so, whatever the flag says.
        let marked = Pagination.cursor(path: "page.end", sends: .query("c"), hasMore: "page.again", last: "0")
        #expect(try Styles.walk(marked, [page(2, ["page.end": "0", "page.again": "true"])]).count == 1)
        // An empty page does so if the description says it.
        let emptied = Pagination.cursor(
            path: "page.end", sends: .query("c"), hasMore: "page.again", endsAtEmptyPage: true)
        let pages = [page(2, ["page.end": "1", "page.again": "true"]), page(0, ["page.again": "true"])]
        #expect(try Styles.walk(emptied, pages).count == 2)
    }

    @Test("an empty page that names itself is the end, unless it says that there is more")
    func emptyItself() throws {
        let style = Pagination.cursor(path: "next", sends: .query("c"), hasMore: "go")
        func pages(_ values: [String: String]) -> [PageFacts] {
            [page(2, ["next": "1"]), page(0, values.merging(["next": "1"]) { $1 })]
        }
        #expect(try Styles.walk(style, pages([:])).count == 2)
        for values in [["go": "true"], ["has_more": "true"], ["total_pages": "4"], ["total": "4"]] {
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages(values)) }
        }
    }

    @Test("pages without records for ever are an error if they seem to be the end, and others are followed")
    func emptyForEver() {
        let style = Pagination.cursor(path: "next", sends: .query("c"))
        func pages(_ values: [String: String]) -> [PageFacts] {
            (1...40).map { page($0 == 1 ? 2 : 0, values.merging(["next": "\($0)"]) { $1 }) }
        }
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["total": "2"])) }
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["has_more": "false"])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages([:])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages(["total": "2"]), bounds: { $0.more = .ignore }) }
    }

    @Test("a flag that was true before ends a list at an empty page, and any flag at a page that names itself")
    func statedEnd() throws {
        let style = Pagination.jsonLink(path: "next")
        let pages = [
            page(2, ["next": "?p=2", "has_more": "true"]), page(1, ["next": "?p=3", "has_more": "false"]),
            page(0, ["next": "?p=4", "has_more": "false"]), page(1),
        ]
        #expect(try Styles.walk(style, pages) == ["/items?state=all", "/items?p=2", "/items?p=3"])
        var sequence = try PageSequence(
            style, PageRequest(url: "http://h/items"), PageSequence.Bounds(base: "http://h"))
        for facts in pages.dropLast() { _ = try sequence.advance(facts) }
        #expect(sequence.doubt == nil)
        func itself(_ values: [String: String]) -> [PageFacts] {
            [page(2, ["next": "?t=1"]), page(1, values.merging(["next": "?t=1"]) { $1 })]
        }
        #expect(try Styles.walk(style, itself(["end_of_stream": "true"])) == ["/items?state=all", "/items?t=1"])
        let others = [
            [:], ["end_of_stream": "false"], ["end_of_stream": "true", "total": "9"],
            ["end_of_stream": "true", "has_more": "true"],
        ]
        for values in others {
            #expect(throws: PaginationError.self) { try Styles.walk(style, itself(values)) }
        }
        #expect(throws: PaginationError.self) {
            try Styles.walk(style, itself(["end_of_stream": "true"])) { $0.more = .ignoring(["end_of_stream"]) }
        }
    }

    @Test("a scan that continues at an empty page ends there by a flag that was true on the page before")
    func statedEndOfResumed() throws {
        let first = PageRequest(url: "http://h/items")
        for flag in ["true", "false"] {
            var sequence = try PageSequence(.jsonLink(path: "next"), first, PageSequence.Bounds(base: "http://h"))
            try sequence.resume(
                at: PageSequence.position(of: PageRequest(url: "http://h/items?p=3")), ordinal: 3, listed: 3)
            sequence.note(pageBefore: page(1, ["next": "?p=3", "has_more": flag]))
            #expect(try sequence.advance(page(0, ["next": "?p=4", "has_more": "false"])) == (flag == "false"))
        }
    }

    @Test("an empty page whose link leads to itself is the end, unless it says that there is more")
    func emptyLinkToItself() throws {
        func pages(_ values: [String: String]) -> [PageFacts] {
            [page(2, ["next": "?t=1"]), page(0, values.merging(["next": "?t=1"]) { $1 })]
        }
        #expect(try Styles.walk(.jsonLink(path: "next"), pages([:])) == ["/items?state=all", "/items?t=1"])
        #expect(throws: PaginationError.self) { try Styles.walk(.jsonLink(path: "next"), pages(["total": "4"])) }
    }

    @Test("fewer different records than the total are a doubt that the next scan may confirm")
    func repeatedRecords() throws {
        func doubt(
            _ pages: [(count: Int, total: Int?, different: Int)], more: PageEvidence.Rule = .fail
        ) throws -> EndDoubt? {
            var bounds = PageSequence.Bounds(base: "http://h")
            bounds.more = more
            var sequence = try PageSequence(
                .pageNumber(.query("p"), total: "total"), PageRequest(url: "http://h/items"), bounds)
            for (index, (count, total, different)) in pages.enumerated() {
                var facts = page(count, total.map { ["total": "\($0)"] } ?? [:])
                facts.differentRecords = different
                let goesOn = try sequence.advance(facts)
                #expect(goesOn == (index < pages.count - 1))
            }
            return sequence.doubt
        }
        let known = EndDoubt.repeatedRecords(name: "total", total: 6, different: 5)
        #expect(try doubt([(3, 6, 3), (3, 6, 5), (0, 6, 5)]) == known)
        #expect(known.countsIfRepeated)
        #expect(try doubt([(3, 6, 3), (3, 6, 5), (0, 6, 5)], more: .ignoring(["total"])) == nil)
        // Records that were inserted during the scan are not missing.
        #expect(try doubt([(3, 5, 3), (3, 6, 5), (0, 6, 5)]) == nil)
        // The last page alone has the total.
        #expect(try doubt([(3, nil, 3), (3, nil, 5), (0, 6, 5)]) == known)
    }

    @Test(
        "a declared total that falls from page to page is a doubt that the next scan may confirm, if pages are counted")
    func smallerTotal() throws {
        func doubt(
            _ pages: [(count: Int, total: Int?)], _ style: Pagination = .pageNumber(.query("p"), total: "total"),
            more: PageEvidence.Rule = .fail
        ) throws -> EndDoubt? {
            var bounds = PageSequence.Bounds(base: "http://h")
            bounds.more = more
            var sequence = try PageSequence(style, PageRequest(url: "http://h/items"), bounds)
            for (index, (count, total)) in pages.enumerated() {
                let goesOn = try sequence.advance(page(count, total.map { ["total": "\($0)"] } ?? [:]))
                #expect(goesOn == (index < pages.count - 1))
            }
            return sequence.doubt
        }
        let known = EndDoubt.smallerTotal(name: "total", before: 6, total: 5)
        #expect(try doubt([(2, 6), (2, 5), (1, 5)]) == known && known.countsIfRepeated)
        #expect(try doubt([(2, 6), (2, nil), (1, 5)], .offset(.query("p"), total: "total")) == known)
        #expect(try doubt([(2, 6), (2, 5), (1, 5)], more: .ignoring(["total"])) == nil)
        // Two records before the last page are gone: it has none.
        #expect(try doubt([(2, 6), (2, 6), (0, 4)]) == .smallerTotal(name: "total", before: 6, total: 4))
        #expect(try doubt([(2, 6), (2, 6), (2, nil), (0, 0)], .offset(.query("p"), total: "total")) == nil)
        #expect(try doubt([(2, 4), (2, 5), (1, 5)]) == nil)
        #expect(try doubt([(2, 5), (2, 5), (1, 5)]) == nil)
    }

    @Test("a total that several pages have reached exactly ends a list whose server names next pages for ever")
    func reachedTotal() throws {
        let style = Pagination.jsonLink(path: "next")
        func pages(_ counts: [Int], total: (Int) -> Int) -> [PageFacts] {
            (1...40).map { number in
                page(
                    number <= counts.count ? counts[number - 1] : 0,
                    ["next": "?p=\(number)", "total": "\(total(number))"])
            }
        }
        #expect(try Styles.walk(style, pages([2, 2, 1]) { _ in 5 }).count == 6)
        // Records may follow empty pages, and a number may be that of the records so far.
        #expect(try Styles.walk(style, pages([2, 2, 0, 0, 0, 1]) { _ in 5 }).count == 9)
        for total in [{ min(2 * $0, 4) }, { _ in 3 }] as [(Int) -> Int] {
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages([2, 2], total: total)) }
        }
    }

    @Test("a list of a server that repeats its last page ends there, if that is declared and no total is larger")
    func repeatedLast() throws {
        func pages(_ fields: [String: String] = [:]) -> [PageFacts] {
            [page(2, digest: 1, [:], fields), page(1, digest: 2, [:], fields), page(1, digest: 2, [:], fields)]
        }
        for style in [Pagination.pageNumber(.query("p"), end: .repeated), .offset(.query("p"), end: .repeated)] {
            #expect(try Styles.walk(style, pages()).count == 3)
            #expect(throws: PaginationError.self) { try Styles.walk(style, pages(["X-Total-Count": "9"])) }
        }
        #expect(throws: PaginationError.self) { try Styles.walk(.pageNumber(.query("p")), pages()) }
    }

    @Test("equal elements are the same page for a style that counts, although their keys are positions")
    func sameElements() {
        func pages(_ contents: [UInt64]) -> [PageFacts] {
            contents.enumerated().map { index, content in
                var facts = page(2, digest: index)
                facts.contentDigest = content
                return facts
            }
        }
        let style = Pagination.pageNumber(parameter: "p")
        #expect(throws: PaginationError.self) { try Styles.walk(style, pages([7, 7])) }
        #expect(throws: Never.self) { try Styles.walk(style, pages([7, 8, 7])) }
    }

    @Test("numbered pages end at the number of pages in a header field, unless a number of records contradicts it")
    func pagesInHeader() throws {
        let style = Pagination.pageNumber(.query("p"), size: .init(parameter: "n", value: 2), end: .empty)
        let field = ["X-WP-TotalPages": "2"]
        #expect(try Styles.walk(style, [page(2, [:], field), page(2, [:], field)]).last?.contains("p=2") == true)
        let more = field.merging(["X-WP-Total": "5"]) { first, _ in first }
        #expect(
            try Styles.walk(style, [page(2, [:], more), page(2, [:], more), page(1, [:], more)]).last?.contains("p=3")
                == true)
    }

    @Test("new cursors with the same records again and again are seen at the 21st repetition, and not before")
    func sameRecords() {
        func pages(_ count: Int) -> [PageFacts] {
            (0..<count).map { page(2, digest: 7, ["next": "c\($0)"]) }
        }
        let style = Pagination.cursor(path: "next", sends: .query("c"))
        #expect(throws: Never.self) { try Styles.walk(style, pages(21) + [page(1, digest: 8)]) }
        #expect(throws: PaginationError.samePage(url: "http://h/items?state=all&c=c20")) {
            try Styles.walk(style, pages(30))
        }
    }

    @Test("a walk that would end before the server's own total is an error, not a short list")
    func shrinks() {
        let total = Pagination.offset(.query("o"), total: "total")
        let error = #expect(throws: PaginationError.self) {
            try Styles.walk(total, [page(2, ["total": "5"]), page(0, ["total": "5"])])
        }
        #expect(error == PaginationError.shrunk(listed: 2, hint: PageCounts.hint("there are 5 records", "total")))
        // `end: empty` does not outweigh a total.
        #expect(error?.description.contains("leave out total") == true)
        #expect(error?.description.contains("end: empty") == false)
        let more = Pagination.pageNumber(.query("p"), hasMore: "more")
        #expect(throws: PaginationError.shrunk(listed: 0, hint: PageCounts.hint("there are more", "has_more"))) {
            try Styles.walk(more, [page(0, ["more": "true"])])
        }
        let last = Pagination(
            OffsetPagination(sends: .query("o"), start: 0, hasMore: MoreFlag("end", marksEnd: true), end: .short))
        #expect(throws: PaginationError.shrunk(listed: 0, hint: PageCounts.hint("there are more", "is_last"))) {
            try Styles.walk(last, [page(0, ["end": "false"])])
        }
    }

    @Test("a page without counts does not end a walk before the counts of the pages before")
    func lostPages() {
        let total = Pagination.pageNumber(.query("p"), size: .init(parameter: "n", value: 2), total: "all")
        for last in [page(0), page(1)] {
            let error = #expect(throws: PaginationError.self) {
                try Styles.walk(total, [page(2, ["all": "6"]), last])
            }
            #expect(error?.description.contains("but all said on a page before that there are 6 records") == true)
        }
        let linked = [page(2, [:], ["Link": "</items?p=2>; rel=next", "X-Total-Count": "6"]), page(0)]
        #expect(throws: PaginationError.self) { try Styles.walk(.headerLink(), linked) }
        #expect(throws: Never.self) { try Styles.walk(.headerLink(), linked) { $0.more = .ignore } }
        #expect(throws: PaginationError.self) {
            try Styles.walk(
                .pageNumber(.query("p"), totalPages: "total_pages"), [page(2, ["total_pages": "3"]), page(0)])
        }
    }

    @Test("an empty page that was announced leaves the end in doubt; one that was only tried does not")
    func doubt() throws {
        func isInDoubt(_ pagination: Pagination, _ pages: [PageFacts]) throws -> Bool {
            var sequence = try PageSequence(
                pagination, PageRequest(url: "http://h/items"), PageSequence.Bounds(base: "http://h"))
            for facts in pages { _ = try sequence.advance(facts) }
            return sequence.doubt == .emptyPage
        }
        let cursor = Pagination.cursor(path: "next", sends: .query("c"))
        #expect(try isInDoubt(cursor, [page(2, ["next": "a"]), page(0)]))
        #expect(try !isInDoubt(cursor, [page(2, ["next": "a"]), page(1)]))
        let more = Pagination.pageNumber(.query("p"), hasMore: "more")
        #expect(try isInDoubt(more, [page(2, ["more": "true"]), page(0)]))
        #expect(try !isInDoubt(more, [page(2, ["more": "true"]), page(0, ["more": "false"])]))
        #expect(try !isInDoubt(.pageNumber(.query("p")), [page(2), page(0)]))
        let ends = Pagination.cursor(path: "next", sends: .query("c"), endsAtEmptyPage: true)
        #expect(try !isInDoubt(ends, [page(2, ["next": "a"]), page(0)]))
    }

    @Test("records without the id that the next request names are an error with its path")
    func withoutIDs() {
        let style = Pagination.recordCursor(.backward, sends: .query("max_id"), path: "num")
        let error = #expect(throws: PaginationError.self) { try Styles.walk(style, [page(2)]) }
        #expect(error?.description.contains("`num`") == true)
    }

    @Test("false in place of a link or a cursor is the end, and so is 0 in place of a link")
    func noLink() throws {
        for text in ["false", "0"] {
            #expect(try Styles.walk(.jsonLink(path: "nxt"), [page(2, ["nxt": text])]) == ["/items?state=all"])
        }
        let cursor = Pagination.cursor(path: "nxt", sends: .query("c"))
        #expect(try Styles.walk(cursor, [page(2, ["nxt": "false"])]) == ["/items?state=all"])
    }

    @Test(
        "a server that gives less than it is asked for does not end the walk at its first page, if anything in it says that there is more",
        arguments: [
            ["Link": "</items?page=2>; rel=next"], ["X-Total-Count": "250"], ["X-Total-Pages": "3"], ["X-Total": "101"],
        ])
    func capped(fields: [String: String]) throws {
        for style in [
            Pagination.pageNumber(parameter: "p", size: .init(parameter: "n", value: 1000)),
            .offset(.query("o"), size: .init(parameter: "n", value: 1000)),
        ] {
            #expect(throws: Never.self) { try Styles.walk(style, [page(100)]) }
            guard style.style is PageNumberPagination else {
                // An offset continues after the received records.
                #expect(try Styles.walk(style, [page(100, [:], fields)]).count == 2)
                continue
            }
            let error = #expect(throws: PaginationError.self) { try Styles.walk(style, [page(100, [:], fields)]) }
            #expect(error.map { "\($0)".contains("1000 were asked for") && "\($0)".contains("end: empty") } == true)
        }
    }

    @Test("pages and records have limits: an error, or a quiet end that is known")
    func limits() throws {
        let pages = Array(repeating: page(10), count: 9), style = Pagination.pageNumber(parameter: "p")
        #expect(throws: PaginationError.tooManyPages(limit: 3, url: "http://h/items?state=all&p=4")) {
            try Styles.walk(style, pages) { $0.pageLimit = 3 }
        }
        #expect(throws: PaginationError.tooManyRecords(limit: 25, url: "http://h/items?state=all&p=4")) {
            try Styles.walk(style, pages) { $0.recordLimit = 25 }
        }
        #expect(try Styles.walk(style, pages) { ($0.recordLimit, $0.stopsAtLimit) = (25, true) }.count == 3)
        var bounds = PageSequence.Bounds(base: "http://h")
        (bounds.recordLimit, bounds.stopsAtLimit) = (10, true)
        var sequence = try PageSequence(style, PageRequest(url: "http://h/"), bounds)
        #expect(try !sequence.advance(page(10)))
        #expect(sequence.isCutOff)
    }

    @Test("a link to another server is followed where that is allowed, and nowhere else")
    func follows() throws {
        let link = { Styles.page(1, ["next": $0]) }
        #expect(
            try Styles.walk(.jsonLink(path: "next"), [link("https://cdn.example/pages/2"), Styles.page(1)]) {
                $0.follows = ["https://cdn.example/pages"]
            }
                == ["/items?state=all", "https://cdn.example/pages/2"])
        #expect(throws: PaginationError.self) {
            try Styles.walk(.jsonLink(path: "next"), [link("https://cdn.example/other/2")]) {
                $0.follows = ["https://cdn.example/pages"]
            }
        }
    }

    @Test("a key that the server repeats in its links is taken out of them")
    func secretParameter() throws {
        #expect(
            try Styles.walk(
                .jsonLink(path: "next"), [Styles.page(1, ["next": "/items?key=s3cret&page=2"]), Styles.page(1)]
            ) { $0.secretParameter = "key" }
                == ["/items?state=all", "/items?page=2"])
    }
}
