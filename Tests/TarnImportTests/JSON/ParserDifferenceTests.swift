// The exact parser against simdjson: two implementations that must agree on every document, except
// for known limits of simdjson.

import TestSupport
import Testing

@testable import TarnImport

@Suite("JSON: two parsers")
struct ParserDifferenceTests {
    private let fast: JSONParser, exact: JSONParser

    init() throws {
        fast = try JSONParser()
        exact = try JSONParser(isExact: true)
    }

    /// True if simdjson took it.
    @discardableResult
    private func compare(_ document: [UInt8], _ seed: UInt64, _ location: SourceLocation = #_sourceLocation) -> Bool {
        let before = fast.exactReadings
        let one = ParsedJSON(document, fast), other = ParsedJSON(document, exact)
        let isFast = fast.exactReadings == before
        let standing = ParsedJSON(standing: document, fast)
        if standing != one {
            Issue.record(
                "seed \(seed): \(String(decoding: document, as: UTF8.self).debugDescription) is \(standing) where it stands",
                sourceLocation: location)
        }
        if one != other {
            Issue.record(
                "seed \(seed): \(String(decoding: document, as: UTF8.self).debugDescription) is \(one) and \(other)",
                sourceLocation: location)
        }
        // Every document that simdjson refuses and the exact parser accepts must have a known
        // reason.
        if !isFast, case .taken = other, !other.isBeyondSimdjson {
            Issue.record(
                "seed \(seed): simdjson refuses \(String(decoding: document, as: UTF8.self).debugDescription)",
                sourceLocation: location)
        }
        return isFast
    }

    @Test("of random valid documents they make the same tape, and of each part that a cut leaves the same refusal")
    func validAndCut() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        for round in 0..<400 {
            var document: [UInt8] = []
            RandomJSON.append(to: &document, depth: round % 7, &random)
            guard case .taken = ParsedJSON(document, exact) else {
                Issue.record("seed \(seed): refused \(String(decoding: document, as: UTF8.self))")
                continue
            }
            compare(document, seed)
            guard document.count < 400 else { continue }
            for length in 0..<document.count { compare(Array(document[..<length]), seed) }
        }
    }

    @Test("of documents with random bytes changed, added and taken away they say the same")
    func mutations() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let sound = JSONCase.all.map(\.document).filter { !$0.isEmpty && $0.count < 600 }
        var taken = 0
        for _ in 0..<20_000 {
            var document = sound[Int.random(in: 0..<sound.count, using: &random)]
            if Bool.random(using: &random) {
                document.removeAll()
                RandomJSON.append(to: &document, depth: 3, &random)
            }
            for _ in 0..<Int.random(in: 1...3, using: &random) { RandomJSON.mutate(&document, &random) }
            if compare(document, seed) { taken += 1 }
        }
        // Else only refusals were compared.
        #expect(taken > 1000)
    }

    @Test("of random bytes, and of random bytes that JSON uses, they say the same")
    func randomBytes() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let alphabet = Array(#"{}[]:,"\u0123dDeE+-. truefalsn/b"#.utf8) + [0x0A, 0x00, 0xC3, 0xA9, 0xED, 0xA0]
        for round in 0..<20_000 {
            let document = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                round % 4 == 0
                    ? UInt8.random(in: 0...255, using: &random)
                    : alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            compare(document, seed)
        }
    }

    @Test(
        "every beginning of a sequence beyond ASCII with what may follow, and escapes alone and in pairs, are judged alike"
    )
    func everySequence() {
        let edges: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF,
        ]
        let quote = UInt8(ascii: "\"")
        for first in UInt8(0x80)...0xFF {
            compare([quote, first, quote], 0)
            for second in edges {
                compare([quote, first, second, quote], 0)
                guard [0xC3, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5].contains(first) else { continue }
                for third in edges {
                    compare([quote, first, second, third, quote], 0)
                    for fourth in [0x41, 0x80] as [UInt8] { compare([quote, first, second, third, fourth, quote], 0) }
                }
            }
        }
        let units: [UInt16] = [
            0x0000, 0x0041, 0x00E9, 0x20AC, 0xD7FF, 0xD800, 0xD83D, 0xDBFF, 0xDC00, 0xDE00, 0xDFFF, 0xE000, 0xFFFF,
        ]
        func escape(_ unit: UInt16) -> String {
            "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
        }
        for first in units {
            compare(Array("\"\(escape(first))\"".utf8), 0)
            for second in units { compare(Array("\"\(escape(first))\(escape(second))\"".utf8), 0) }
        }
    }

    @Test("numbers at the edges of 64 bits and of doubles have the same value in both")
    func numbers() {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            var text = Bool.random(using: &random) ? "-" : ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text += "\(UInt64.random(in: (1 << 63) - 50...(1 << 63) + 50, using: &random))"
            case 1: text += "\(UInt64.max - UInt64.random(in: 0...50, using: &random))"
            case 2:
                let value = Double(bitPattern: UInt64.random(in: 0..<(0x7FF << 52), using: &random))
                text += "\(value)"
            default:
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    text += "\(Int.random(in: 1...9, using: &random))"
                }
                text += ".\(Int.random(in: 0...999, using: &random))e\(Int.random(in: -360...320, using: &random))"
            }
            compare(Array("[\(text)]".utf8), seed)
        }
    }
}

/// Random documents and random changes of them.
enum RandomJSON {
    static func append(to bytes: inout [UInt8], depth: Int, _ random: inout SeededRandom) {
        func space(_ bytes: inout [UInt8]) {
            if Int.random(in: 0..<8, using: &random) == 0 {
                bytes.append([0x20, 0x0A, 0x0D, 0x09][Int.random(in: 0..<4, using: &random)])
            }
        }
        space(&bytes)
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: bytes += Array(["true", "false", "null"][Int.random(in: 0..<3, using: &random)].utf8)
        case 1:
            bytes += Array(
                "\(Int64.random(in: Int64.min...Int64.max, using: &random) >> Int64.random(in: 0...63, using: &random))"
                    .utf8)
        case 2: bytes += Array("\(Double.random(in: -1e6...1e6, using: &random))".utf8)
        case 3:
            bytes += Array(
                "\(UInt64.random(in: 0...UInt64.max, using: &random))\(Bool.random(using: &random) ? "" : "e-7")".utf8)
        case 4, 5: string(to: &bytes, &random)
        case 6, 7:
            let isObject = Bool.random(using: &random)
            bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
            for position in 0..<Int.random(in: 0...5, using: &random) {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                if isObject {
                    space(&bytes)
                    string(to: &bytes, &random)
                    space(&bytes)
                    bytes.append(UInt8(ascii: ":"))
                }
                append(to: &bytes, depth: depth - 1, &random)
            }
            space(&bytes)
            bytes.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        default:
            bytes.append(UInt8(ascii: "["))
            append(to: &bytes, depth: depth - 1, &random)
            bytes.append(UInt8(ascii: "]"))
        }
        space(&bytes)
    }

    private static func string(to bytes: inout [UInt8], _ random: inout SeededRandom) {
        bytes.append(UInt8(ascii: "\""))
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let pieces = [
                "a", "Z", " ", "é", "€", "😀", #"\""#, #"\\"#, #"\/"#, #"\n"#, #"\u0000"#, #"\u00e9"#, #"\ud83d\ude00"#,
                "{", "]", ":", ",",
                "\u{7F}", "abcdefghijklmnopqrstuvwxyz0123456789",
            ]
            bytes += Array(pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    static func mutate(_ document: inout [UInt8], _ random: inout SeededRandom) {
        let byte = [
            UInt8(ascii: "\""), 0x5C, 0x7B, 0x7D, 0x5B, 0x5D, 0x2C, 0x3A, 0x30, 0x2D, 0x20, 0xED,
            UInt8.random(in: 0...255, using: &random),
        ]
        let new = byte[Int.random(in: 0..<byte.count, using: &random)]
        let place = Int.random(in: 0...document.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: document.insert(new, at: place)
        case 1: if place < document.count { document.remove(at: place) }
        case 2: if place < document.count { document[place] = new }
        default:
            let end = Int.random(in: place...document.count, using: &random)
            document.insert(contentsOf: document[place..<end], at: Int.random(in: 0...document.count, using: &random))
        }
    }
}
