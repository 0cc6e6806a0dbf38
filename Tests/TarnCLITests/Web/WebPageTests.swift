// The requests of the inspector's page, without a browser.

import Foundation
import TarnInspect
import TarnInspectWeb
import TestSupport
import Testing

@Suite("Inspector: page, requests")
struct WebPageTests {
    private let port = 4711

    private func object(_ page: InspectPage, _ view: String) throws -> [String: Any] {
        let answer = page.answer("GET", page.path + "api/" + view, host: "127.0.0.1:\(port)", port: port)
        try #require(answer.status == 200, "\(view): \(String(decoding: answer.body, as: UTF8.self))")
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test("without the token, under another name, or with another method than GET and HEAD, nothing is answered")
    func refusals() async throws {
        let page = InspectPage(store: try await Forge.store), other = InspectPage(store: try await Forge.store)
        func status(_ method: String, _ target: String, _ host: String?) -> Int {
            page.answer(method, target, host: host, port: port).status
        }
        let host = "127.0.0.1:\(port)"
        #expect(page.path != other.path && page.path.count == 34)
        for name in ["", "page.js", "views.js", "page.css", "api/overview"] {
            #expect(status("GET", page.path + name, host) == 200)
            #expect(status("GET", page.path + name, "localhost:\(port)") == 200)
            #expect(status("GET", other.path + name, host) == 404)
            #expect(status("GET", "/" + name, host) == 404)
            #expect(status("POST", page.path + name, host) == 405)
            for wrong in [nil, "rebound.example:\(port)", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:\(port).example"] {
                #expect(status("GET", page.path + name, wrong) == 403)
            }
        }
        for name in ["..%2f..%2fetc%2fpasswd", "../index.html", "api/", "api/nothing", "api/overview/", "index.html"] {
            #expect(status("GET", page.path + name, host) == 404, "\(name)")
        }
        for target in ["", "x", "http://x/", page.path + "%", page.path + "api/records?entity=%ff"] {
            #expect([400, 404].contains(status("GET", target, host)), "\(target)")
        }
        #expect(status("GET", page.path + "api/records", host) == 400)
        #expect(status("GET", page.path + "api/record?entity=Issue&key=zz", host) == 400)
        #expect(status("GET", page.path + "api/records?entity=Nothing", host) == 500)
    }

    @Test("the answers forbid scripts, requests and frames of others, and are not kept")
    func policy() async throws {
        let page = InspectPage(store: try await Forge.store)
        let answer = page.answer("GET", page.path, host: "localhost:\(port)", port: port)
        let fields = Dictionary(answer.fields.map { ($0.name, $0.value) }) { first, _ in first }
        let policy = try #require(fields["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe") && !policy.contains("http"))
        #expect(fields["Cache-Control"] == "no-store" && fields["X-Content-Type-Options"] == "nosniff")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(
            !text.contains("http:") && !text.contains("https:") && !text.contains("<style") && !text.contains("onclick")
        )
    }

    @Test(
        "all pages of all entities have the records of a dump, in its order and in the reverse one",
        arguments: [7, 500])
    func pages(limit: Int) async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        var wanted: [String: [String]] = [:]
        _ = try StoreInspector(at: store).dumpRecords { line in
            let found = try json(line)
            let entity = try #require(found["entity"] as? String)
            wanted[entity, default: []].append("\(try #require(found["key"]))")
        } damaged: {
            Issue.record("\($0)")
        }
        #expect(wanted.count == 6)
        for (entity, keys) in wanted {
            for order in ["", "&reversed=yes"] {
                var found: [String] = [], after = ""
                while true {
                    let answer = try object(page, "records?entity=\(entity)&limit=\(limit)\(after)\(order)")
                    let records = try #require(answer["records"] as? [[String: Any]])
                    found += records.compactMap { $0["key"] as? String }
                    guard let next = answer["next"] as? String else { break }
                    after = "&after=\(next)"
                }
                #expect(found == (order.isEmpty ? keys : keys.reversed()), "\(entity)")
            }
        }
    }

    @Test("a filter finds exactly the records with the text, and every link leads to its record")
    func links() async throws {
        let store = try await Forge.store, page = InspectPage(store: store)
        let all = try object(page, "records?entity=Issue&limit=500")["records"] as? [[String: Any]] ?? []
        let some =
            try object(page, "records?entity=Issue&limit=500&text=TRACE%20shows")["records"] as? [[String: Any]] ?? []
        let lines = try await Forge.dump(store).filter { $0.contains("\"entity\":\"Issue\"") }
        let wanted = lines.filter { $0.range(of: "trace shows", options: .caseInsensitive) != nil }
        #expect(all.count == lines.count && some.count == wanted.count && some.count > 3 && some.count < all.count)
        var followed = 0
        for record in some.prefix(5) {
            let id = try #require(record["id"] as? String)
            let whole = try object(page, "record?entity=Issue&key=\(id)")
            #expect(whole["isStored"] as? Bool == true && whole["key"] as? String == record["key"] as? String)
            let fields = whole["fields"] as? [[String: Any]] ?? [],
                referrers = whole["referrers"] as? [[String: Any]] ?? []
            let targets =
                fields.flatMap { $0["targets"] as? [[String: String]] ?? [] }
                + referrers.flatMap { $0["records"] as? [[String: String]] ?? [] }
            for target in targets {
                let (entity, id) = try (#require(target["entity"]), #require(target["id"]))
                let found = try object(page, "record?entity=\(entity)&key=\(id)")
                #expect(found["isStored"] as? Bool == true && found["key"] as? String == target["key"])
                followed += 1
            }
        }
        #expect(followed > 10)
    }

    @Test("a filter that nothing fulfils reads a bounded number of rows, and says where it goes on")
    func bounds() async throws {
        let inspector = StoreInspector(at: try await Forge.store)
        let first = try inspector.recordPage(of: "Issue", most: 100) { _ in false }
        #expect(first.records.isEmpty && first.examined == 100 && first.last != nil)
        let rest = try inspector.recordPage(of: "Issue", after: first.last, most: 1000) { _ in false }
        #expect(rest.examined == 230 && rest.last == nil)
    }

    @Test("a check runs beside other requests, and has the result of inspect verify")
    func verification() async throws {
        let page = InspectPage(store: try await Forge.store)
        #expect(try object(page, "verify")["phase"] as? String == "idle")
        #expect(try object(page, "verify?start=yes")["phase"] as? String == "running")
        try await eventually { (try? object(page, "verify")["phase"] as? String) == "done" }
        let state = try object(page, "verify")
        #expect(state["isSound"] as? Bool == true && state["findingCount"] as? Int == 0)
        #expect((state["records"] as? [String: Int])?["Issue"] == 330)
    }
}
