// Proposals for records that an answer has beside those that it lists.

import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Side-loaded lists of a proposal")
struct SideLoadedListTests {
    @Test(
        "of several lists, the one that has pages comes first, and the others may be equal",
        arguments: ["", "?offset=0"])
    func sideLoaded(query: String) async throws {
        let server = try ScriptedServer { request in
            let offset = ItemList.number("offset", in: request.target)
            let before = offset ?? ((ItemList.number("page", in: request.target) ?? 1) - 1) * 10
            let items = ItemList.items(behind: before, size: 10)
            let users = #"[{"id":901,"login":"ada"},{"id":902,"login":"bob"}]"#
            return .init(body: #"{"users":\#(users),"products":\#(items)}"#)
        }
        let proposal = try await propose(urls: [server.base + "/products" + query])
        #expect(proposal.uncertain == [], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Product") == ItemList.count && mirror.count("User") == 2, "\(proposal.text)")
    }

    @Test("the lists of side-loaded records of each kind are described, also if some pages lack them")
    func includes() async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/tweets") else { return .init(status: "404 Not Found") }
            let page = ItemList.number("next_token", in: request.target) ?? 0
            let tweets = (page * 10 + 1...page * 10 + 10).map { #"{"id":"1\#($0)","author_id":"9\#($0 % 7)"}"# }
            let users = (1...6).map { #"{"id":"9\#($0)","username":"u\#($0)"}"# }
            let includes =
                page == 3
                ? ""
                : #""includes":{"users":[\#(users.joined(separator: ","))],"tweets":[{"id":"5","author_id":"91"}]},"#
            let next = page < 3 ? #","next_token":"\#(page + 1)""# : ""
            return .init(
                body: #"{"data":[\#(tweets.joined(separator: ","))],\#(includes)"meta":{"result_count":10\#(next)}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/tweets"])
        #expect(proposal.uncertain == [], "\(proposal.text)")
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Tweet") == 41 && mirror.count("User") == 6, "\(proposal.text)")
    }

    @Test("side-loaded records have the id of an object in them, or are uncertain", arguments: [true, false])
    func includedWithoutID(hasID: Bool) async throws {
        let server = try ScriptedServer { request in
            guard request.target.hasPrefix("/entries") else { return .init(status: "404 Not Found") }
            let before = ItemList.number("skip", in: request.target) ?? 0
            let items = (before..<min(before + 10, 30)).map { #"{"id":\#($0),"asset":"a\#($0 % 12)"}"# }
            let assets = (before..<min(before + 10, 30)).map { number in
                let sys = hasID ? #"{"id":"a\#(number % 12)","type":"Asset"}"# : #"{"type":"Asset"}"#
                return #"{"sys":\#(sys),"size":\#(number % 12).5}"#
            }
            return .init(
                body: #"{"total":30,"skip":\#(before),"limit":10,"items":[\#(items.joined(separator: ","))],"#
                    + #""includes":{"Asset":[\#(assets.joined(separator: ","))]}}"#)
        }
        let proposal = try await propose(urls: [server.base + "/entries"])
        #expect(proposal.uncertain.isEmpty == hasID, "\(proposal.text)")
        guard hasID else { return }
        let mirror = try await ProposedMirror(CurlTransport(), proposal)
        mirror.expectClean()
        #expect(try mirror.count("Entry") == 30 && mirror.count("Asset") == 12, "\(proposal.text)")
    }

    @Test("side-loaded records are found beside the records of any level")
    func includedInside() throws {
        let json = try JSONValue(#"{"response":{"data":[{"id":1,"user":2}],"included":[{"id":2,"name":"a"}]}}"#)
        #expect(ListFinder.lists(in: json).map(\.name) == ["data", "included"])
    }

    @Test("positions beside other records of a single page are not counted anew")
    func positionsOfSinglePage() throws {
        let proposal = try propose(
            #"{"data":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"included":[{"size":1.5,"flag":true},{"size":2.5,"flag":true}]}"#
        )
        #expect(proposal.text.contains("key: position"), "\(proposal.text)")
        #expect(!proposal.uncertain.contains { $0.contains("counted anew") }, "\(proposal.uncertain)")
    }
}
