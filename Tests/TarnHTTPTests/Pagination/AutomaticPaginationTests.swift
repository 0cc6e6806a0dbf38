// The style that is chosen for a first page, and the reason given.

import Testing

@testable import TarnHTTP

@Suite("Automatic pagination")
struct AutomaticPaginationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var url = "http://h/items"
        var page: PageFacts
        var pagination: Pagination
        var testDescription: String { name }
    }

    private static func page(_ count: Int, _ values: [String: String] = [:], _ fields: [String: String] = [:])
        -> PageFacts
    {
        PaginationStyleTests.page(count, values, fields)
    }

    static let rows: [Row] = [
        Row(
            name: "GitHub", page: page(30, [:], ["Link": "<http://h/items?page=2>; rel=\"next\""]),
            pagination: .headerLink()),
        Row(
            name: "Django REST", page: page(2, ["count": "5", "next": "http://h/items?page=2"]),
            pagination: .jsonLink(path: "next")),
        Row(
            name: "HAL", page: page(2, ["_links.next.href": "/items?page=2"]),
            pagination: .jsonLink(path: "_links.next")),
        Row(
            name: "JSON:API", page: page(2, ["links.next": "/items?page=2"]), pagination: .jsonLink(path: "links.next")),
        Row(
            name: "a list of links",
            page: page(
                2,
                ["meta.links[0].rel": "self", "meta.links[1].rel": "next", "meta.links[1].href": "/items?page=2"]),
            pagination: .jsonLink(path: "meta.links")),
        Row(
            name: "OData", page: page(2, ["@odata\\.nextLink": "http://h/items?$skip=2"]),
            pagination: .jsonLink(path: "@odata\\.nextLink")),
        Row(
            name: "OData with a relative link", page: page(2, ["@odata\\.nextLink": "Products?$skiptoken=2"]),
            pagination: .jsonLink(path: "@odata\\.nextLink")),
        Row(
            name: "OData 2", page: page(2, ["d.__next": "../V2/Products?$skiptoken=2"]),
            pagination: .jsonLink(path: "d.__next")),
        Row(
            name: "Slack", page: page(2, ["response_metadata.next_cursor": "dXNlcjpVMDYx"]),
            pagination: .cursor(path: "response_metadata.next_cursor", sends: .query("cursor"))),
        Row(
            name: "Google", page: page(2, ["nextPageToken": "abc"]),
            pagination: .cursor(path: "nextPageToken", sends: .query("pageToken"))),
        Row(
            name: "a cursor with has_more", page: page(2, ["next_cursor": "abc", "has_more": "true"]),
            pagination: .cursor(path: "next_cursor", sends: .query("cursor"), hasMore: "has_more")),
        Row(
            name: "pages that are counted", page: page(2, ["meta.total_pages": "7"]),
            pagination: .pageNumber(.query("page"), totalPages: "meta.total_pages")),
        Row(
            name: "pages that are counted, beside a list of links",
            page: page(2, ["total_pages": "7", "links[0].rel": "next", "links[0].href": "http://other/items?page=2"]),
            pagination: .pageNumber(.query("page"), totalPages: "total_pages")),
        Row(
            name: "pages that are counted, by the name of the request", url: "http://h/items?p=1",
            page: page(2, ["total_pages": "7"]),
            pagination: .pageNumber(.query("p"), totalPages: "total_pages")),
        Row(
            name: "an offset", page: page(2, ["total": "9", "offset": "0", "limit": "2"]),
            pagination: .offset(.query("offset"), total: "total")),
        Row(
            name: "Azure", page: page(2, [:], ["x-ms-continuationtoken": "abc"]),
            pagination: .headerCursor(field: "X-MS-ContinuationToken", sends: .query("continuationToken"))),
        Row(
            name: "GitLab", page: page(2, [:], ["X-Next-Page": "2"]),
            pagination: .headerCursor(field: "X-Next-Page", sends: .query("page"))),
        Row(
            name: "Cloudflare", page: page(2, ["result_info.page": "1", "result_info.total_pages": "3"]),
            pagination: .pageNumber(.query("page"), totalPages: "result_info.total_pages")),
        Row(
            name: "Spring, which counts from 0", page: page(2, ["page.number": "0", "page.totalPages": "3"]),
            pagination: .pageNumber(.query("page"), start: 0, totalPages: "page.totalPages")),
        Row(
            name: "the number of the next page", page: page(2, ["meta.next_page": "2", "meta.current_page": "1"]),
            pagination: .cursor(path: "meta.next_page", sends: .query("page"))),
        Row(
            name: "a total and the number of the page", page: page(2, ["total": "9", "page": "1"]),
            pagination: .pageNumber(.query("page"), total: "total")),
        Row(
            name: "API Platform", page: page(2, ["hydra:view.hydra:next": "/items?page=2"]),
            pagination: .jsonLink(path: "hydra:view.hydra:next")),
        Row(
            name: "Salesforce", page: page(2, ["nextRecordsUrl": "/q/2", "done": "false"]),
            pagination: .jsonLink(path: "nextRecordsUrl")),
        Row(
            name: "a cursor at the last page", page: page(2, ["next_cursor": "abc", "has_more": "false"]),
            pagination: .singlePage),
        Row(name: "a total alone", page: page(2, ["total": "9"]), pagination: .singlePage),
        Row(name: "all there is", page: page(2, ["total": "2", "offset": "0"]), pagination: .singlePage),
        Row(name: "one page of one", page: page(2, ["total_pages": "1"]), pagination: .singlePage),
        Row(name: "a next that is a number", page: page(2, ["next": "2"]), pagination: .singlePage),
        Row(name: "nothing", page: page(2), pagination: .singlePage),
    ]

    static let numbers: [Row] = [
        Row(
            name: "Spring's page, at the top", page: page(10, ["number": "0", "totalPages": "3"]),
            pagination: .pageNumber(.query("page"), start: 0, totalPages: "totalPages")),
        Row(
            name: "Spring's page that counts from 1", page: page(10, ["number": "1", "totalElements": "30"]),
            pagination: .pageNumber(.query("page"), total: "totalElements")),
        Row(
            name: "page 0 of the request", url: "http://h/items?page=0", page: page(10, ["totalPages": "3"]),
            pagination: .pageNumber(.query("page"), start: 0, totalPages: "totalPages")),
        Row(
            name: "Spring's slice", page: page(10, ["number": "0", "first": "true", "last": "false"]),
            pagination: .pageNumber(.query("page"), start: 0)),
        Row(
            name: "the number of an issue", page: page(2, ["issue.number": "42", "issue.total": "9"]),
            pagination: .singlePage),
        Row(name: "a number alone", page: page(2, ["number": "0", "total_count": "2"]), pagination: .singlePage),
        Row(
            name: "a page with has_more", page: page(2, ["page": "1", "has_more": "true"]),
            pagination: .pageNumber(.query("page"), hasMore: "has_more")),
        Row(
            name: "Jira", page: page(2, ["startAt": "0", "maxResults": "2", "total": "9"]),
            pagination: .offset(.query("startAt"), total: "total")),
        Row(
            name: "Jira without a total", page: page(2, ["startAt": "0", "isLast": "false"]),
            pagination: .offset(.query("startAt"))),
        Row(
            name: "DummyJSON", page: page(2, ["skip": "0", "limit": "2", "total": "9"]),
            pagination: .offset(.query("skip"), total: "total")),
        Row(
            name: "SCIM, which counts from 1", page: page(2, ["startIndex": "1", "totalResults": "9"]),
            pagination: .offset(.query("startIndex"), start: 1, total: "totalResults")),
        Row(
            name: "an offset with has_more", page: page(2, ["offset": "0", "has_more": "true"]),
            pagination: .offset(.query("offset"), hasMore: "has_more")),
        Row(
            name: "Solr", page: page(2, ["response.start": "0", "response.numFound": "9"]),
            pagination: .offset(.query("start"), total: "response.numFound")),
        Row(
            name: "a time with the name start", page: page(2, ["start": "1764000000", "total": "9"]),
            pagination: .singlePage),
        Row(
            name: "the current page in pagination",
            page: page(2, ["pagination.current": "0", "pagination.total_pages": "6"]),
            pagination: .pageNumber(.query("page"), start: 0, totalPages: "pagination.total_pages")),
    ]

    static let bracketed: [Row] = [
        Row(
            name: "Strapi", url: "http://h/items?pagination%5Bpage%5D=1",
            page: page(2, ["meta.pagination.page": "1", "meta.pagination.pageCount": "3"]),
            pagination: .pageNumber(.query("pagination[page]"), totalPages: "meta.pagination.pageCount")),
        Row(
            name: "Strapi's offset", url: "http://h/items?pagination[limit]=2",
            page: page(2, ["meta.pagination.start": "0", "meta.pagination.total": "9"]),
            pagination: .offset(.query("pagination[start]"), total: "meta.pagination.total")),
        Row(
            name: "JSON:API's size", url: "http://h/items?page[size]=2", page: page(2, ["meta.total": "9"]),
            pagination: .pageNumber(.query("page[number]"), total: "meta.total")),
        Row(
            name: "JSON:API's offset", url: "http://h/items?page[offset]=0&page[limit]=2",
            page: page(2, ["meta.total": "9"]), pagination: .offset(.query("page[offset]"), total: "meta.total")),
        Row(
            name: "ArcGIS", page: page(2, ["exceededTransferLimit": "true"]),
            pagination: .offset(.query("resultOffset"), hasMore: "exceededTransferLimit")),
        Row(
            name: "the World Bank", page: page(2, ["[0].page": "1", "[0].pages": "3", "[0].total": "5"]),
            pagination: .pageNumber(.query("page"), totalPages: "[0].pages")),
    ]

    @Test("names that YAML reads as something else are in quotes")
    func quotedNames() {
        for (url, values, style) in [
            (
                "http://h/items?pagination[page]=0", ["pages": "3"],
                "{ page_number: { param: 'pagination[page]', start: 0, total_pages: pages } }"
            ),
            ("http://h/items", ["[0].pages": "3"], "{ page_number: { param: page, total_pages: '[0].pages' } }"),
            // Swift counts a quote and a mark behind it as one character.
            (
                "http://h/items", ["'\u{301}.pages": "3"],
                "{ page_number: { param: page, total_pages: '''\u{301}.pages' } }"
            ),
            ("http://h/items", ["'\u{301}.next": "/items?c=1"], "{ json_link: { path: '''\u{301}.next' } }"),
            (
                "http://h/items", ["'\u{301}[0].rel": "next", "'\u{301}[0].href": "/items?c=1"],
                "{ json_link: { path: '''\u{301}' } }"
            ),
        ] {
            #expect(AutomaticPagination.choose(PageRequest(url: url), Self.page(2, values)).style == style)
        }
    }

    static let positions: [Row] = [
        Row(
            name: "a cursor in next", page: page(10, ["next.cursor": "10"]),
            pagination: .cursor(path: "next.cursor", sends: .query("cursor"))),
        Row(
            name: "Airtable", page: page(10, ["offset": "itrX9/recA1"]),
            pagination: .cursor(path: "offset", sends: .query("offset"), endsAtEmptyPage: true)),
        Row(
            name: "the offset of the next page", page: page(10, ["offset": "10"]),
            pagination: .cursor(path: "offset", sends: .query("offset"), endsAtEmptyPage: true)),
        Row(
            name: "a cursor alone", page: page(10, ["cursor": "10"]),
            pagination: .cursor(path: "cursor", sends: .query("cursor"), endsAtEmptyPage: true)),
        Row(
            name: "a cursor and a flag", page: page(10, ["cursor": "10", "has_more": "true"]),
            pagination: .cursor(
                path: "cursor", sends: .query("cursor"), hasMore: "has_more", endsAtEmptyPage: true)),
        Row(
            name: "a cursor and a total that is not reached", page: page(10, ["cursor": "ab", "total": "30"]),
            pagination: .cursor(path: "cursor", sends: .query("cursor"), endsAtEmptyPage: true)),
        Row(name: "a cursor and a total", page: page(10, ["cursor": "ab", "total": "10"]), pagination: .singlePage),
        Row(
            name: "a cursor and a flag of the end", page: page(10, ["cursor": "ab", "has_more": "false"]),
            pagination: .singlePage),
        Row(
            name: "the cursor of the request", url: "http://h/items?cursor=ab", page: page(10, ["cursor": "ab"]),
            pagination: .singlePage),
        Row(name: "an empty cursor", page: page(10, ["cursor": ""]), pagination: .singlePage),
        Row(name: "the offset of the page", page: page(10, ["offset": "0"]), pagination: .singlePage),
        Row(name: "the offset of a time zone", page: page(10, ["offset": "3600"]), pagination: .singlePage),
        Row(name: "the offset of a time", page: page(10, ["offset": "+01:00:00"]), pagination: .singlePage),
        Row(
            name: "MediaWiki", page: page(10, ["continue.apcontinue": "Ab", "batchcomplete": "true"]),
            pagination: .cursor(path: "continue.apcontinue", sends: .query("apcontinue"))),
        Row(
            name: "MediaWiki, all parameters of the next request",
            page: page(10, ["continue.gapcontinue": "Ab", "continue.excontinue": "10", "continue.continue": "||"]),
            pagination: .parameters(path: "continue")),
        Row(
            name: "Europe PMC", page: page(10, ["nextCursorMark": "AoI", "hitCount": "57"]),
            pagination: .cursor(path: "nextCursorMark", sends: .query("cursorMark"))),
        Row(
            name: "Matrix", page: page(10, ["next_batch": "p20"]),
            pagination: .cursor(path: "next_batch", sends: .query("since"), endsAtEmptyPage: true)),
        Row(
            name: "two cursors of other servers, which no style sends",
            page: page(10, ["continue.apcontinue": "Ab", "continue.sroffset": "10"]), pagination: .singlePage),
        Row(
            name: "Kubernetes", page: page(10, ["metadata.continue": "eyJ2"]),
            pagination: .cursor(path: "metadata.continue", sends: .query("continue"))),
        Row(
            name: "Reddit", page: page(10, ["data.after": "t3_10"]),
            pagination: .cursor(path: "data.after", sends: .query("after"), endsAtEmptyPage: true)),
        Row(name: "after a day", page: page(10, ["after": "2026-11-01"]), pagination: .singlePage),
        Row(name: "after a time", page: page(10, ["after": "2026-11-01T00:00:00Z"]), pagination: .singlePage),
        Row(
            name: "what a commit was before and after", page: page(10, ["before": "ab12", "after": "cd34"]),
            pagination: .singlePage),
        Row(
            name: "Discourse", page: page(10, ["topic_list.more_topics_url": "/latest?page=1"]),
            pagination: .jsonLink(path: "topic_list.more_topics_url")),
        // Their parameters are unknown: the scan fails.
        Row(name: "Elasticsearch's scroll", page: page(10, ["_scroll_id": "DXF1"]), pagination: .singlePage),
        Row(name: "DynamoDB", page: page(10, ["LastEvaluatedKey.id": "10"]), pagination: .singlePage),
    ]

    @Test(
        "the style follows from the first page, and the reason is said",
        arguments: rows + numbers + bracketed + positions)
    func choice(_ row: Row) throws {
        let choice = AutomaticPagination.choose(PageRequest(url: row.url), row.page)
        #expect(choice.pagination == row.pagination)
        #expect(!choice.reason.isEmpty && !choice.style.isEmpty)
        for path in row.page.values.keys {
            let name = path.split(separator: ".").last.map(String.init) ?? path
            #expect(
                PageEvidence.memberNames.scalars.contains { $0.lowercased() == name.lowercased() }
                    || path.contains("[") && PageEvidence.memberNames.nested.contains(name)
                    || PageEvidence.meaning(of: path) != nil
                    || ["first", "maxResults", "batchcomplete", "continue"].contains(name))
        }
    }

    @Test("the number of the first page is assumed if neither the request nor the answer has it")
    func assumedNumber() throws {
        let forms = [
            ("http://h/items", ["pages": "6"], true), ("http://h/items?page=1", ["pages": "6"], false),
            ("http://h/items", ["pages": "6", "page": "1"], false),
        ]
        for (url, values, isAssumed) in forms {
            let choice = AutomaticPagination.choose(PageRequest(url: url), Self.page(10, values))
            #expect(choice.numbering?.isAssumed == isAssumed, "\(url) \(values)")
            #expect(choice.styleFromZero == "{ page_number: { param: page, start: 0, total_pages: pages } }")
        }
        #expect(AutomaticPagination.choose(PageRequest(url: "http://h/items"), Self.page(10)).numbering == nil)
    }

    @Test("a walk keeps what it has chosen, and ends")
    func walk() throws {
        var pages = try PageSequence(.automatic, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        #expect(pages.choice == nil)
        #expect(try pages.advance(Self.page(2, ["next_cursor": "a"])))
        #expect(pages.url == "http://h/items?cursor=a")
        // A page of another style is not followed, nor passed over.
        let error = #expect(throws: PaginationError.self) { try pages.advance(Self.page(2, ["next": "/items?page=9"])) }
        #expect("\(try #require(error))".contains("next names a next page, /items?page=9"))
        #expect(try !pages.advance(Self.page(2)))
        #expect(pages.choice?.style == "{ cursor: { path: next_cursor, param: cursor } }")
    }

    @Test("a cursor that was guessed and is ignored ends the scan, also if its value changes")
    func ignoredCursor() throws {
        var pages = try PageSequence(.automatic, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        var page = Self.page(2, ["cursor": "a"])
        page.digest = 1
        #expect(try pages.advance(page))
        page.values["cursor"] = "b"
        #expect(throws: PaginationError.samePage(url: "http://h/items?cursor=a")) { try pages.advance(page) }
    }

    @Test("a server that ignores the parameter that was guessed ends the walk with an error, not with a loop")
    func guessedWrong() throws {
        var pages = try PageSequence(.automatic, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        var page = Self.page(2, ["total_pages": "7"])
        page.digest = 1
        #expect(try pages.advance(page))
        #expect(throws: PaginationError.samePage(url: "http://h/items?page=2")) { try pages.advance(page) }
    }

    @Test(
        "a full page without a sign of others may belong to a longer list, unless its 304 has a field that decides",
        arguments: [nil, "Link", "X-Next-Cursor", "X-MS-ContinuationToken"])
    func confirmed(field: String?) throws {
        let pages = try PageSequence(.automatic, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        var headers = TransportHeaders()
        if let field { headers[field] = "</items?page=2>; rel=next" }
        #expect(pages.mayGoOn(Self.page(10), confirmedBy: headers, answeredBy: nil) == (field == nil))
    }
}
