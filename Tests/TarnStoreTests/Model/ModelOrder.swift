// The order and the equality of values for the oracle: by their meaning, independent of the store's
// encodings.

import Foundation
import TarnStore

enum IndexedValue: Sendable {
    case null
    case value(Value)
    /// A record of a root entity.
    case reference(String, Int)

    var isNull: Bool { if case .null = self { true } else { false } }
}

enum ModelOrder {
    static func compare(_ a: String, _ b: String) -> Int {
        var a = a, b = b
        return a.withUTF8 { a in b.withUTF8 { b in compare(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) } }
    }

    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        if let x = a.baseAddress, let y = b.baseAddress {
            let order = memcmp(x, y, min(a.count, b.count))
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    private static func compare<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

    /// For values of one attribute, none of them null.
    static func compare(_ a: Value, _ b: Value) -> Int {
        switch (a, b) {
        case (.bool(let x), .bool(let y)): compare(x ? 1 : 0, y ? 1 : 0)
        case (.int(let x), .int(let y)): compare(x, y)
        case (.uint(let x), .uint(let y)): compare(x, y)
        case (.int, .uint): -1
        case (.uint, .int): 1
        // Every NaN is the same, behind all else.
        case (.double(let x), .double(let y)):
            x.isNaN || y.isNaN ? compare(x.isNaN ? 1 : 0, y.isNaN ? 1 : 0) : compare(x, y)
        case (.decimal(let x), .decimal(let y)): compare(x, y)
        case (.string(let x), .string(let y)), (.url(let x), .url(let y)), (.json(let x), .json(let y)): compare(x, y)
        case (.bytes(let x), .bytes(let y)): x.withUnsafeBytes { x in y.withUnsafeBytes { compare(x, $0) } }
        case (.date(let x), .date(let y)): compare(x.microseconds, y.microseconds)
        case (.uuid(let x), .uuid(let y)):
            withUnsafeBytes(of: x.uuid) { x in withUnsafeBytes(of: y.uuid) { compare(x, $0) } }
        default: preconditionFailure("\(a) and \(b) are not of one type")
        }
    }

    static func compare(_ a: IndexedValue, _ b: IndexedValue) -> Int {
        switch (a, b) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.value(let x), .value(let y)): return compare(x, y)
        case (.reference(let root, let x), .reference(_, let y)):
            let rank = ModelKeys.pool(root).rank
            return rank[x] - rank[y]
        default: preconditionFailure("\(a) and \(b) are not of one index")
        }
    }

    static func compare(_ a: [IndexedValue], _ b: [IndexedValue]) -> Int {
        for (x, y) in zip(a, b) {
            let order = compare(x, y)
            if order != 0 { return order }
        }
        return a.count - b.count
    }

    /// The number of bytes of an index's values that surely count: differences after the 270th may
    /// be in any order.
    static func mayBeCut(_ a: [IndexedValue], _ b: [IndexedValue]) -> Bool {
        var length = 0
        for (x, y) in zip(a, b) {
            let bytes = text(x), other = text(y)
            let common = zip(bytes, other).prefix { $0 == $1 }
            length += 2 + common.reduce(0) { $0 + ($1.0 == 0 ? 2 : 1) }
            if common.count < max(bytes.count, other.count) || compare(x, y) != 0 { break }
        }
        return length >= 268
    }

    private static func text(_ value: IndexedValue) -> [UInt8] {
        switch value {
        case .value(.string(let x)), .value(.url(let x)): Array(x.utf8)
        case .value(.bytes(let x)): x
        case .value(.decimal(let x)): x.digits + [0, 0, 0, 0]
        // A text that no record has.
        case .value, .reference, .null: Array(repeating: 1, count: 250)
        }
    }

    /// The letters that the test has, by Unicode's full case folding.
    static func folded(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "ß": result += "ss"
            case "ς", "Σ": result += "σ"
            default: result.unicodeScalars.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return result
    }

    // MARK: What a row holds, to the last bit

    static func areSame(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.uint(let x), .uint(let y)): x == y
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
        case (.decimal(let x), .decimal(let y)): x == y
        case (.string(let x), .string(let y)), (.url(let x), .url(let y)), (.json(let x), .json(let y)):
            compare(x, y) == 0
        case (.bytes(let x), .bytes(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.array(let x), .array(let y)): x.count == y.count && zip(x, y).allSatisfy { areSame($0, $1) }
        default: false
        }
    }

    static func areSame(_ a: [String: Cell], _ b: [String: Cell]) -> Bool {
        guard a.count == b.count else { return false }
        return a.allSatisfy { name, cell in
            switch (cell, b[name]) {
            case (.value(let x), .value(let y)?): areSame(x, y)
            case (.references(let x, let p), .references(let y, let q)?): x == y && p == q
            default: false
            }
        }
    }
}
