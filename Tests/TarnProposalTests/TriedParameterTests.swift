// Parameters that a proposal tries, and servers that ignore, repeat or filter by them.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Tried parameters of a proposal")
struct TriedParameterTests {
    @Test("a server that counts from 1 and answers to 0 with the first page")
    func zeroIsOne() async throws {
        let server = try ScriptedServer { request in
            let page = max(1, ItemList.number("page", in: request.target) ?? 1)
            return .init(body: ItemList.items(behind: (page - 1) * 12, size: 12))
        }
        let proposal = try await propose(urls: [server.base + "/items?page=0"])
        #expect(proposal.text.contains("start: 1") && proposal.uncertain == [], "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test(
        "a server that answers with its last page to larger numbers", arguments: ["", "?page=1"], [37, 57, 97])
    func repeatedLast(query: String, count: Int) async throws {
        let server = try ScriptedServer { request in
            let page = max(1, min((count + 19) / 20, ItemList.number("page", in: request.target) ?? 1))
            return .init(body: ItemList.items(page * 20 - 19...min(page * 20, count)))
        }
        let proposal = try await propose(urls: [server.base + "/items" + query])
        #expect(proposal.text.contains("end: repeated"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == count)
    }

    @Test("a full page that the server repeats far behind may be its limit, and is uncertain")
    func repeatedFull() async throws {
        let server = try ScriptedServer { request in
            let page = max(1, min(5, ItemList.number("page", in: request.target) ?? 1))
            return .init(body: ItemList.items(page * 20 - 19...page * 20))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("end: repeated"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("one page to all numbers far behind") }, "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        #expect(try mirror.count("Item") == 100 && mirror.report.failures.isEmpty, "\(proposal.text)")
    }

    @Test("a last page that the server repeats counts once, also for records that their positions name")
    func repeatedPositions() async throws {
        let server = try ScriptedServer { request in
            let page = max(1, min(3, ItemList.number("page", in: request.target) ?? 1))
            let values = (page * 20 - 19...min(page * 20, 47)).map { #"{"value":\#($0).5}"# }
            return .init(body: "[" + values.joined(separator: ",") + "]")
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("end: repeated") && proposal.text.contains("'@position'"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 47, "\(proposal.text)")
    }

    @Test("`skip` is tried if the answer says that there is more, as in CouchDB")
    func skip() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ItemList.number("skip", in: request.target) ?? 0
            let rows = ItemList.items(behind: before, size: 50)
            return .init(body: #"{"total_rows":\#(ItemList.count),"offset":\#(before),"rows":\#(rows)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items?limit=50"])
        #expect(proposal.text.contains("offset: { param: skip"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("an offset that is 1 on the first page counts from 1, as in the catalog of the USGS")
    func offsetFromOne() async throws {
        let server = try ScriptedServer { request in
            let offset = ItemList.number("offset", in: request.target) ?? 1
            guard !request.target.hasPrefix("/items/"), offset > 0 else { return .init(status: "400 Bad Request") }
            let items = ItemList.items(behind: offset - 1, size: 20)
            return .init(body: #"{"metadata":{"limit":20,"offset":\#(offset)},"items":\#(items)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items?limit=20"])
        #expect(proposal.text.contains("offset: { param: offset, start: 1"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a parameter of the URL that seems to number pages, and leads to no others, is uncertain")
    func ignoredNumber() async throws {
        let server = try ScriptedServer { _ in .init(body: ItemList.items(1...3)) }
        let proposal = try await propose(urls: [server.base + "/items?page=1"])
        #expect(proposal.uncertain.contains { $0.contains("parameter `page`") }, "\(proposal.uncertain)")
    }

    @Test("a parameter that the URL has several times is sent with all of its values")
    func repeatedParameter() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/items?") else { return .init(status: "404 Not Found") }
            let parts = QueryParameters.values(in: request.target).filter { $0.name == "part" }
            return .init(body: ItemList.items(parts.compactMap { Int($0.value) }.flatMap { $0 * 10..<$0 * 10 + 4 }))
        }
        let proposal = try await propose(urls: [server.base + "/items?part=1&sort=id&part=2"])
        #expect(proposal.text.contains("with: { part: [1, 2], sort: id }"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 8, "\(proposal.text)")
    }

    @Test(
        "a server that takes parameters for filters, or has other records for each request, has no pages",
        arguments: [true, false])
    func noOffset(isFilter: Bool) async throws {
        let count = Mutex(0)
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            guard !isFilter else { return .init(body: request.target == "/items" ? ItemList.items(1...20) : "[]") }
            let first = count.withLock { count in
                count += 20
                return count
            }
            return .init(body: ItemList.items(first..<first + 20))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: single_page") && proposal.uncertain.count == 1, "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 20, "\(proposal.text)")
    }

    @Test("an offset is found for pages of an unusual size, and beside a parameter that may be a date")
    func unusualOffset() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            return .init(body: ItemList.items(behind: ItemList.number("offset", in: request.target) ?? 0, size: 7))
        }
        let proposal = try await propose(urls: [server.base + "/items?from=2026-01-01"])
        #expect(proposal.text.contains("{ offset: { param: offset } }"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test(
        "a page with fewer records than are asked for is not the last one, if another one follows it",
        arguments: ["?page=1&per_page=10", "?per_page=10", "?offset=0&limit=10"])
    func gaps(query: String) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let offset = ItemList.number("offset", in: request.target)
            let page = ItemList.number("page", in: request.target) ?? 1
            let first = query.contains("offset") ? offset ?? 0 : (page - 1) * 10
            return .init(body: ItemList.items((first + 1..<first + 11).filter { (1...60).contains($0) && $0 != 13 }))
        }
        let proposal = try await propose(urls: [server.base + "/items" + query])
        #expect(proposal.text.contains("end: empty"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 59, "\(proposal.text)")
    }

    @Test("a second page with the records of the first one in another order is the same page, and is uncertain")
    func reordered() async throws {
        let server = try ScriptedServer { request in
            let page = ItemList.number("page", in: request.target) ?? 1
            return .init(body: page == 1 ? ItemList.items(1...9) : ItemList.items((1...9).reversed()))
        }
        let proposal = try await propose(urls: [server.base + "/items?page=1"])
        #expect(proposal.text.contains("paginate: single_page"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("parameter `page`") }, "\(proposal.uncertain)")
    }

    @Test(
        "a list that is shorter than a page today is requested by pages, whatever the server has behind it",
        arguments: ["page", "offset"], [true, false])
    func shortToday(parameter: String, isRefused: Bool) async throws {
        let count = Mutex(2)
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1
            let offset = ItemList.number("offset", in: request.target) ?? 0
            let before = parameter == "page" ? (page - 1) * 20 : offset, known = count.withLock { $0 }
            guard before < known || !isRefused else { return .init(status: "404 Not Found") }
            return .init(body: ItemList.items(before + 1..<max(before + 1, min(before + 21, known + 1))))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("param: \(parameter)") && proposal.uncertain == [], "\(proposal.text)")
        count.withLock { $0 = 45 }
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 45, "\(proposal.text)")
    }

    @Test(
        "a parameter that a server takes for a filter is not the one that an answer suggests",
        arguments: [#""next_cursor":"t&""#, #""page":1,"total_pages":3"#])
    func unknownToServer(_ members: String) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let items = request.target == "/items" ? ItemList.items(1...10) : "[]"
            return .init(body: #"{"items":\#(items)\#(items == "[]" ? "" : "," + members)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(
            proposal.uncertain.contains { $0.contains("has no other records than the first one") },
            "\(proposal.text)")
    }

    @Test("the number of pages under a name that YAML takes for something else is written in quotes")
    func attributes() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("page", in: request.target) ?? 1
            let items = ItemList.items(behind: (page - 1) * 50, size: 50)
            return .init(body: #"{"top":{"item":\#(items),"@attr":{"page":"\#(page)","totalPages":"5"}}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("total_pages: 'top.@attr.totalPages'"), "\(proposal.text)")
        try await expectAll(proposal)
    }

    @Test("a list beside many members about the page, as Twilio's, and a page with an id, as ActivityPub's")
    func envelopes() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("Page", in: request.target) ?? 0
            let next = page < 4 ? #""/items?Page=\#(page + 1)""# : "null"
            let members = #""end":9,"first_page_uri":"/items","page":\#(page),"page_size":50,"start":0,"uri":"/items""#
            let items = ItemList.items(behind: page * 50, size: 50)
            return .init(
                body: request.target.hasPrefix("/items")
                    ? #"{\#(members),"next_page_uri":\#(next),"messages":\#(items)}"#
                    : #"{"id":"/outbox?page=1","next":"/outbox?page=2","orderedItems":\#(items)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: { json_link: { path: 'next_page_uri' } }"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Message") == ItemList.count, "\(proposal.text)")
        let other = try await propose(urls: [server.base + "/outbox"])
        #expect(other.uncertain.contains { $0.contains("`next` names another page") }, "\(other.uncertain)")
    }

    /// Answers with 57 items in pages of 20, whatever tells them apart.
    private func server(
        _ wrap: @escaping @Sendable (_ items: String, _ before: Int) -> String,
        before: @escaping @Sendable (_ target: String) -> Int
    ) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard request.target.hasPrefix("/items") else { return .init(status: "404 Not Found") }
            let first = before(request.target)
            let ids = first < 57 ? Array(first + 1...min(first + 20, 57)) : []
            return .init(body: wrap(ItemList.items(ids), first))
        }
    }

    @Test("the names and first numbers that an answer has are tried", arguments: ["pageIndex", "pageNo"], [0, 1])
    func namedByAnswer(name: String, start: Int) async throws {
        let server = try server { items, before in
            #"{"items":\#(items),"\#(name)":\#(before / 20 + start),"pageSize":20,"totalCount":57,"totalPages":3}"#
        } before: { target in
            max(0, ((ItemList.number(name, in: target) ?? start) - start) * 20)
        }
        for query in ["", "?\(name)=\(start)&pageSize=20"] {
            let proposal = try await propose(urls: [server.base + "/items" + query])
            #expect(proposal.text.contains("param: \(name)") && proposal.uncertain == [], "\(proposal.text)")
            try await expect57(proposal)
        }
    }

    @Test("pages behind an answer that speaks of an offset, and an offset behind one that counts pages")
    func otherUnit() async throws {
        let pages = try server { items, before in
            #"{"items":\#(items),"start":\#(before),"limit":20,"length":20,"total":57}"#
        } before: { target in
            (ItemList.number("page", in: target) ?? 0) * 20
        }
        let offsets = try server { items, before in
            #"{"items":\#(items),"start_index":\#(before),"page_number":\#(before / 20 + 1),"total_results":57}"#
        } before: { target in
            ItemList.number("start_index", in: target) ?? 0
        }
        let ones = try server { items, before in
            #"{"items":\#(items),"start_index":\#(before + 1),"page_number":\#(before / 20 + 1),"total_results":57}"#
        } before: { target in
            max(0, (ItemList.number("start_index", in: target) ?? 1) - 1)
        }
        let forms = [
            (pages, "param: page, start: 0"), (offsets, "param: start_index"), (ones, "param: start_index, start: 1"),
        ]
        for (server, style) in forms {
            let proposal = try await propose(urls: [server.base + "/items"])
            #expect(proposal.text.contains(style) && proposal.uncertain == [], "\(proposal.text)")
            try await expect57(proposal)
        }
    }

    @Test("a cursor under its own name, beside a number of pages")
    func ownName() async throws {
        let server = try server { items, before in
            let next = before + 20 < 57 ? #","continuation":"c\#(before + 20)""# : ""
            return #"{"items":\#(items),"pagination":{"page_number":\#(before / 20 + 1),"page_count":3,"#
                + #""has_more_items":\#(before + 20 < 57)\#(next)}}"#
        } before: { target in
            QueryParameters.values(in: target).first { $0.name == "continuation" }
                .flatMap { Int($0.value.dropFirst()) } ?? 0
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("param: continuation") && proposal.uncertain == [], "\(proposal.text)")
        try await expect57(proposal)
    }

    @Test("numbers, if the server refuses the page of its own link")
    func refusedLink() async throws {
        let server = try server { items, before in
            let next = before + 20 < 57 ? #""next":"/rest/items?limit=20&start=\#(before + 20)","# : ""
            return #"{"results":\#(items),"start":\#(before),"limit":20,"size":\#(min(20, 57 - before)),"#
                + #""_links":{\#(next)"base":"https://x.example/wiki"}}"#
        } before: { target in
            ItemList.number("start", in: target) ?? 0
        }
        let proposal = try await propose(urls: [server.base + "/items?limit=20"])
        #expect(proposal.text.contains("param: start") && proposal.uncertain == [], "\(proposal.text)")
        try await expect57(proposal)
    }

    @Test("links without an end are replaced by numbers, or end at the total", arguments: [17, 57])
    func endlessLinks(count: Int) async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/items") else { return .init(status: "404 Not Found") }
            let before = ItemList.number("offset", in: request.target) ?? 0
            let ids = before < count ? Array(before + 1...min(before + 20, count)) : []
            return .init(
                body: #"{"success":true,"result":{"limit":20,"records":\#(ItemList.items(ids)),"total":\#(count),"#
                    + #""_links":{"start":"/items","next":"/items?offset=\#(before + 20)"}}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == count && proposal.uncertain == [], "\(proposal.text)")
    }

    @Test(
        "an endless link that is ignored has the name of its evidence, and is uncertain without a total",
        arguments: [#""next":"$""#, #""next":{"href":"$"}"#, ""], [true, false])
    func ignoredLink(form: String, hasTotal: Bool) async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/items") else { return .init(status: "404 Not Found") }
            let before = ItemList.number("offset", in: request.target) ?? 0, next = "/items?offset=\(before + 20)"
            return .init(
                fields: form.isEmpty ? ["Link: <\(next)>; rel=\"next\""] : [],
                body: #"{"items":\#(ItemList.items(before == 0 ? Array(1...17) : []))"#
                    + (hasTotal ? #","total":17"# : "") + #","_links":{\#(form.replacing("$", with: next))}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.uncertain.isEmpty == hasTotal, "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 17, "\(proposal.text)")
    }

    @Test("a cursor beside a list is read before hundreds of numbers that are deeper")
    func crowdedAnswer() throws {
        let numbers = (0..<100).map { #""n\#($0)":\#($0)"# }.joined(separator: ",")
        let body =
            #"{"facets":{"a":{\#(numbers)},"b":{\#(numbers)},"c":{\#(numbers)}},"#
            + #""items":[{"id":1}],"next_cursor":"c1"}"#
        let page = Sample.Page(url: "/items", body: Array(body.utf8), json: try JSONValue(body))
        let facts = PageReader.facts(page, [FoundList(steps: [.key("items")], isList: true)])
        #expect(facts.values["next_cursor"] == "c1")
    }

    @Test("a cursor beside a list that is deep, as GraphQL has it", arguments: [false, true])
    func deepCursor(isDeeper: Bool) async throws {
        let server = try server { items, before in
            let list =
                #"{"items":{"nodes":\#(items),"pageInfo":{"hasNextPage":\#(before + 20 < 57),"#
                + #""endCursor":"c\#(before + 20)"}}}"#
            return isDeeper ? #"{"data":{"viewer":\#(list)}}"# : #"{"data":\#(list)}"#
        } before: { target in
            QueryParameters.values(in: target).first { $0.name == "after" }
                .flatMap { Int($0.value.dropFirst()) } ?? 0
        }
        let proposal = try await propose(urls: [server.base + "/items?first=20"])
        #expect(proposal.text.contains("param: after") && proposal.uncertain == [], "\(proposal.text)")
        try await expect57(proposal)
    }

    private func expect57(_ proposal: Proposal, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean(sourceLocation: sourceLocation)
        #expect(try mirror.count("Item") == 57, "\(proposal.text)", sourceLocation: sourceLocation)
    }
}
