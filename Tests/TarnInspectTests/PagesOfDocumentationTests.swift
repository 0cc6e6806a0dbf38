// The pages about errors and operation list every error and every code.

import Foundation
import LMDB
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Pages of documentation: errors and operation")
struct PagesOfDocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(
        "the page of errors has a line for every case of every error of the store, of LMDB, of mirrors, of imports and of transports"
    )
    func errors() throws {
        let page = try text("Sources/Tarn/Tarn.docc/Errors.md")
        for (heading, path) in [
            ("StoreOpenError", "Sources/TarnStore/Store/StoreOpenError.swift"),
            ("StoreError", "Sources/TarnStore/Store/StoreError.swift"),
            ("StoreWriteError", "Sources/TarnStore/Transactions/StoreWriteError.swift"),
            ("StoreMaintenanceError", "Sources/TarnStore/Maintenance/StoreMaintenanceError.swift"),
            ("ChangeLogError", "Sources/TarnStore/ChangeLog/ChangeLogError.swift"),
            ("LMDBError", "Sources/LMDB/LMDBError.swift"),
            ("MirrorError", "Sources/Tarn/Client/MirrorError.swift"),
            ("TransportError", "Sources/TarnHTTP/Message/TransportError.swift"),
        ] {
            let section = try #require(
                page.components(separatedBy: "\n## \(heading)\n").last?.components(separatedBy: "\n## ").first)
            let cases = try text(path).split(separator: "\n").compactMap { line -> Substring? in
                let words = line.trimmingCharacters(in: .whitespaces)
                guard words.hasPrefix("case "), !words.contains(":") || words.contains("("), !words.contains("let "),
                    !words.hasPrefix("case .")
                else { return nil }
                return words.dropFirst(5).drop { $0 == "`" }.prefix { $0.isLetter }
            }
            #expect(cases.count > 2)
            for name in cases { #expect(section.contains("| `\(name)` |"), "\(heading).\(name)") }
        }
    }

    @Test("the page about operation has a line for every code of a finding, and no other")
    func codes() throws {
        let page = try text("Sources/Tarn/Tarn.docc/Operating.md")
        let listed = page.split(separator: "\n").compactMap { line -> String? in
            let cell = line.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) ?? ""
            guard line.hasPrefix("| `"), cell.contains("."), !cell.contains("…"), !cell.contains(",") else {
                return nil
            }
            return cell.trimmingCharacters(in: CharacterSet(charactersIn: "`"))
        }
        #expect(listed == Finding.Code.allCases.map(\.rawValue))
    }

    @Test("the divided row of the format page is one of the golden store that it names, part by part")
    func dividedRow() throws {
        let page = try text("Sources/Tarn/Tarn.docc/StoreFormat.md")
        let golden = try GoldenFile(
            Self.root.appendingPathComponent("Tests/TarnStoreTests/Golden/format-3/2026-11-compressed").path)
        let example = try #require(page.components(separatedBy: "```text\nkey        ").dropFirst().first).components(
            separatedBy: "```")[0]
        var parts = [[UInt8]]()
        for line in example.components(separatedBy: "\n") where !line.isEmpty {
            let digits = line.components(separatedBy: " ").filter { $0.count == 2 }.joined()
            let bytes = try #require([UInt8](hexadecimal: digits))
            if line.first == " " { parts[parts.count - 1] += bytes } else { parts.append(bytes) }
        }
        let (key, row) = (parts[0], parts.dropFirst().flatMap { $0 })
        let store = try Store.open(at: golden.path)
        try store.read { reader in
            let entity = try reader.access.state.entity("Thing")
            let stored = try key.withUnsafeBytes {
                try reader.access.raw.get(reader.access.state.records(of: entity.root), $0).map { Array($0) }
            }
            #expect(stored == row)
        }
        let count = Int(row[20]) | Int(row[21]) << 8
        #expect(
            parts[1].count == 20 && row[2] == 2 && parts[2].count == 2 + 4 * count
                && parts[4].starts(with: [0x28, 0xB5, 0x2F, 0xFD]))
        var ends = [0]
        for index in 0..<count { ends.append(Int(row[24 + 4 * index]) | Int(row[25 + 4 * index]) << 8) }
        let lengths = zip(ends.dropFirst(), ends).map { $0 - $1 }
        #expect(parts[3].count == lengths.filter { $0 <= 17 }.reduce(0, +))
        for length in lengths where length > 17 { #expect(page.contains("(\(length) bytes)")) }
    }
}
