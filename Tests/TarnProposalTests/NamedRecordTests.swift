// Lists that a proposal continues by the id of a record.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Lists that are continued by the id of a record")
struct NamedRecordTests {
    @Test(
        "the parameter for the id of the last record is found for a list without a sign of other pages",
        arguments: [
            ("before", true, false, "{ max_id: { param: before } }"),
            ("max_id", true, true, "{ max_id: { param: max_id, includes_named: true } }"),
            ("after", false, false, "{ since_id: { param: after } }"),
        ])
    func parameters(name: String, isNewestFirst: Bool, includesNamed: Bool, style: String) async throws {
        let server = try ScriptedServer { request in
            guard request.target == "/items" || request.target.hasPrefix("/items?") else {
                return .init(status: "404 Not Found")
            }
            let ids = isNewestFirst ? Array((1...57).reversed()) : Array(1...57)
            let named = ItemList.number(name, in: request.target)
            let found = ids.filter { id in
                named.map { (isNewestFirst ? id < $0 : id > $0) || includesNamed && id == $0 } ?? true
            }
            return .init(body: ItemList.items(found.prefix(20)))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: \(style)") && proposal.uncertain == [], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Item") == 57, "\(proposal.text)")
    }

    @Test("a parameter that a server takes for a filter is not the one for the id of a record")
    func filter() async throws {
        let server = try ScriptedServer { request in
            guard !request.target.hasPrefix("/items/") else { return .init(status: "404 Not Found") }
            // A request with `before` gets other records, for every number.
            let ids = request.target.contains("before") ? Array((1...20).reversed()) : Array((41...60).reversed())
            return .init(body: ItemList.items(ids))
        }
        let proposal = try await propose(urls: [server.base + "/items"])
        #expect(proposal.text.contains("paginate: single_page") && proposal.uncertain.count == 1, "\(proposal.text)")
    }
}
