// Reads the suite of JSON documents beside this file.

import Foundation
import Testing

/// One document, and its expected result.
struct JSONCase: Sendable, CustomTestStringConvertible {
    var name: String
    var document: [UInt8]
    /// For a document that is taken: its value as compact text.
    var value: [UInt8] = []
    /// For one that is refused.
    var refusal: (offset: Int, reason: String)?

    var testDescription: String { name }

    static let all: [JSONCase] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return ["structure", "numbers", "strings", "utf8", "literals", "keys", "depth"].flatMap { file in
            let text = (try? String(contentsOf: folder.appending(path: file + ".tsv"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { JSONCase(line: $0, in: file) }
        }
    }()

    private init(line: Substring, in file: String) {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
        name = file + "/" + columns[0]
        var caret: Int?
        (document, caret) = JSONCase.expanded(columns[1])
        if let caret {
            refusal = (caret, columns.count > 2 ? String(columns[2]) : "")
        } else {
            value = columns.count > 2 ? JSONCase.expanded(columns[2]).0 : document
        }
    }

    private static func expanded(_ text: Substring) -> ([UInt8], caret: Int?) {
        var bytes: [UInt8] = [], caret: Int?
        var rest = text
        while let character = rest.first {
            rest = rest.dropFirst()
            switch character {
            case "‸": caret = bytes.count
            case "<":
                let parts = rest.prefix { $0 != ">" }.split(separator: "*")
                rest = rest.drop { $0 != ">" }.dropFirst()
                let digits = Array(parts[0].utf8)
                let sequence = stride(from: 0, to: digits.count, by: 2).map {
                    UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
                }
                for _ in 0..<(parts.count > 1 ? Int(parts[1]) ?? 0 : 1) { bytes += sequence }
            default: bytes += Array(String(character).utf8)
            }
        }
        return (bytes, caret)
    }
}
