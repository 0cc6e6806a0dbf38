// `tarn inspect pages` and the sizes of `tarn inspect stat`: as lmdb-utils count them.

import Foundation
import TestSupport
import Testing

@Suite("Command line: inspect pages")
struct InspectPagesCommandTests {
    /// The pages by table, as `mdb_stat -a` counts them.
    private func counts(_ store: String) throws -> [String: [Int]] {
        let text = try output(of: "/usr/bin/mdb_stat", ["-a", store]).text
        var counts: [String: [Int]] = [:], name = "(main)"
        for line in text.split(separator: "\n") {
            if let status = line.firstMatch(of: /^Status of (.+)$/)?.1 {
                name = status == "Main DB" ? "(main)" : String(status)
            }
            if let found = line.firstMatch(of: /^  (Branch pages|Leaf pages|Overflow pages|Entries): (\d+)$/) {
                counts[name, default: []].append(Int(found.2) ?? -1)
            }
        }
        return counts
    }

    @Test("branches, leaves, overflow pages and entries of each table are those of mdb_stat")
    func counted() async throws {
        let store = try await Forge.store
        let result = try await tarn("inspect", "pages", store, "--json")
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        let use = try json(result.output)
        let tables = try #require(use["tables"] as? [[String: Any]]), expected = try counts(store)
        #expect(expected.count > 10)
        for table in tables {
            let name = try #require(table["name"] as? String)
            let found = ["branchPages", "leafPages", "overflowPages", "entries"].map { table[$0] as? Int ?? -1 }
            if name != "(free)" { #expect(expected[name] == found, "\(name)") }
            #expect((table["fill"] as? Double).map { $0 >= 0 && $0 <= 1 } ?? false, "\(table)")
        }
        let free = try #require(use["free"] as? [String: Any])
        let listed = try output(of: "/usr/bin/mdb_stat", ["-f", store]).text.firstMatch(of: /Free pages: (\d+)/)?.1
        #expect((free["pages"] as? Int).map { "\($0)" } == listed.map(String.init))
        #expect(use["unaccounted"] as? Int == 0)
    }

    @Test("the screen has a bar for each table, and the age of the free list")
    func screen() async throws {
        let result = try await tarn("inspect", "pages", try await Forge.store)
        #expect(result.status == 0 && result.error == "")
        #expect(result.output.contains("records of Issue") && result.output.contains("█"))
        let isFree = { (line: String) in line.hasPrefix("free list: ") && line.contains("reusable now") }
        #expect(result.lines.contains(where: isFree), "\(result.output)")
    }

    @Test("stat has a bar for each table, the longest for the largest; a narrow terminal has names in their place")
    func bars() async throws {
        let store = try await Forge.store
        func bars(_ columns: String) async throws -> [(bytes: Int, length: Int)] {
            let result = try await tarn(["inspect", "stat", store], environment: ["COLUMNS": columns])
            expectSuccess(result)
            let lines = result.lines.drop { !$0.hasPrefix("table ") }.dropFirst()
            #expect(lines.count > 10 && lines.allSatisfy { $0.count <= Int(columns) ?? 0 }, "\(result.output)")
            let tables = try #require(
                try json(try await tarn("inspect", "stat", store, "--json").output)["tables"] as? [[String: Any]])
            return zip(tables, lines).map { table, line in
                let bar = line.reversed().prefix { "▏▎▍▌▋▊▉█".contains($0) }
                return (table["bytes"] as? Int ?? -1, bar.count)
            }
        }
        let wide = try await bars("140").sorted { $0.bytes < $1.bytes }
        #expect(wide.map(\.length) == wide.map(\.length).sorted() && wide.last?.length == 20, "\(wide)")
        #expect(wide.allSatisfy { $0.bytes == 0 || $0.length > 0 })
        #expect(try await bars("80").map(\.length).max() ?? 0 >= 6)
        #expect(try await bars("66").allSatisfy { $0.length == 0 })
    }

    @Test("stat --json, --sizes, --bigkeys and --plot agree with one another; the picture is XML")
    func sizes() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store, picture = folder.path + "/sizes.svg"
        let statistics = try json(try await tarn("inspect", "stat", store, "--json").output)
        let tables = try #require(statistics["tables"] as? [[String: Any]])
        #expect(tables.contains { $0["meaning"] as? String == "records of Issue" })
        let result = try await tarn("inspect", "stat", store, "--sizes", "--bigkeys", "3", "--plot", picture)
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        #expect(result.output.contains("mean value") && result.output.contains("largest entries"))
        let svg = try String(contentsOfFile: picture, encoding: .utf8)
        #expect(svg.contains("records of Issue") && !svg.contains("<script"))
        let parse = "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])"
        #expect(try output(of: "/usr/bin/python3", ["-c", parse, picture]).status == 0)
        let again = try await tarn("inspect", "stat", store, "--plot", picture)
        #expect(again.status == 1 && again.error.contains("sizes.svg"), "\(again.error)")
    }

    @Test("a picture that cannot be written whole leaves no file behind")
    func fullDisk() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store, picture = folder.path + "/sizes.svg"
        let result = try await shell(
            "ulimit -f 1; trap '' XFSZ; \"$TARN\" inspect stat '\(store)' --plot '\(picture)' > /dev/null")
        #expect(result.status == 1 && result.error.contains("sizes.svg: cannot be written"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: picture))
        expectSuccess(try await tarn("inspect", "stat", store, "--plot", picture))
    }

    @Test("a damaged page has the exit code 6, and the rest is counted")
    func damaged() async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy + "/data.mdb"))
        for page in stride(from: 8, to: bytes.count / 4096, by: 9) { bytes[page * 4096 + 10] = 0x40 }
        try bytes.write(to: URL(fileURLWithPath: copy + "/data.mdb"))
        let result = try await tarn("inspect", "pages", copy)
        #expect(result.status == 6 && result.output.contains("leaf"), "\(result.output)")
        #expect(result.error.contains("[page."), "\(result.error)")
    }
}
