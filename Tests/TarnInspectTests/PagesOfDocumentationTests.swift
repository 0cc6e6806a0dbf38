// The pages about errors and operation name every error and every code that there is.

import Foundation
import LMDB
import TarnInspect
import Testing

@Suite("Pages of documentation: errors and operation")
struct PagesOfDocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("the page of errors has a line for every case of every error of the store, of LMDB, of mirrors, of imports and of transports")
    func errors() throws {
        let page = try text("Sources/Tarn/Tarn.docc/Errors.md")
        for (heading, path) in [
            ("StoreError", "Sources/TarnStore/Store/StoreError.swift"), ("LMDBError", "Sources/LMDB/LMDBError.swift"),
            ("MirrorError", "Sources/Tarn/Mirror/MirrorError.swift"), ("TransportError", "Sources/TarnHTTP/Transport.swift"),
        ] {
            let section = try #require(page.components(separatedBy: "\n## \(heading)\n").last?.components(separatedBy: "\n## ").first)
            let cases = try text(path).split(separator: "\n").compactMap { line -> Substring? in
                let words = line.trimmingCharacters(in: .whitespaces)
                guard words.hasPrefix("case "), !words.contains(":") || words.contains("("), !words.contains("let "), !words.hasPrefix("case .") else { return nil }
                return words.dropFirst(5).drop { $0 == "`" }.prefix { $0.isLetter }
            }
            #expect(cases.count > 5)
            for name in cases { #expect(section.contains("| `\(name)` |"), "\(heading).\(name)") }
        }
    }

    @Test("the page about operation has a line for every code of a finding, and no other")
    func codes() throws {
        let page = try text("Sources/Tarn/Tarn.docc/Operating.md")
        let listed = page.split(separator: "\n").compactMap { line -> String? in
            let cell = line.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) ?? ""
            guard line.hasPrefix("| `"), cell.contains("."), !cell.contains("…"), !cell.contains(",") else { return nil }
            return cell.trimmingCharacters(in: CharacterSet(charactersIn: "`"))
        }
        #expect(listed == Finding.Code.allCases.map(\.rawValue))
    }
}
