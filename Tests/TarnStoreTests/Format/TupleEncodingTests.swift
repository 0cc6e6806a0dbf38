// The encoding of keys: published vectors of the FoundationDB tuple layer, order, round trips, and
// hostile bytes.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Order-preserving tuples")
struct TupleEncodingTests {
    @Test(
        "integers are encoded as published",
        arguments: [
            (Int64(0), "14"), (1, "15 01"), (-1, "13 FE"), (255, "15 FF"), (256, "16 01 00"), (-255, "13 00"),
            (-256, "12 FE FF"), (-5_551_212, "11 AB 4B 93"), (65535, "16 FF FF"), (65536, "17 01 00 00"),
            (Int64(UInt32.max), "18 FF FF FF FF"), (1 << 32, "19 01 00 00 00 00"),
            (Int64.max, "1C 7F FF FF FF FF FF FF FF"), (Int64.min, "0C 7F FF FF FF FF FF FF FF"),
            (Int64.min + 1, "0C 80 00 00 00 00 00 00 00"),
        ])
    func integerVectors(_ value: Int64, _ encoding: String) {
        #expect(written { $0.appendTuple(value) } == hex(encoding))
    }

    @Test("unsigned integers above the signed range follow them")
    func unsignedVectors() {
        #expect(written { $0.appendTuple(UInt64.max) } == hex("1C FF FF FF FF FF FF FF FF"))
        #expect(written { $0.appendTuple(UInt64(1)) } == hex("15 01"))
        #expect(written { $0.appendTuple(UInt64(Int64.max) + 1) } == hex("1C 80 00 00 00 00 00 00 00"))
    }

    @Test("strings and bytes are encoded as published, NUL escaped")
    func stringVectors() {
        func string(_ text: String) -> [UInt8] {
            Array(text.utf8).withUnsafeBytes { b in written { $0.appendTuple(string: b) } }
        }
        #expect(string("F\u{00d4}O\u{0000}bar") == hex("02 46 C3 94 4F 00 FF 62 61 72 00"))
        #expect(string("") == hex("02 00"))
        #expect(string("\0") == hex("02 00 FF 00"))
        #expect(string("\0\0") == hex("02 00 FF 00 FF 00"))
        #expect(
            Array("foo\u{0}bar".utf8).withUnsafeBytes { b in written { $0.appendTuple(bytes: b) } }
                == hex("01 66 6F 6F 00 FF 62 61 72 00"))
    }

    @Test("doubles are encoded as published; −0 equals 0 and NaN sorts last")
    func doubleVectors() {
        func double(_ value: Double) -> [UInt8] { written { $0.appendTuple(value) } }
        #expect(double(-42) == hex("21 3F BA FF FF FF FF FF FF"))
        #expect(double(42) == hex("21 C0 45 00 00 00 00 00 00"))
        #expect(double(0) == hex("21 80 00 00 00 00 00 00 00"))
        #expect(double(-0.0) == double(0))
        #expect(double(.infinity).lexicographicallyPrecedes(double(.nan)))
        #expect(double(-.nan) == double(.nan))
        #expect(double(.signalingNaN) == double(.nan))
        #expect(double(-.infinity).lexicographicallyPrecedes(double(-Double.greatestFiniteMagnitude)))
    }

    @Test("null, booleans and UUIDs are encoded as published")
    func otherVectors() {
        #expect(written { $0.appendTupleNull() } == [0])
        #expect(written { $0.appendTuple(false) } == [0x26])
        #expect(written { $0.appendTuple(true) } == [0x27])
        let id = (0..<16).map { UInt8($0) }
        #expect(id.withUnsafeBytes { b in written { $0.appendTuple(uuid: b) } } == [0x30] + id)
    }

    @Test("byte order is the order of integers", arguments: [UInt64(11), 12])
    func integerOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var values: [Int64] = [.min, .min + 1, -256, -255, -1, 0, 1, 255, 256, .max - 1, .max]
        for _ in 0..<1500 {
            values.append(Int64(truncatingIfNeeded: random.next()) >> Int.random(in: 0...63, using: &random))
        }
        let sorted = Set(values).sorted().map { value in written { $0.appendTuple(value) } }
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(a.lexicographicallyPrecedes(b), "seed \(seed)") }
    }

    @Test("byte order is the order of doubles", arguments: [UInt64(21), 22])
    func doubleOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var values: [Double] = [-.infinity, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, .infinity]
        for _ in 0..<1500 {
            let value = Double(bitPattern: random.next())
            if !value.isNaN { values.append(value) }
        }
        let sorted = Set(values).sorted().map { value in written { $0.appendTuple(value) } }
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(a.lexicographicallyPrecedes(b), "seed \(seed)") }
    }

    /// Characters that collide easily: NUL, the highest code points, and canonically equal ones.
    static let alphabet: [Unicode.Scalar] = [
        "\0", "\u{1}", "a", "b", "é", "\u{301}", "e", "ÿ", "\u{FFFF}", "\u{10FFFF}", "\u{7F}",
    ]

    static func string(_ random: inout SeededRandom, upTo count: Int = 6) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...count, using: &random) {
            text.append(alphabet.randomElement(using: &random) ?? "a")
        }
        return String(text)
    }

    @Test(
        "byte order is the order of composites, component by component, strings by their UTF-8",
        arguments: [UInt64(31), 32, 33])
    func compositeOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let keys = (0..<1200).map { _ in
            RecordKey([
                .string(TupleEncodingTests.string(&random)), .int(Int64.random(in: -300...300, using: &random)),
                .string(TupleEncodingTests.string(&random)),
            ])
        }
        func precedes(_ a: RecordKey, _ b: RecordKey) -> Bool {
            for (x, y) in zip(a.components, b.components) {
                switch (x, y) {
                case (.int(let x), .int(let y)) where x != y: return x < y
                case (.string(let x), .string(let y)) where !x.utf8.elementsEqual(y.utf8):
                    return x.utf8.lexicographicallyPrecedes(y.utf8)
                default: continue
                }
            }
            return false
        }
        for _ in 0..<4000 {
            guard let a = keys.randomElement(using: &random), let b = keys.randomElement(using: &random) else { return }
            #expect(a.storageKey.lexicographicallyPrecedes(b.storageKey) == precedes(a, b), "seed \(seed): \(a) \(b)")
            #expect((a.storageKey == b.storageKey) == (a == b), "seed \(seed): \(a) \(b)")
        }
    }

    @Test("every key comes back from its bytes", arguments: [UInt64(41), 42])
    func roundTrip(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<1500 {
            let components = (0..<Int.random(in: 1...3, using: &random)).map { _ -> KeyComponent in
                switch Int.random(in: 0...2, using: &random) {
                case 0: .int(Int64(truncatingIfNeeded: random.next()) >> Int.random(in: 0...63, using: &random))
                case 1: .string(TupleEncodingTests.string(&random))
                default: .uuid(UUID(bytes: (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }))
                }
            }
            let key = RecordKey(components)
            #expect(key.storageKey.withUnsafeBytes { RecordKey(storageKey: $0) } == key, "seed \(seed)")
        }
    }

    @Test("every kind of element comes back, also after another one")
    func elementsRoundTrip() {
        let encoded = written { writer in
            writer.appendTupleNull()
            writer.appendTuple(true)
            writer.appendTuple(Int64.min)
            writer.appendTuple(UInt64.max)
            writer.appendTuple(-1.5)
            Array("a\0b".utf8).withUnsafeBytes { writer.appendTuple(string: $0) }
            Array("\0".utf8).withUnsafeBytes { writer.appendTuple(bytes: $0) }
            writer.appendTuple(false)
        }
        encoded.withUnsafeBytes { bytes in
            var reader = TupleReader(bytes)
            var elements: [TupleElement?] = []
            while !reader.isAtEnd { elements.append(reader.next()) }
            let written: [TupleElement?] = [
                .null, .bool(true), .int(.min), .uint(.max), .double(-1.5), .string("a\0b"), .bytes([0]), .bool(false),
            ]
            #expect(elements == written)
        }
    }

    @Test("a negative integer beyond 64 bits is nil, not another number")
    func tooNegativeIsNil() {
        hex("0C 7F FF FF FF FF FF FF FE").withUnsafeBytes { bytes in
            var reader = TupleReader(bytes)
            #expect(reader.next() == nil)
        }
    }

    @Test("the reader ends on any bytes, whole or cut, inside them", arguments: [UInt64(51), 52])
    func readerIsTotal(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let codes: [UInt8] = [0, 1, 2, 0x0B, 0x0C, 0x13, 0x14, 0x15, 0x1C, 0x1D, 0x20, 0x21, 0x26, 0x27, 0x30, 0xFF]
        for _ in 0..<4000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? codes.randomElement(using: &random) ?? 0 : UInt8(truncatingIfNeeded: random.next())
            }
            // A copy of exact size: a sanitizer sees an access beyond it.
            bytes.withUnsafeBytes { bytes in
                var reader = TupleReader(bytes)
                var steps = 0
                while !reader.isAtEnd, reader.next() != nil { steps += 1 }
                #expect(reader.offset <= bytes.count && steps <= bytes.count, "seed \(seed)")
                _ = RecordKey(storageKey: bytes)
                for components in 1...3 {
                    let length = StorageKey.length(in: bytes, components: components)
                    #expect(length ?? 0 <= bytes.count, "seed \(seed)")
                }
            }
        }
    }

    @Test("every truncation of a key is recognised as incomplete")
    func truncatedKeysAreIncomplete() {
        let key = RecordKey([.string("a\0b"), .int(-70_000), .uuid(UUID())])
        let bytes = key.storageKey
        for count in 0..<bytes.count {
            let decoded = bytes.prefix(count).withUnsafeBytes { RecordKey(storageKey: $0) }
            #expect(decoded != key)
            #expect(decoded?.components.count ?? 0 < 3)
        }
    }
}
