// The end of the lists of a proposal: pages that a server refuses, short pages, counts that are limits.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Ends of the lists of a proposal")
struct ListEndTests {
    @Test(
        "a short list behind which the server refuses a number as invalid is listed whole when it is longer",
        arguments: ["400 Bad Request", "422 Unprocessable Content"], [("page", 1), ("page", 0), ("offset", 0)])
    func invalidNumber(status: String, form: (parameter: String, first: Int)) async throws {
        let count = Mutex(5)
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let names = QueryParameters.values(in: request.target).map(\.name)
            guard names.allSatisfy({ $0 == form.parameter }) else { return .init(status: status) }
            let number = (ItemList.number(form.parameter, in: request.target) ?? form.first) - form.first
            let before = form.parameter == "page" ? number * 10 : number, known = count.withLock { $0 }
            guard before >= 0, before < known else { return .init(status: status) }
            return .init(body: ItemList.items(before + 1...min(before + 10, known)))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("param: \(form.parameter)") && proposal.uncertain == [], "\(proposal.text)")
        #expect(proposal.text.contains("responses: [{ status: \(status.prefix(3)), then: stop }]"), "\(proposal.text)")
        count.withLock { $0 = 25 }
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 25, "\(proposal.text)")
    }

    @Test("a server that refuses every parameter has one page, and one behind a full page is uncertain")
    func refusedParameters() async throws {
        let counts = [(7, true), (20, false)]
        for (count, isCertain) in counts {
            let server = try ScriptedServer { request in
                request.target == "/items" ? .init(body: ItemList.items(1...count)) : .init(status: "400 Bad Request")
            }
            let proposal = try await propose(urls: [server.base + "/items"])
            #expect(proposal.text.contains("paginate: single_page"), "\(proposal.text)")
            #expect(proposal.uncertain.isEmpty == isCertain, "\(proposal.uncertain)")
        }
    }

    @Test(
        "a page that is shorter than its size, behind the pages that are looked at, does not end the list",
        arguments: ["?per_page=10", "?page=1&per_page=10", "?limit=10", "?offset=0&limit=10"])
    func shortPage(query: String) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let offset = ItemList.number("offset", in: request.target)
            let before = offset ?? ((ItemList.number("page", in: request.target) ?? 1) - 1) * 10
            return .init(body: ItemList.items((before + 1..<before + 11).filter { (1...80).contains($0) && $0 != 46 }))
        }
        let proposal = try await propose(urls: [server.base + "/items" + query])
        #expect(proposal.text.contains("end: empty") && proposal.uncertain == [], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 79, "\(proposal.text)")
    }

    @Test("a server that refuses numbers far behind its last page ends a list at its short page")
    func farRefused() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ((ItemList.number("page", in: request.target) ?? 1) - 1) * 10
            return before < 75
                ? .init(body: ItemList.items(before + 1...min(before + 10, 75))) : .init(status: "404 Not Found")
        }
        let proposal = try await propose(urls: [server.base + "/items?per_page=10"])
        #expect(!proposal.text.contains("end: empty"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 75, "\(proposal.text)")
    }

    @Test(
        "a number of what remains, and no parameter that leads to it, is uncertain; one of a quota is not",
        arguments: [(#""remaining":18"#, true), (#""remaining":0"#, false), (#""rate":{"remaining":18}"#, false)])
    func remaining(member: String, isUncertain: Bool) async throws {
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/items/")
                ? .init(status: "404 Not Found") : .init(body: #"{"items":\#(ItemList.items(1...7)),\#(member)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(
            proposal.uncertain.contains { $0.contains("if so many records follow") } == isUncertain,
            "\(proposal.uncertain)")
    }

    @Test("a total that is a lower limit, as of Elasticsearch, does not end the list", arguments: ["hits", "items"])
    func lowerLimit(name: String) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/things/") else { return .init(status: "404 Not Found") }
            let parameter = name == "hits" ? "from" : "offset"
            let items = ItemList.items(behind: ItemList.number(parameter, in: request.target) ?? 0, size: 20)
            let total = #""total":{"value":100,"relation":"gte"}"#
            return .init(
                body: name == "hits" ? #"{"hits":{\#(total),"hits":\#(items)}}"# : #"{\#(total),"items":\#(items)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/things"])
        #expect(!proposal.text.contains("total:"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        let entity = try #require(proposal.entities.first)
        #expect(try mirror.count(entity) == ItemList.count, "\(proposal.text)")
    }

    // MARK: Pages behind the last one

    /// A list of items in pages of 20, and the answer behind the last one.
    private func server(_ count: Int, behind: ScriptedServer.Answer) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ((ItemList.number("page", in: request.target) ?? 1) - 1) * 20
            guard before >= 0, before < count else { return behind }
            return .init(body: #"{"items":\#(ItemList.items(before + 1...min(before + 20, count)))}"#)
        }
    }

    @Test(
        "a page behind the last one that lacks the list gets a rule by which the list is synced whole",
        arguments: [
            (#"{"items":null}"#, "optional: true", true), ("{}", "optional: true", true),
            ("null", "optional: true", true), (#"{"status":0}"#, "optional: true", false),
            (#"{"message": "no more items"}"#, #"contains: '"message": "no more items"', then: empty"#, false),
        ], [5, 25, 40, 75])
    func missingList(behind: (body: String, rule: String, isCertain: Bool), count: Int) async throws {
        let server = try server(count, behind: .init(body: behind.body))
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains(behind.rule), "\(proposal.text)")
        // A server that is busy may answer in the same way.
        #expect(proposal.uncertain.isEmpty == behind.isCertain, "\(proposal.text)")
        #expect(proposal.entities == ["Item"], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == count, "\(proposal.text)")
    }

    @Test(
        "a refusal far behind the last page ends the list; one that may be that of a limit is uncertain",
        arguments: [("404 Not Found", true), ("400 Bad Request", false), ("422 Unprocessable Content", false)])
    func refusedFar(status: String, isCertain: Bool) async throws {
        let server = try server(80, behind: .init(status: status))
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("responses: [{ status: \(status.prefix(3)), then: stop }]"), "\(proposal.text)")
        #expect(proposal.uncertain.isEmpty == isCertain, "\(proposal.uncertain)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 80, "\(proposal.text)")
    }

    @Test("a number of pages in a header field needs no rule for the pages behind")
    func headerCount() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let before = ((ItemList.number("page", in: request.target) ?? 1) - 1) * 20
            guard before >= 0, before < 75 else { return .init(status: "400 Bad Request") }
            return .init(
                fields: ["X-WP-Total: 75", "X-WP-TotalPages: 4"],
                body: ItemList.items(before + 1...min(before + 20, 75)))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.uncertain == [] && !proposal.text.contains("responses:"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 75, "\(proposal.text)")
    }

    // MARK: Signs without a style

    @Test(
        "a sign of other pages that names no style is uncertain",
        arguments: [
            (#""more":"/items?t=2""#, true), (#""paging":{"older":"/items?t=2"}"#, true), (#""finished":false"#, true),
            (#""info":"Page 1 of 5""#, true),
            (#""self":"/items?t=1""#, false), (#""paging":{"help":"/help?t=2"}"#, false), (#""finished":true"#, false),
            (#""info":"Page 5 of 5""#, false), (#""links":[{"rel":"self","href":"/items"}]"#, false),
        ])
    func sign(member: String, isUncertain: Bool) async throws {
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/items/")
                ? .init(status: "404 Not Found") : .init(body: #"{"items":\#(ItemList.items(1...7)),\#(member)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: single_page"), "\(proposal.text)")
        #expect(proposal.uncertain.isEmpty != isUncertain, "\(proposal.text)")
    }

    @Test(
        "a list of links is followed to the last page, as of Atom and of FHIR",
        arguments: [("links", "rel", "href"), ("link", "relation", "url")])
    func linkList(list: String, relation: String, target: String) async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("t", in: request.target) ?? 1
            var links = [("self", page)]
            if page > 1 { links.append(("prev", page - 1)) }
            if page < 5 { links.append(("next", page + 1)) }
            let texts = links.map { #"{"\#(relation)":"\#($0.0)","\#(target)":"/items?t=\#($0.1)"}"# }
            let items = ItemList.items(behind: (page - 1) * 50, size: 50)
            return .init(body: #"{"items":\#(items),"\#(list)":[\#(texts.joined(separator: ","))]}"#)
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: { json_link: { path: '\(list)' } }"), "\(proposal.text)")
        #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        try await expectAll(proposal)
    }

    // MARK: Totals

    /// A list of items in pages of 20 with a total, or with a number of pages.
    private func counted(_ count: Int, _ members: String, repeatsLast: Bool = false) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            var before = ItemList.number("offset", in: request.target) ?? 0
            if let page = ItemList.number("page", in: request.target) { before = (page - 1) * 20 }
            if repeatsLast { before = min(before, count - 20) }
            let items =
                before >= 0 && before < count ? ItemList.items(before + 1...min(before + 20, count)) : "[]"
            return .init(body: #"{"items":\#(items),\#(members)}"#)
        }
    }

    @Test(
        "a round total with records behind it is a limit of the count, and does not end the list",
        arguments: ["?page=1", "?offset=0&limit=20", ""], [#""total":100"#, #""total":100,"pages":5"#])
    func limitedTotal(query: String, members: String) async throws {
        let server = try counted(135, members)
        let proposal = try await propose(urls: [server.base + "/items" + query])
        #expect(proposal.text.contains("it is a limit") && !proposal.text.contains(", total"), "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 135, "\(proposal.text)")
    }

    @Test("a round total without records behind it, or with the last page again, is written", arguments: [false, true])
    func roundTotal(repeatsLast: Bool) async throws {
        let server = try counted(100, #""total":100"#, repeatsLast: repeatsLast)
        let proposal = try await propose(urls: [server.base + "/items?page=1"])
        #expect(proposal.text.contains("total: total") && proposal.uncertain == [], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 100, "\(proposal.text)")
    }
}
