// The exit codes and messages of the inspector's commands about damaged stores and wrong arguments.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: the inspector's messages")
struct InspectDamageTests {
    private let folder: TemporaryFolder

    private static let schema = Schema([
        EntityDefinition(
            "Page", key: ["owner", "number"], attributes: [.init("owner", .string), .init("number", .int)],
            relationships: [.init("next", to: "Page", inverse: "previous")])
    ])

    init() throws { folder = try TemporaryFolder() }

    /// A store of 300 pages, each with a reference to the first one, and one changed locally.
    private func makeStore() throws -> String {
        let path = folder.path + "/s.tarn"
        let store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for number: Int64 in 0..<300 {
                try writer.put(
                    "Page", RecordKey([.string("ada"), .int(number)]),
                    [.init("next", .reference(RecordKey([.string("ada"), .int(number == 7 ? 999 : 0)])))])
            }
            try writer.putLocally("Page", RecordKey([.string("ada"), .int(1)]), [.init("next", .null)])
        }
        return path
    }

    /// A store whose records take hundreds of pages of the file.
    private func makeStore(ofManyPagesOf owner: String) throws -> String {
        let path = folder.path + "/many.tarn"
        let store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            for number: Int64 in 0..<20_000 {
                try writer.put("Page", RecordKey([.string(owner), .int(number)]), [.init("next", .null)])
            }
        }
        return path
    }

    /// Overwrites a page of the file.
    private func zero(_ page: UInt64, of path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/data.mdb"))
        try file.seek(toOffset: page * 4096)
        try file.write(contentsOf: Data(repeating: 0, count: 4096))
        try file.close()
    }

    @Test("keys in the JSON of get and top are JSON keys, as in that of dump")
    func jsonKeys() async throws {
        let store = try makeStore()
        func object(_ arguments: String...) async throws -> [String: Any] {
            let result = try await tarn(["inspect"] + arguments)
            return try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        }
        let top = try await object("top", store, "--json", "--limit", "2")
        for name in ["stored", "lists"] {
            let first = try #require((top[name] as? [[String: Any]])?.first?["key"] as? [Any])
            #expect(first.count == 2 && first[0] as? String == "ada" && first[1] is Int, "\(first)")
        }
        let get = try await object("get", store, "Page", "[\"ada\", 0]", "--json", "--limit", "1")
        let referrers = try #require((get["referrers"] as? [[String: Any]])?.first)
        #expect((referrers["keys"] as? [[Any]])?.first?[0] as? String == "ada" && referrers["count"] as? Int == 298)
        let none = try await tarn("inspect", "get", store, "Page", "[\"ada\", 0]", "--limit", "0")
        #expect(none.lines.contains("  Page.next (previous): 298 in all"), "\(none.output)")
    }

    @Test("the data file of a store is read with its locks from inside of the directory, too")
    func insideOfStore() async throws {
        let store = try makeStore()
        let result = try await shell("cd '\(store)' && \"$TARN\" inspect stat data.mdb")
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        #expect(result.output.contains(" reader slots used"), "\(result.output)")
    }

    @Test("a missing related record in the shell has its key as JSON")
    func shellRelated() async throws {
        let store = try makeStore()
        let missing = try await shell(
            "echo 'related Page \"[\\\"ada\\\", 7]\" next --format ndjson' | \"$TARN\" inspect shell '\(store)'")
        #expect(missing.status == 0 && missing.lines == ["{\"missing\":[\"ada\",999]}"], "\(missing)")
    }

    @Test("a record on a damaged page has exit code 6, and the page is named")
    func damagedPage() async throws {
        let store = try makeStore()
        // Every leaf of the table is damaged in turn: one of them has the record.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
        var statuses: [Int32] = []
        for page in 2..<bytes.count / 4096
        where bytes[page * 4096 + 10] == 2 && bytes[page * 4096] == UInt8(page & 0xFF) {
            try zero(UInt64(page), of: store)
            let result = try await tarn("inspect", "get", store, "Page", "[\"ada\", 150]")
            statuses.append(result.status)
            #expect(result.status != 1, "page \(page): \(result.output)\(result.error)")
            if result.status == 6, result.output.hasPrefix("Page [ada, 150] (unreadable)") {
                #expect(result.error.contains("page \(page) of r/1"), "\(result.error)")
            }
            try bytes.write(to: URL(fileURLWithPath: store + "/data.mdb"))
        }
        #expect(statuses.contains(6))
    }

    @Test("salvage of a store with lost marks does not advise a plain sync")
    func salvageAdvice() async throws {
        let store = try makeStore(), new = folder.path + "/new.tarn"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
        let name = Data("local".utf8)
        while let range = bytes.range(of: name) { bytes.replaceSubrange(range, with: Data("locam".utf8)) }
        let damaged = folder.path + "/damaged.mdb"
        try bytes.write(to: URL(fileURLWithPath: damaged))
        let result = try await tarn("inspect", "salvage", damaged, new)
        #expect(result.status == 3 && result.error.contains("overwrites local values"), "\(result.error)")
        #expect(result.output.contains("1 local change"), "\(result.output)")
    }

    @Test("salvage of a file without a catalog does not advise to salvage")
    func salvageWithoutCatalog() async throws {
        let store = try makeStore(), damaged = folder.path + "/damaged.mdb"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
        while let range = bytes.range(of: Data("\"entities\"".utf8)) {
            bytes.replaceSubrange(range, with: Data("\"Entities\"".utf8))
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))
        let result = try await tarn("inspect", "salvage", damaged, folder.path + "/new.tarn")
        #expect(result.status == 6 && !result.error.contains("inspect salvage"), "\(result.error)")
        #expect(result.error.contains("restore a backup"), "\(result.error)")
    }

    @Test("wrong arguments are errors of use")
    func wrongArguments() async throws {
        let store = try makeStore()
        let quota = try await tarn("store", "quota", store, "--set", "1")
        #expect(quota.status == 2 && quota.error.contains("--set"), "\(quota.error)")
        let limit = try await tarn("inspect", "get", store, "Page", "[\"ada\", 0]", "--limit", "-1")
        #expect(limit.status == 2 && limit.error.contains("--limit=-1"), "\(limit.error)")
        #expect(!limit.error.contains("Missing value"))
        let negative = try await tarn("inspect", "get", store, "Page", "[\"ada\", 0]", "--limit=-1")
        #expect(negative.status == 2 && negative.error.contains("--limit must not be negative"), "\(negative.error)")
        let exported = try await tarn("inspect", "export", store, "--sqlite", store + "/data.mdb")
        #expect(exported.status == 1 && !exported.error.contains("directory"), "\(exported.error)")
    }

    @Test("an error of sqlite3 ends without a line break")
    func sqliteError() async throws {
        guard try await shell("sqlite3 --version").status == 0 else { return }
        let store = try makeStore()
        let result = try await tarn("inspect", "export", store, "--sqlite", "/proc/none.db")
        #expect(result.status == 1 && !result.error.contains("\\n"), "\(result.error)")
    }

    @Test("no file of the store takes the place of a closed standard input", arguments: ["<&-", "<&- 2>&-"])
    func closedDescriptors(_ redirection: String) async throws {
        let store = try makeStore()
        let result = try await shell("\"$TARN\" inspect shell '\(store)' \(redirection)")
        #expect(result.status == 1 && result.output == "", "\(result)")
    }

    @Test("the browser inspector ends with the code of the signal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func webSignals(_ signal: Int32) async throws {
        let page = try await RunningPage(makeStore())
        page.process.send(signal)
        #expect(await page.process.end().status == 128 + signal)
    }

    @Test("a port that is in use is an error of the browser inspector that names the way out")
    func webPortInUse() async throws {
        let store = try makeStore(), page = try await RunningPage(store), port = try page.port
        let second = try await tarn("inspect", "web", store, "--port", "\(port)")
        #expect(
            second.status == 1 && second.error.hasPrefix("tarn: --port \(port): the port is in use by another process"),
            "\(second)")
        _ = await page.end()
    }

    @Test("page faults that are not listed count in the last line of a dump and of an export")
    func countedBeyondTheList() async throws {
        let owner = "zweistein", path = try makeStore(ofManyPagesOf: owner)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
        // The leaves of records, and of their changes.
        for page in 2..<bytes.count / 4096 where bytes[page * 4096 + 10] == 2 {
            let range = page * 4096..<(page + 1) * 4096
            if Data(bytes[range]).range(of: Data(owner.utf8)) != nil { bytes[page * 4096 + 10] = 0x44 }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
        for arguments in [["dump", path], ["export", path, "--ndjson"]] {
            let result = try await tarn(["inspect"] + arguments)
            let more = try #require(result.error.firstMatch(of: /and ([0-9]+) more/)).1
            let all = try #require(result.error.firstMatch(of: /([0-9]+) (page faults|damaged parts)/)).1
            let (unlisted, counted) = (try #require(Int(more)), try #require(Int(all)))
            #expect(result.status == 6 && unlisted > 101 && counted >= unlisted + 100, "\(arguments): \(result.error)")
        }
    }

    @Test("stat of a store without entities has no list of their records")
    func statWithoutEntities() async throws {
        let path = folder.path + "/empty.tarn"
        _ = try Store.open(at: path, schema: Schema([]))
        let result = try await tarn("inspect", "stat", path)
        #expect(
            result.status == 0 && result.lines.contains("0 records; 0 responses"), "\(result.output)\(result.error)")
    }
}
