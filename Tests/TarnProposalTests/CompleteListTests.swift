// Proposals reach every record of a list, or state that they may not.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Complete lists of a proposal")
struct CompleteListTests {
    private typealias Specification = TestSpecification

    // MARK: Page sizes

    @Test(
        "a page size is sent only if it is declared, and a shorter page is not the last one",
        arguments: [
            ([Specification.query("page", #"{"default":1}"#), Specification.query("per_page")], nil),
            (
                [
                    Specification.query("page", #"{"default":1}"#),
                    Specification.query("per_page", #"{"enum":[10,25,50]}"#),
                ], "per_page: { per_page: 50 }"
            ),
            (
                [
                    Specification.query("page", #"{"default":1}"#),
                    Specification.query("per_page", #"{"default":20,"maximum":100}"#),
                ], "end: empty"
            ),
            ([Specification.query("offset"), Specification.query("limit")], nil),
            ([Specification.query("offset"), Specification.query("limit", #"{"maximum":100}"#)], "end: empty"),
        ], [false, true])
    func declaredSizes(_ form: (parameters: [String], text: String?), live: Bool) async throws {
        let server = try ItemList.server()
        let specification = Specification(
            paths: [("/items", Specification.get(Specification.list("Item"), form.parameters.joined(separator: ",")))],
            server: server.base)
        let proposal = try await specification.proposal(live: live)
        if let text = form.text { #expect(proposal.text.contains(text), "\(proposal.text)") }
        #expect(!proposal.text.contains(": 100 }") || !live, "\(proposal.text)")
        if form.text == nil { #expect(!proposal.text.contains("per_page: {"), "\(proposal.text)") }
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        try await expectAll(proposal)
    }

    @Test(
        "a server that returns fewer records than the URL requests is asked for the next page",
        arguments: ["?page=1&per_page=100", "?offset=0&limit=100", "?per_page=100", "?limit=100", ""])
    func sizeOfURL(query: String) async throws {
        let server = try ItemList.server()
        let proposal = try await propose(urls: [server.base + "/items" + query])
        #expect(proposal.uncertain == [] && !proposal.text.contains(": 100"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a URL that names the second page of a server that counts from 0 leads to all pages")
    func secondPageOfURL() async throws {
        let server = try ItemList.server(first: 0)
        let proposal = try await propose(urls: [server.base + "/items?page=1&per_page=50"])
        #expect(proposal.text.contains("start: 0"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a declared page size that the server refuses is not written")
    func refusedSize() async throws {
        let server = try ScriptedServer { request in
            ItemList.number("per_page", in: request.target) ?? 0 > ItemList.cap
                ? .init(status: "400 Bad Request") : .init(body: ItemList.page(request.target))
        }
        let specification = Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.list("Item"), Specification.query("page"),
                        Specification.query("per_page", #"{"maximum":100}"#))
                )
            ], server: server.base)
        let proposal = try await specification.proposal(live: true)
        #expect(!proposal.text.contains("per_page: {"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a short first page with an empty one behind it may be longer tomorrow")
    func emptySecondPage() async throws {
        let server = try ScriptedServer { request in
            .init(body: ItemList.number("page", in: request.target) == 1 ? ItemList.items(1...7) : "[]")
        }
        let text = try await propose(urls: [server.base + "/items?page=1&per_page=100"]).text
        #expect(text.contains("page_number: { param: page, start: 1, per_page: { per_page: 100 }, end: empty }"))
    }

    @Test("a refused second page behind a short first one is the end of the list")
    func refusedSecondPage() async throws {
        let server = try ScriptedServer { request in
            ItemList.number("page", in: request.target) == 1
                ? .init(body: ItemList.items(1...7)) : .init(status: "404 Not Found")
        }
        let proposal = try await propose(urls: [server.base + "/items?page=1&per_page=100"])
        #expect(proposal.text.contains("per_page: { per_page: 100 } } }"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(try mirror.count("Item") == 7 && mirror.report.failures.isEmpty)
    }

    @Test("a list that may be a full page, at a server without a known parameter, is uncertain", arguments: [20, 7])
    func unknownParameter(count: Int) async throws {
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/items/")
                ? .init(status: "404 Not Found") : .init(body: ItemList.items(1...count))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        let isUncertain = count == 20
        #expect(proposal.uncertain.count == (isUncertain ? 1 : 0), "\(proposal.uncertain)")
        #expect(proposal.text.contains("UNCERTAIN: 20 records may be a first page") == isUncertain, "\(proposal.text)")
        #expect(proposal.text.contains("paginate: single_page"))
        #expect(server.targets.contains("/items?page=2"))
        #expect(server.targets.contains("/items?offset=\(count)"))
    }

    @Test(
        "the next page is requested by the usual parameter, for any size of a page and beside any sign of more",
        arguments: [("", 12), (#","isLast":%"#, 17), (#","more":%"#, 17), (#","remaining":9"#, 7)])
    func unusualSizes(_ members: String, size: Int) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ((ItemList.number("page", in: request.target) ?? 1) - 1) * size
            let isLast = before + size >= ItemList.count
            let members = members.replacing("%", with: "\(members.contains("isLast") == isLast)")
            return .init(body: #"{"items":\#(ItemList.items(behind: before, size: size))\#(members)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        try await expectAll(proposal)
    }

    @Test("a server that refuses the page behind the last one ends the list with it")
    func refusedEnd() async throws {
        let server = try ScriptedServer { request in
            let page = ItemList.number("page", in: request.target) ?? 1
            return (1...2).contains(page)
                ? .init(body: ItemList.items(page == 1 ? 1...20 : 21...27)) : .init(status: "404 Not Found")
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("responses: [{ status: 404, then: stop }]"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 27)
    }

    @Test("a server that refuses the page behind a full last one ends the list with it", arguments: [20, 40])
    func refusedBehindFullPage(count: Int) async throws {
        let server = try ScriptedServer { request in
            let first = ((ItemList.number("page", in: request.target) ?? 1) - 1) * 20 + 1
            return !request.target.hasPrefix("/items/") && (1..<count).contains(first)
                ? .init(body: ItemList.items(first..<first + 20)) : .init(status: "404 Not Found")
        }
        let proposal = try await propose(urls: [server.base + "/items?page=1&per_page=20"])
        #expect(proposal.text.contains("responses: [{ status: 404, then: stop }]"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == count)
    }

    @Test(
        "a cursor that is a word for nothing marks the last page", arguments: ["null", "LTE=", "0", "-1"],
        [true, false])
    func lastCursor(value: String, isRefused: Bool) async throws {
        let server = try ScriptedServer { request in
            let cursor = QueryParameters.values(in: request.target).first { $0.name == "cursor" }?.value
            guard !request.target.hasPrefix("/items/"), cursor != value || !isRefused else {
                return .init(status: "400 Bad Request")
            }
            let before = cursor.flatMap { Int($0.dropFirst(3)) } ?? 0, next = before < 40 ? "tok\(before + 20)" : value
            return .init(body: #"{"items":\#(ItemList.items(before..<before + 20)),"next_cursor":"\#(next)"}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains(", last: ") && proposal.text.contains(value), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 60)
    }

    @Test("a page size without a parameter of the position is uncertain")
    func sizeAlone() async throws {
        let specification = Specification(
            paths: [("/items", Specification.get(Specification.list("Item"), Specification.query("limit")))],
            server: "https://a.example")
        let proposal = try await specification.proposal()
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains("limit"), "\(proposal.uncertain)")
    }

    // MARK: First pages

    @Test("the number of the first page is that of the page that the server returns without one", arguments: [0, 1])
    func liveStart(first: Int) async throws {
        let server = try ItemList.server(first: first, size: "size")
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.list("Item"), Specification.query("page"),
                        Specification.query("size", #"{"maximum":20}"#))
                )
            ], server: server.base
        ).proposal(live: true)
        #expect(proposal.text.contains("start: \(first),"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        try await expectAll(proposal)
    }

    @Test(
        "the number of the first page is declared in words, or by the form of the response",
        arguments: [
            (#","description":"Zero-based page index (0..N)""#, "", 0), (#","description":"starts at 1""#, "", 1),
            ("", #","number":{"type":"integer"},"first":{"type":"boolean"},"last":{"type":"boolean"}"#, 0),
        ])
    func declaredStart(_ more: String, _ members: String, start: Int) async throws {
        let proposal = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.object(#""content":\#(Specification.list("Item"))\#(members)"#),
                        Specification.query("page", #"{"type":"integer"}"#, more))
                )
            ], server: "https://a.example"
        ).proposal()
        #expect(proposal.text.contains("param: page, start: \(start) }"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
    }

    @Test("a number of the first page that is not declared is uncertain, with the alternative")
    func undeclaredStart() async throws {
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list("Item"), Specification.query("page")))],
            server: "https://a.example"
        ).proposal()
        #expect(proposal.uncertain.count == 1, "\(proposal.uncertain)")
        #expect(proposal.text.contains("# or paginate: { page_number: { param: page, start: 0 } }"), "\(proposal.text)")
    }

    // MARK: Other styles

    @Test("$top of OData limits the whole list: it is never sent", arguments: [false, true])
    func odata(live: Bool) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ItemList.number("$skip", in: request.target) ?? 0
            let top = ItemList.number("$top", in: request.target) ?? .max
            let next =
                before + 50 < ItemList.count && top > 50
                ? #","@odata.nextLink":"http://\#(request.field("Host") ?? "")/items?$skip=\#(before + 50)""#
                    .replacing("$skip", with: top < .max ? "$top=\(top - 50)&$skip" : "$skip") : ""
            return .init(body: #"{"value":\#(ItemList.items(behind: before, size: min(50, top)))\#(next)}"#)
        }
        let specification = Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.object(
                            #""value":\#(Specification.list("Item")),"@odata.nextLink":{"type":"string"}"#),
                        Specification.query("$skip"), Specification.query("$top"))
                )
            ], server: server.base)
        let proposal = try await specification.proposal(live: live)
        #expect(!proposal.text.contains("$top"), "\(proposal.text)")
        try await expectAll(proposal)
        let byURL = try await propose(urls: [server.base + "/items?$top=100"])
        #expect(!byURL.text.contains("$top:") && !byURL.text.contains("'$top':"), "\(byURL.text)")
        try await expectAll(byURL)
    }

    @Test("a parameter takes the id of the last record, or a cursor of a header field")
    func otherCursors() async throws {
        let server = try ScriptedServer { request in
            let after = ItemList.number("after_id", in: request.target)
            let token = ItemList.number("continuationToken", in: request.target)
            let before = after ?? token ?? 0
            let isLast = before + 40 >= ItemList.count
            let fields =
                request.target.hasPrefix("/tokens") && !isLast ? ["x-ms-continuationtoken: \(before + 40)"] : []
            return .init(fields: fields, body: ItemList.items(behind: before, size: 40))
        }
        let byID = try await Specification(
            paths: [
                (
                    "/items",
                    Specification.get(
                        Specification.list("Item"), Specification.query("after_id"), Specification.query("limit"))
                )
            ], server: server.base
        ).proposal()
        #expect(byID.text.contains("paginate: { since_id: { param: after_id } }"), "\(byID.text)")
        #expect(byID.uncertain.count == 1 && byID.text.contains("# or paginate: { max_id: { param: after_id } }"))
        try await expectAll(byID)
        let byHeader = try await Specification(
            paths: [
                (
                    "/tokens",
                    Specification.get(
                        Specification.list("Item"), Specification.query("continuationToken", #"{"type":"string"}"#),
                        headers: #"{"x-ms-continuationtoken":{"schema":{"type":"string"}}}"#)
                )
            ], server: server.base
        ).proposal()
        #expect(byHeader.uncertain == [], "\(byHeader.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), byHeader)
        mirror.expectClean()
        #expect(try mirror.count(byHeader.entities[0]) == ItemList.count, "\(byHeader.text)")
    }

    @Test("all values of a path parameter with an enum are requested")
    func partitions() async throws {
        let server = try ScriptedServer { request in
            switch request.target {
            case "/de/items": .init(body: ItemList.items(1...45))
            case "/en/items": .init(body: ItemList.items(101...105))
            default: .init(status: "404 Not Found")
            }
        }
        let proposal = try await Specification(
            paths: [
                (
                    "/{lang}/items",
                    Specification.get(
                        Specification.list("Item"), Specification.path("lang", #"{"type":"string","enum":["de","en"]}"#)
                    )
                )
            ], server: server.base
        ).proposal()
        #expect(proposal.text.contains("partitions: { lang: [de, en] }"), "\(proposal.text)")
        // The ids may be unique only within a language.
        #expect(proposal.uncertain.count == 1 && proposal.uncertain[0].contains("'@param.lang'"))
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(try mirror.count("Item") == 50)
    }

    @Test("media types of JSON are those with JSON in them, or any", arguments: ["text/json", "application/*", "*/*"])
    func mediaTypes(type: String) async throws {
        let proposal = try await Specification(
            paths: [("/items", Specification.get(Specification.list("Item"), type: type))], server: "https://a.example"
        ).proposal()
        #expect(proposal.endpoints == ["items"])
    }

    // MARK: First requests, siblings and inner lists

    @Test("the cursor of the first request is written and sent", arguments: ["cursor=*", "cursorMark=*", "after=0"])
    func firstCursor(query: String) async throws {
        let name = String(query.split(separator: "=")[0])
        let server = try ScriptedServer { request in
            guard let value = QueryParameters.values(in: request.target).first(where: { $0.name == name })?.value else {
                return .init(status: "400 Bad Request")
            }
            let start = Int(value) ?? 0, end = min(start + 50, ItemList.count)
            return .init(
                body: #"{"items":\#(ItemList.items(behind: start, size: 50)),"next_\#(name)":"\#(end)"}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items?" + query])
        #expect(proposal.text.contains("param: \(name), start: "), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("the lists of several parents have the style of the longest that is looked at", arguments: [false, true])
    func siblings(isLinked: Bool) async throws {
        let counts = [7, 2, 45, 30]
        let server = try ScriptedServer { request in
            let path = request.target.split(separator: "?")[0]
            guard path != "/users" else { return .init(body: ItemList.items(1...4)) }
            guard path.hasSuffix("/posts"), let user = path.dropLast(6).last?.wholeNumberValue,
                counts.indices.contains(user - 1)
            else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1, first = (page - 1) * 20
            let ids = (first..<max(first, min(page * 20, counts[user - 1]))).map { user * 100 + $0 }
            return .init(
                fields: isLinked && counts[user - 1] > page * 20
                    ? ["Link: <\(path)?page=\(page + 1)>; rel=\"next\""] : [],
                body: ItemList.items(ids))
        }
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/1/posts"])
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Post") == 84, "\(proposal.text)")
    }

    @Test("a list that is empty for the first parent is described by those of others", arguments: ["parts", "data"])
    func emptyFirst(_ name: String) async throws {
        let counts = [0, 2, 25, 0, 7]
        let server = try ScriptedServer { request in
            let path = request.target.split(separator: "?")[0]
            guard path != "/users" else { return .init(body: ItemList.items(1...5)) }
            guard path.hasSuffix("/parts"), let user = path.dropLast(6).last?.wholeNumberValue,
                counts.indices.contains(user - 1)
            else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1, first = (page - 1) * 20
            let ids = (first..<max(first, min(page * 20, counts[user - 1]))).map { user * 100 + $0 }
            return .init(body: #"{"\#(name)":\#(ItemList.items(ids))}"#)
        }
        let proposal = try await propose(urls: [server.base + "/users", server.base + "/users/1/parts"])
        #expect(proposal.text.contains("path: /users/{user.id}/parts"), "\(proposal.text)")
        #expect(proposal.text.contains("This list has no records: those of"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Part") == 34, "\(proposal.text)")
    }

    @Test("a longer list of facets beside a list is not what the pages have")
    func facets() async throws {
        let server = try ScriptedServer { request in
            let items = ItemList.items(behind: ((ItemList.number("page", in: request.target) ?? 1) - 1) * 10, size: 10)
            return .init(body: #"{"products":\#(items),"lookup":{"countries":\#(ItemList.items(500...540))}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/products"])
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Product") == ItemList.count, "\(proposal.text)")
    }

    @Test(
        "a total that the pages refute is not written",
        arguments: [("page", 7), ("page", 12), ("offset", 12)])
    func refutedTotal(parameter: String, size: Int) async throws {
        let server = try ScriptedServer { request in
            let page = (ItemList.number("page", in: request.target) ?? 1) - 1
            let before = parameter == "page" ? page * size : ItemList.number("offset", in: request.target) ?? 0
            // The number of records of the page, or of those that remain.
            let total = size == 7 ? size : max(0, ItemList.count - before)
            return .init(
                body:
                    #"{"items":\#(ItemList.items(behind: before, size: size)),"total":\#(total),"\#(parameter)":\#(parameter == "page" ? page + 1 : before)}"#
            )
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(!proposal.text.contains("total: total"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a second page that shares a record with the first one is another page", arguments: ["page", "offset"])
    func sharedRecord(parameter: String) async throws {
        let server = try ScriptedServer { request in
            let size = parameter == "page" ? 7 : 10
            let page = (ItemList.number("page", in: request.target) ?? 1) - 1
            let offset = ItemList.number("offset", in: request.target) ?? 0
            let before = parameter == "page" ? page * (size - 1) : max(0, offset - 1)
            return .init(body: ItemList.items(behind: before, size: before + size > ItemList.count ? 0 : size))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("param: \(parameter)"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
    }

    @Test("a window of the latest records that moves is no list with pages, and is uncertain")
    func movingWindow() async throws {
        let count = Mutex(0)
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let first = count.withLock { count in
                count += 1
                return 500 - count
            }
            return .init(body: ItemList.items(first..<first + 10))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: single_page"), "\(proposal.text)")
        #expect(
            proposal.uncertain.contains { $0.contains("`page` leads to 10 records, 1 of them new") },
            "\(proposal.uncertain)")
    }

    @Test("a list inside of another object that alone tells of other pages is described too")
    func innerList() async throws {
        let server = try ScriptedServer { request in
            let page = ItemList.number("page", in: request.target) ?? 0
            let more = page < 2 ? #","more_topics_url":"/latest?page=\#(page + 1)""# : ""
            return .init(
                body:
                    #"{"users":\#(ItemList.items(1...6)),"topic_list":{"topics":\#(ItemList.items(page * 30 + 1...page * 30 + 30))\#(more)}}"#
            )
        }
        let mirror = try await ProposedMirror(
            CurlTransport(), try await propose(urls: [server.base + "/latest"]))
        mirror.expectClean()
        #expect(try mirror.count("Topic") == 90 && mirror.count("User") == 6, "\(mirror.proposal.text)")
    }
}
