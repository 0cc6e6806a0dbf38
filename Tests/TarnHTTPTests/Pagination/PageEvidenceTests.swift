// Signs of more pages than a scan has fetched.

import Testing

@testable import TarnHTTP

@Suite("Evidence of more pages")
struct PageEvidenceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var url = "http://h/items"
        var body: TransportBody?
        var style = Pagination.singlePage
        var pages: [PageFacts]
        /// Nil if the scan ends well.
        var evidence: String?
        var testDescription: String { name }
    }

    static func page(
        _ count: Int, _ values: [String: String] = [:], _ fields: [String: String] = [:], ids: [String] = []
    ) -> PageFacts {
        PaginationStyleTests.page(count, values, fields, ids: ids)
    }

    private static func one(
        _ name: String, _ values: [String: String], _ fields: [String: String] = [:], count: Int = 10,
        url: String = "http://h/items", body: TransportBody? = nil, says evidence: String?
    ) -> Row {
        Row(name: name, url: url, body: body, pages: [page(count, values, fields)], evidence: evidence)
    }

    /// A character of a letter and a number of marks.
    private static func character(_ marks: Int) -> String { "e" + String(repeating: "\u{301}", count: marks) }
    private static let shownCharacter = "next_cursor names what comes next, \(character(39))…"

    static let signs: [Row] = [
        one("Link", [:], ["Link": "</items?page=2>; rel=\"next\""], says: "Link names a next page, /items?page=2"),
        one(
            "a Link field without a closing bracket", [:], ["Link": "</items?page=2; rel=\"next\""],
            says: "Link names a next page in a form that cannot be read (RFC 8288)"),
        one(
            "a Link field without brackets, and with a comma", [:], ["Link": "/items?ids=1,2; rel=next"],
            says: "Link names a next page in a form that cannot be read (RFC 8288)"),
        one("GitLab", [:], ["X-Next-Page": "2"], says: "X-Next-Page is 2"),
        one("Azure", [:], ["X-MS-ContinuationToken": "abc"], says: "X-MS-ContinuationToken is abc"),
        one("X-Total-Count", [:], ["X-Total-Count": "100"], says: "X-Total-Count says that there are 100 records"),
        one("X-Total-Pages", [:], ["x-total-pages": "7"], says: "X-Total-Pages says that there are 7 pages"),
        one("WordPress", [:], ["X-WP-Total": "11"], says: "X-WP-Total says that there are 11 records"),
        one(
            "Content-Range", [:], ["Content-Range": "items 0-9/100"],
            says: "Content-Range says that there are 100 records"),
        one(
            "PostgREST", [:], ["Content-Range": "0-9/100"],
            says: "Content-Range says that there are 100 records"),
        one(
            "DRF", ["count": "1351", "next": "http://h/items?offset=20"],
            says: "next names a next page, http://h/items?offset=20"),
        one("a count alone", ["count": "1351"], says: "count says that there are 1351 records"),
        one("a count of items", ["itemCount": "97"], says: "itemCount says that there are 97 records"),
        one(
            "a total of results", ["result_count": "10", "results_total": "97"],
            says: "results_total says that there are 97 records"),
        one("Stripe", ["has_more": "true", "url": "/v1/charges"], says: "has_more is true"),
        one("a cursor of one very long character", ["next_cursor": character(500)], says: shownCharacter),
        one(
            "a cursor that looks like that of the request", ["next_cursor": "e\u{301}"],
            url: "http://h/items?cursor=%C3%A9", says: "next_cursor names what comes next, e\u{301}"),
        one(
            "a cursor that looks like that of a form", ["next_cursor": "e\u{301}"],
            body: .form([.init("cursor", "\u{E9}")]), says: "next_cursor names what comes next, e\u{301}"),
        one(
            "a cursor that looks like that of a body", ["next_cursor": "e\u{301}"],
            body: .json(.object([.init("cursor", .string("\u{E9}"))])),
            says: "next_cursor names what comes next, e\u{301}"),
        one(
            "Slack", ["response_metadata.next_cursor": "dXNlcjpV"],
            says: "response_metadata.next_cursor names what comes next, dXNlcjpV"),
        one("GraphQL", ["data.issues.pageInfo.hasNextPage": "true"], says: "data.issues.pageInfo.hasNextPage is true"),
        one(
            "GraphQL's total", ["data.issues.totalCount": "11"],
            says: "data.issues.totalCount says that there are 11 records"),
        one("HAL", ["_links.next.href": "/items?page=2"], says: "_links.next.href names a next page, /items?page=2"),
        one("JSON:API", ["links.next": "/items?page=2"], says: "links.next names a next page, /items?page=2"),
        one(
            "OData", ["@odata\\.nextLink": "http://h/items?$skip=2"],
            says: "@odata\\.nextLink names a next page, http://h/items?$skip=2"),
        one("OData's count", ["@odata\\.count": "12"], says: "@odata\\.count says that there are 12 records"),
        one("Spring", ["last": "false", "totalElements": "9"], count: 5, says: "last is false"),
        one("Spring's pages", ["page.totalPages": "3"], says: "page.totalPages says that there are 3 pages"),
        one("Laravel", ["last_page": "5", "current_page": "1"], says: "last_page says that there are 5 pages"),
        one("Jira", ["isLast": "false"], says: "isLast is false"),
        one("S3", ["IsTruncated": "true"], says: "IsTruncated is true"),
        one("Salesforce", ["done": "false"], says: "done is false"),
        one("Elasticsearch", ["hits.total.value": "1000"], says: "hits.total.value says that there are 1000 records"),
        one(
            "Cloudflare", ["result_info.total_pages": "2"], says: "result_info.total_pages says that there are 2 pages"),
        one("the number of a next page", ["meta.next_page": "2"], says: "meta.next_page is 2"),
        one("HubSpot", ["paging.next.after": "NTI"], says: "paging.next.after names what comes next, NTI"),
        one(
            "FHIR",
            [
                "link[1].relation": "next", "link[1].url": "http://h/x?2", "link[0].relation": "self",
                "link[0].url": "http://h/items",
            ],
            says: "link[1] names a next page, http://h/x?2"),
        one(
            "an empty page that names a next one", ["next": "/items?page=2"], count: 0,
            says: "next names a next page, /items?page=2"),
        one("a cursor in next", ["next.cursor": "10"], says: "next.cursor names what comes next, 10"),
        one("the number of a page in next", ["next.page": "2"], says: "next.page is 2"),
        one("a cursor alone", ["cursor": "10"], says: "cursor names what comes next, 10"),
        one("Airtable", ["offset": "itrX9/recA1"], says: "offset names what comes next, itrX9/recA1"),
        one("the offset of the next page", ["meta.offset": "10"], says: "meta.offset names what comes next, 10"),
        one("Elasticsearch's scroll", ["_scroll_id": "DXF1"], says: "_scroll_id names what comes next, DXF1"),
        one("a token of pages", ["pagination.token": "t1"], says: "pagination.token names what comes next, t1"),
        one(
            "DynamoDB", ["LastEvaluatedKey.id.S": "10", "Count": "10"],
            says: "LastEvaluatedKey.id.S names what comes next, 10"),
        one(
            "DynamoDB, an empty page", ["LastEvaluatedKey": "k"], count: 0,
            says: "LastEvaluatedKey names what comes next, k"),
        one("MediaWiki", ["continue.apcontinue": "10"], says: "continue.apcontinue names what comes next, 10"),
        one(
            "an offset of MediaWiki", ["continue.sroffset": "10"],
            says: "continue.sroffset names what comes next, 10"),
        one("Reddit", ["data.after": "t3_10"], says: "data.after names what comes next, t3_10"),
        one(
            "Discourse", ["topic_list.more_topics_url": "/latest?page=1"],
            says: "topic_list.more_topics_url names a next page, /latest?page=1"),
        one("moreAvailable", ["moreAvailable": "true"], says: "moreAvailable is true"),
        one("GBIF", ["endOfRecords": "false"], says: "endOfRecords is false"),
        one("Zhihu", ["paging.is_end": "false"], says: "paging.is_end is false"),
        one("Cognito", ["PaginationToken": "CA9"], says: "PaginationToken names what comes next, CA9"),
        one("Dynatrace", ["nextPageKey": "AQ"], says: "nextPageKey names what comes next, AQ"),
        one("Solr", ["nextCursorMark": "AoI"], says: "nextCursorMark names what comes next, AoI"),
        one("Matrix", ["next_batch": "p20"], says: "next_batch names what comes next, p20"),
        one("Pinterest", ["bookmark": "Y2JV"], count: 25, says: "bookmark names what comes next, Y2JV"),
        one(
            "Pinterest, a page as long as requested", ["bookmark": "Y2JV"], count: 7, url: "http://h/items?page_size=7",
            says: "bookmark names what comes next, Y2JV"),
        one("Opendatasoft", ["nhits": "57"], says: "nhits says that there are 57 records"),
        one("Europe PMC", ["hitCount": "57"], says: "hitCount says that there are 57 records"),
        one("OGC API", ["numberMatched": "57"], says: "numberMatched says that there are 57 records"),
        one(
            "OpenSearch", ["search-results.opensearch:totalResults": "57"],
            says: "search-results.opensearch:totalResults says that there are 57 records"),
        one("Cosmos DB", [:], ["x-ms-continuation": "-RID"], says: "X-MS-Continuation is -RID"),
        one(
            "Azure tables", [:], ["x-ms-continuation-NextRowKey": "r9"],
            says: "X-MS-Continuation-NextRowKey is r9"),
        one("has_more against a total that is reached", ["has_more": "true", "total": "10"], says: "has_more is true"),
    ]

    static let silent: [Row] = [
        one("nothing", [:], says: nil),
        one("a page's own count", ["count": "10"], says: nil),
        one("the bookmark of a page that is not full", ["bookmark": "Y2JV"], count: 7, says: nil),
        one(
            "CouchDB, a list shorter than requested", ["bookmark": "Y2JV"], count: 100,
            body: .json(.object([.init("limit", .number("1000"))])), says: nil),
        one("a bookmark that marks the end", ["bookmark": "nil"], count: 25, says: nil),
        one(
            "a bookmark that is a link, or a flag", ["bookmark": "/b/1", "data.bookmark": "true"], count: 25, says: nil),
        one("MediaWiki's own word", ["continue.continue": "-||"], says: nil),
        one("other members of an object named continue", ["continue.url": "/a", "continue.label": "More"], says: nil),
        one("a filter beside the list that is repeated", ["after": "cd34"], says: nil),
        one("after a day, or a time", ["after": "2026-11-01", "data.after": "2026-11-01T00:00:00Z"], says: nil),
        one("what was before and after", ["before": "ab12", "after": "cd34"], says: nil),
        one("the last cursor of a list with links", ["paging.cursors.after": "MTA"], says: nil),
        one(
            "a count that repeats the size asked for", ["count": "100"], count: 42, url: "http://h/items?limit=100",
            says: nil),
        one("a total that is reached", ["total": "10", "count": "10", "pages": "1"], ["X-Total": "10"], says: nil),
        one("a total that says less than the page lists", ["total": "3", "total_count": "0"], says: nil),
        one("a page's count beside a total", ["total": "10", "count": "20"], says: nil),
        one("an empty cursor", ["next_cursor": "", "meta.next": "", "nextPageToken": "0"], says: nil),
        one("an empty GitLab field", [:], ["X-Next-Page": ""], says: nil),
        one("a next page that is not behind this one", ["next_page": "1", "page": "1"], says: nil),
        one(
            "a link to the page itself", ["next": "http://h/items", "links.self": "/items"],
            ["Link": "</items>; rel=next"], says: nil),
        one(
            "a cursor, and a flag that says that it is the last page", ["next_cursor": "abc", "has_more": "false"],
            says: nil),
        one("a flag that says so, and a total of other things", ["has_more": "false", "total": "500"], says: nil),
        one("the last page", ["last": "true", "isLast": "true", "done": "true", "hasNextPage": "false"], says: nil),
        one("a range of bytes, and one without a size", [:], ["Content-Range": "bytes 0-9/100"], says: nil),
        one("a range of bytes in the form of a request", [:], ["Content-Range": "bytes=0-9/100"], says: nil),
        one("a quoted text in a Link field that is none", [:], ["Link": "broken \"; rel=next\""], says: nil),
        one("an unknown size", [:], ["Content-Range": "items 0-9/*"], says: nil),
        one("what the request passes over", ["total": "60"], url: "http://h/items?offset=50", says: nil),
        one("a page that was asked for", ["total": "60", "total_pages": "3"], url: "http://h/items?page=3", says: nil),
        one(
            "a cursor that the request was sent with", ["next_cursor": "abc"], url: "http://h/items?cursor=abc",
            says: nil),
        one("the cursor of the request", ["cursor": "abc"], url: "http://h/items?after=abc", says: nil),
        one("a cursor that names nothing", ["cursor": "", "scroll_id": "0", "offset": "0"], says: nil),
        one("a cursor, and a total that is reached", ["cursor": "x", "total": "10"], says: nil),
        one("a scroll of a page without hits", ["_scroll_id": "DXF1"], count: 0, says: nil),
        one("a cursor beside an empty one of the next page", ["cursor": "x", "next_cursor": ""], says: nil),
        one("a cursor, and a flag of the end", ["cursor": "x", "has_more": "false"], says: nil),
        one("an offset of a page", ["offset": "50", "limit": "10"], url: "http://h/items?page=6", says: nil),
        one("an offset of something else", ["offset": "3600", "meta.offset": "+01:00:00"], says: nil),
        one("the only record, counted from 1", ["offset": "1"], count: 1, says: nil),
        one(
            "other links", ["links.prev": "/items?page=1", "links.last": "/items?page=9", "url": "/x"],
            ["Link": "</a>; rel=last"], says: nil),
    ]

    @Test("a page that speaks of more than the walk takes is an error that names the sign", arguments: signs)
    func speaks(_ row: Row) throws {
        #expect(try evidence(row)?.description == row.evidence)
    }

    @Test("what only looks like it is none", arguments: silent)
    func isSilent(_ row: Row) throws {
        #expect(try evidence(row)?.description == nil)
    }

    /// The sign that ends a scan.
    private func evidence(_ row: Row) throws -> PageEvidence? {
        do {
            _ = try PaginationStyleTests.walk(row.style, from: PageRequest(url: row.url, body: row.body), row.pages)
            return nil
        } catch .more(let evidence, _, let style, _, _) {
            #expect(style == row.style.style.name)
            return evidence
        }
    }

    static let walks: [Row] = [
        Row(
            name: "header_link, and a total that is not reached", style: .headerLink(),
            pages: [page(2, ["total": "9"], ["Link": "</items?page=2>; rel=next"]), page(2, ["total": "9"])],
            evidence: "total says that there are 9 records"),
        Row(
            name: "header_link whose link cannot be read", style: .headerLink(),
            pages: [page(2, [:], ["Link": "items?page=2; rel=next"])],
            evidence: "Link names a next page in a form that cannot be read (RFC 8288)"),
        Row(
            name: "header_link whose bracket is closed by the next link", style: .headerLink(),
            pages: [page(2, [:], ["Link": "</items?page=2; rel=next, </items?page=3>"])],
            evidence: "Link names a next page in a form that cannot be read (RFC 8288)"),
        Row(
            name: "header_link whose own relation cannot be read", style: .headerLink(relation: "older"),
            pages: [page(2, [:], ["Link": "</items?page=2; rel=older"])],
            evidence: "Link names a next page in a form that cannot be read (RFC 8288)"),
        Row(
            name: "header_link of another relation", style: .headerLink(relation: "older"),
            pages: [page(2, [:], ["Link": "</items?page=2>; rel=next"])],
            evidence: "Link names a next page, /items?page=2"),
        Row(
            name: "header_link back to where it came from", style: .headerLink(relation: "prev"),
            pages: [page(2, [:], ["Link": "</items?page=1>; rel=prev"]), page(2, [:], ["Link": "</items>; rel=next"])],
            evidence: nil),
        Row(
            name: "json_link that ends before the Link field does", style: .jsonLink(path: "next"),
            pages: [page(2, [:], ["Link": "</items?page=2>; rel=next"])],
            evidence: "Link names a next page, /items?page=2"),
        Row(
            name: "json_link to its end", style: .jsonLink(path: "next"),
            pages: [page(2, ["next": "/items?page=2", "count": "3"]), page(1, ["count": "3"])], evidence: nil),
        Row(
            name: "header_cursor", style: .headerCursor(field: "X-Next", sends: .query("c")),
            pages: [page(2, ["meta.total_pages": "2"])], evidence: "meta.total_pages says that there are 2 pages"),
        Row(
            name: "cursor at a path that is not there", style: .cursor(path: "cursor", sends: .query("c")),
            pages: [page(2, ["meta.next_cursor": "x"])], evidence: "meta.next_cursor names what comes next, x"),
        Row(
            name: "cursor with its own flag",
            style: .cursor(path: "next_cursor", sends: .query("c"), hasMore: "again"),
            pages: [page(2, ["next_cursor": "x", "again": "false"])], evidence: nil),
        Row(
            name: "cursor with its own end",
            style: .cursor(path: "next_cursor", sends: .query("c"), last: "END"),
            pages: [page(2, ["next_cursor": "END"])], evidence: nil),
        Row(
            name: "offset of a server that gives less, by its count",
            style: .offset(.query("offset"), size: .init(parameter: "limit", value: 100)),
            pages: [page(20, ["count": "45"]), page(20, ["count": "45"]), page(5, ["count": "45"])], evidence: nil),
        Row(
            name: "offset that ends before the count",
            style: .offset(.query("offset"), size: .init(parameter: "limit", value: 100)),
            pages: [page(20, ["count": "45"]), page(20, ["count": "45"]), page(0, ["count": "45"])],
            evidence: "count says that there are 45 records"),
        Row(
            name: "offset from a record on", style: .offset(.query("offset"), start: 40),
            pages: [page(5, ["total": "45"]), page(0, ["total": "45"])], evidence: nil),
        Row(
            name: "page numbers that end at a short page",
            style: .pageNumber(parameter: "page", size: .init(parameter: "n", value: 2)),
            pages: [page(2, ["total": "9"]), page(1, ["total": "9"])], evidence: "total says that there are 9 records"),
        Row(
            name: "page numbers from 0",
            style: .pageNumber(parameter: "page", start: 0, size: .init(parameter: "n", value: 2)),
            pages: [page(2, ["total_pages": "2"]), page(1, ["total_pages": "2"])], evidence: nil),
        Row(
            name: "page numbers that begin at 0, and are counted from 1",
            style: .pageNumber(parameter: "page"), pages: [page(2, ["pages": "2"]), page(0, ["pages": "2"])],
            evidence: "pages says that there are 2 pages"),
        Row(
            name: "the same with a count in a header field",
            style: .pageNumber(parameter: "page"),
            pages: [page(2, [:], ["X-Total-Pages": "2"]), page(0, [:], ["X-Total-Pages": "2"])],
            evidence: "X-Total-Pages says that there are 2 pages"),
        Row(
            name: "a count of pages that is too large by one, and a total that is reached",
            style: .pageNumber(parameter: "page"),
            pages: [page(2, ["pages": "2", "total": "2"]), page(0, ["pages": "2", "total": "2"])], evidence: nil),
        Row(
            name: "an empty last page of numbers from 0", style: .pageNumber(parameter: "page", start: 0),
            pages: [page(2, ["pages": "2"]), page(0, ["pages": "2"])], evidence: nil),
        Row(
            name: "a list that got shorter while it was walked", style: .pageNumber(parameter: "page"),
            pages: [page(2, ["pages": "2"]), page(0, ["pages": "1"])], evidence: nil),
        Row(
            name: "page numbers that end at an empty page which links on", style: .pageNumber(parameter: "page"),
            pages: [page(2), page(0, ["next": "/items?page=3", "has_more": "true"])], evidence: nil),
        Row(
            name: "max_id", style: .recordCursor(.backward, sends: .query("max_id")),
            pages: [page(2, ["total": "3"], ids: ["9", "8"]), page(0, ["total": "3"])],
            evidence: "total says that there are 3 records"),
        Row(
            name: "max_id, whose total is of what is left",
            style: .recordCursor(.backward, sends: .query("max_id")),
            pages: [
                page(2, ["total": "3"], ids: ["9", "8"]), page(1, ["total": "1"], ids: ["7"]), page(0, ["total": "0"]),
            ], evidence: nil),
        Row(
            name: "since_id", style: .recordCursor(.forward, sends: .query("since_id")),
            pages: [page(2, [:], ["X-Total-Count": "3"], ids: ["1", "2"]), page(0, [:], ["X-Total-Count": "3"])],
            evidence: "X-Total-Count says that there are 3 records"),
        Row(
            name: "a total that grows while it is walked", style: .jsonLink(path: "next"),
            pages: [page(2, ["next": "/items?page=2", "total": "4"]), page(2, ["total": "5"])], evidence: nil),
        Row(
            name: "a total that shrinks while it is walked", style: .jsonLink(path: "next"),
            pages: [page(2, ["next": "/items?page=2", "total": "4"]), page(1, ["total": "3"])], evidence: nil),
        Row(
            name: "auto that follows what it finds", style: .automatic,
            pages: [page(2, ["next": "/items?page=2", "count": "3"]), page(1, ["count": "3"])], evidence: nil),
        Row(
            name: "page numbers that end at a short page, and a cursor for other purposes",
            style: .pageNumber(parameter: "page", size: .init(parameter: "n", value: 2)),
            pages: [page(2, ["cursor": "a"]), page(1, ["cursor": "b"])], evidence: nil),
        Row(
            name: "auto that follows a cursor to the page without one", style: .automatic,
            pages: [page(2, ["cursor": "a"]), page(2, ["cursor": "b"]), page(1)], evidence: nil),
        Row(
            name: "auto that follows a cursor to the page without records", style: .automatic,
            pages: [page(2, ["cursor": "a"]), page(0, ["cursor": "b"])], evidence: nil),
        Row(
            name: "auto that follows Spring's slices to the empty one", style: .automatic,
            pages: [
                page(2, ["number": "0", "last": "false"]), page(2, ["number": "1", "last": "true"]),
                page(0, ["number": "2", "last": "true"]),
            ], evidence: nil),
        Row(
            name: "a closure", style: .custom(name: "weeks") { _, _, _ in .end },
            pages: [page(2, ["total": "3"])],
            evidence: "total says that there are 3 records"),
    ]

    @Test("whatever the style, a walk that ends before the server's own end is an error", arguments: walks)
    func styles(_ row: Row) throws { #expect(try evidence(row)?.description == row.evidence) }

    @Test("an empty page that is the last one by its number is an error with the style from 0")
    func emptyLastPage() throws {
        let pages = [Self.page(10, ["pages": "2"]), Self.page(0, ["pages": "2"])]
        for (style, advice) in [
            (Pagination.automatic, "write paginate: { page_number: { param: page, start: 0, total_pages: pages } };"),
            (Pagination.pageNumber(.query("page"), totalPages: "pages"), "write start: 0 under paginate;"),
        ] {
            let error = #expect(throws: PaginationError.self) { try PaginationStyleTests.walk(style, pages) }
            let text = "\(try #require(error))"
            #expect(text.contains("ends after 10 records at a page that has none, but pages says that there are 2"))
            #expect(text.contains(advice) && text.contains("more: { ignore: ['pages'] }"), "\(text)")
            #expect(throws: Never.self) {
                try PaginationStyleTests.walk(style, pages) { $0.more = .ignoring(["pages"]) }
            }
        }
    }

    @Test("of properties, only a flag of more records belongs to the answer")
    func properties() {
        #expect(PageEvidence.isOfEnvelope("properties.exceededTransferLimit"))
        #expect(PageEvidence.isOfEnvelope("meta.total") && !PageEvidence.isOfEnvelope("properties.pages"))
    }

    @Test(
        "flags of more records have many names",
        arguments: [
            "have_more_results", "hasMoreData", "meta.more_data", "moreResultsAvailable", "has_additional_pages",
        ])
    func flagNames(path: String) {
        #expect(PageEvidence.isMore(path) && !PageEvidence.isEnd(path))
        let error = #expect(throws: PaginationError.self) {
            try PaginationStyleTests.walk(.singlePage, [Self.page(20, [path: "true"])])
        }
        #expect(error.map { "\($0)".contains(path) } == true)
        #expect(throws: Never.self) { try PaginationStyleTests.walk(.singlePage, [Self.page(20, [path: "false"])]) }
    }

    @Test("if a server refuses the last page by the number of pages, the number of the first page is named")
    func refusedLastPage() throws {
        let style = Pagination.pageNumber(.query("page"), totalPages: "pages")
        var sequence = try PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        #expect(sequence.hint(afterStatus: 404) == nil)
        #expect(try sequence.advance(Self.page(10, ["pages": "3"])))
        #expect(sequence.hint(afterStatus: 404) == nil)
        #expect(try sequence.advance(Self.page(10, ["pages": "3"])))
        #expect(sequence.hint(afterStatus: 404)?.hasPrefix("pages says that there are 3 pages") == true)
        #expect(sequence.hint(afterStatus: 500) == nil)
    }

    @Test("auto without a way on is an error that says what the page has")
    func automatic() throws {
        for (values, sign) in [
            (["has_more": "true"], "has_more is true"), (["total": "7"], "total says that there are 7 records"),
        ] {
            let error = #expect(throws: PaginationError.self) {
                try PaginationStyleTests.walk(.automatic, [Self.page(3, values)])
            }
            let text = "\(try #require(error))"
            #expect(text.contains("single_page ends after 3 records, but the page speaks of more: \(sign)"))
            #expect(
                text.contains("Name the style of these pages under paginate")
                    && text.contains("more: { ignore: ['\(values.keys.first!)'] }"))
        }
        let error = #expect(throws: PaginationError.self) {
            try PaginationStyleTests.walk(.singlePage, [Self.page(3, ["next": "/items?page=2"])])
        }
        #expect("\(try #require(error))".contains("Write paginate: { json_link: { path: 'next' } }"))
    }

    @Test("a cursor that the body of the request has sent is no sign, and another one is")
    func cursorOfBody() throws {
        for (cursor, isSign) in [("ab", false), ("10", false), ("1", true), ("abc", true)] {
            let body = TransportBody.json(
                .object([.init("page", .object([.init("after", .string("ab"))])), .init("first", .number("10"))]))
            let request = PageRequest(url: "http://h/items", body: body)
            let taken = PageEvidence.Taken(request, pages: 1, records: 5)
            for name in ["cursor", "next_cursor"] {
                #expect((PageEvidence.find(Self.page(5, [name: cursor]), taken) != nil) == isSign, "\(name) \(cursor)")
            }
        }
    }

    @Test("what the endpoint declares to be no sign does not count, and other signs do")
    func declared() throws {
        func end(_ rule: PageEvidence.Rule, _ values: [String: String], _ fields: [String: String] = [:]) throws
            -> PageEvidence?
        {
            do {
                _ = try PaginationStyleTests.walk(.singlePage, [Self.page(2, values, fields)]) { $0.more = rule }
                return nil
            } catch .more(let evidence, _, _, _, _) {
                return evidence
            }
        }
        #expect(try end(.ignore, ["has_more": "true"], ["Link": "</x>; rel=next"]) == nil)
        #expect(try end(.ignoring(["total", "link"]), ["total": "9"], ["Link": "</x>; rel=next"]) == nil)
        #expect(try end(.ignoring(["total"]), ["total": "9", "meta.total": "8"])?.name == "meta.total")
        #expect(try end(.ignoring(["link[0]"]), ["link[0].rel": "next", "link[0].href": "/x"]) == nil)
    }
}
