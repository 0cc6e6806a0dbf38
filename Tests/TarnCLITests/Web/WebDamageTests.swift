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
}
