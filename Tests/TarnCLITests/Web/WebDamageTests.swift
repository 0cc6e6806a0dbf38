// The inspector's page on a damaged store, and on one that another store has replaced.

import Foundation
import TarnInspectWeb
import TarnStore
import TestSupport
import Testing

@Suite("Inspector: page, damaged and replaced stores")
struct WebDamageTests {
    private let port = 4711
    private let folder: TemporaryFolder

    private static let schema = Schema([
        EntityDefinition(
            "Thing", key: ["id"],
            attributes: [
                .init("id", .int), .init("name", .string), .init("kind", .string, optional: true, indexed: true),
            ]),
        EntityDefinition("Other", key: ["id"], attributes: [.init("id", .int)]),
    ])

    init() throws { folder = try TemporaryFolder() }

    /// A store of 300 things with names of a length that several pages have them.
    private func makeStore(_ name: String) throws -> String {
        let path = folder(name)
        let store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for number: Int64 in 1...300 {
                try writer.put(
                    "Thing", RecordKey(number), [.init("name", .string("thing \(number), with a quaint name"))])
            }
            try writer.put("Other", RecordKey(1), [])
        }
        return path
    }

    private func object(_ page: InspectPage, _ view: String) throws -> [String: Any] {
        let answer = page.answer("GET", page.path + "api/" + view, host: "127.0.0.1:\(port)", port: port)
        try #require(answer.status == 200, "\(view): \(String(decoding: answer.body, as: UTF8.self))")
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    /// Changes the data file.
    private func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        let url = URL(fileURLWithPath: path + "/data.mdb")
        var data = try Data(contentsOf: url)
        try body(&data)
        try data.write(to: url)
    }

    private func key(_ number: Int64) -> String {
        RecordKey(number).storageKey.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("a check has the number of findings that are not listed, and the parts that were not compared")
    func findings() async throws {
        let path = try makeStore("rows.tarn")
        try change(path) { data in
            var start = data.startIndex
            while let range = data.range(of: Data("quaint".utf8), in: start..<data.endIndex) {
                data[range.lowerBound] ^= 1
                start = range.upperBound
            }
        }
        let verify = try await tarn("inspect", "verify", path, "--json")
        let report = try json(verify.output), page = InspectPage(store: path)
        _ = try object(page, "verify?start=yes")
        try await eventually { (try? object(page, "verify")["phase"] as? String) == "done" }
        let state = try object(page, "verify")
        let counts = try #require(report["counts"] as? [String: Int])
        #expect(counts == ["row.checksum": 300])
        #expect(state["findingCount"] as? Int == 300 && (state["findings"] as? [Any])?.count == 100)
        let parts = try #require(state["notCompared"] as? [String])
        #expect(parts == report["notCompared"] as? [String] && parts.contains { $0.contains("Thing.kind") })
        // The list of records names as many, and counts the others.
        let list = try object(page, "records?entity=Thing")
        #expect((list["damages"] as? [Any])?.count == 100 && list["moreDamages"] as? Int == 200)
    }

    @Test("a record on a damaged page is not reported as missing")
    func unreadable() throws {
        let path = try makeStore("page.tarn")
        try change(path) { data in
            let name = Data("thing 150,".utf8)
            var count = 0
            for start in stride(from: 2 * 4096, to: data.count, by: 4096) {
                let page = start..<start + 4096, number = UInt8(start / 4096 & 0xFF)
                let isLeaf = data[start] == number && data[start + 10] == 2
                guard isLeaf, data[page].range(of: name) != nil else { continue }
                data.replaceSubrange(page, with: Data(count: 4096))
                count += 1
            }
            try #require(count > 0)
        }
        let page = InspectPage(store: path)
        let record = try object(page, "record?entity=Thing&key=\(key(150))")
        #expect(record["isStored"] as? Bool == false && record["isUnreadable"] as? Bool == true)
        let missing = try object(page, "record?entity=Thing&key=\(key(4711))")
        #expect(missing["isStored"] as? Bool == false && missing["isUnreadable"] as? Bool == false)
    }

    @Test("changes of an entity that the store no longer has are counted")
    func removedEntity() throws {
        let path = try makeStore("removed.tarn")
        let store = try Store.open(at: path, schema: nil, options: .init(durability: .relaxed))
        #expect(try store.remove(entity: "Other") == 1)
        let page = InspectPage(store: path)
        var unknown = 0, known = 0, before = ""
        while true {
            let log = try object(page, "changes" + before)
            unknown += log["unknown"] as? Int ?? 0
            known += (log["changes"] as? [Any])?.count ?? 0
            guard let next = log["next"] as? String else { break }
            before = "?before=\(next)"
        }
        #expect(unknown == 2 && known == 300)
        withExtendedLifetime(store) {}
    }

    @Test("a check that no read transaction has held says why", arguments: [false, true])
    func withoutLocks(hasLocks: Bool) async throws {
        let path = try makeStore("alone.tarn"), page = InspectPage(store: path)
        if !hasLocks {
            try? FileManager.default.removeItem(atPath: path + "/lock.mdb")
            try FileManager.default.createDirectory(atPath: path + "/lock.mdb", withIntermediateDirectories: false)
        }
        _ = try object(page, "verify?start=yes")
        try await eventually { (try? object(page, "verify")["phase"] as? String) == "done" }
        let state = try object(page, "verify")
        #expect(state["isSound"] as? Bool == true && (state["readWithoutLocks"] is String) == !hasLocks, "\(state)")
    }

    @Test("a check of a store is not one of another store in its place that has as many transactions")
    func replaced() async throws {
        let path = try makeStore("first.tarn"), other = try makeStore("second.tarn"), page = InspectPage(store: path)
        for view in ["verify", "pages"] {
            _ = try object(page, "\(view)?start=yes")
            try await eventually { (try? object(page, view)["phase"] as? String) == "done" }
        }
        let newest = try object(page, "changes")["incarnation"] as? String
        func isOf(_ view: String, _ store: [String: Any]) throws -> Bool {
            let state = try object(page, view)
            #expect(state["transaction"] as? Int == store["lastTransaction"] as? Int)
            return state["incarnation"] as? String == store["incarnation"] as? String
        }
        let first = try object(page, "overview")
        #expect(try isOf("verify", first) && isOf("pages", first) && newest == first["incarnation"] as? String)
        try FileManager.default.moveItem(atPath: path, toPath: folder("former.tarn"))
        try FileManager.default.moveItem(atPath: other, toPath: path)
        let second = try object(page, "overview")
        #expect(try !isOf("verify", second) && !isOf("pages", second))
        #expect(try object(page, "changes")["incarnation"] as? String == second["incarnation"] as? String)
    }

    @Test(
        "the result of a check says that the store cannot be read any more",
        .enabled(if: BrowserPage.isInstalled, "chromium is not installed: tools/test installs it"))
    func gone() async throws {
        let path = try makeStore("gone.tarn"), page = try await RunningPage(path)
        let outside = try ScriptedServer { _ in .init(status: "502 Bad Gateway") }
        let browser = try await BrowserPage(proxy: outside.base)
        let place = "document.getElementById('place').innerText"
        do {
            try await browser.open(page.url + "#/verify")
            _ = try await browser.value("document.querySelector('main button').click()")
            try await browser.wait("document.getElementById('result')?.innerText.includes('The store is sound')")
            #expect(try await !browser.value(place).contains("cannot be read"))
            try FileManager.default.moveItem(atPath: path, toPath: folder("moved.tarn"))
            try await browser.open(page.url + "#/verify")
            #expect(try await browser.value(place).contains("The store cannot be read now: "))
            #expect(try await browser.value(place).contains("no such store"))
        } catch {
            Issue.record(error)
        }
        await browser.close()
        #expect(await page.end().status == 143)
    }
}
