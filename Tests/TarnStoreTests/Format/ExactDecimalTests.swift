// Decimals: exact, canonical, ordered.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Exact decimals")
struct ExactDecimalTests {
    @Test(
        "a number is read exactly and written in one canonical form",
        arguments: [
            ("0", "0"), ("-0", "0"), ("0.000", "0"), ("0e99", "0"), ("1", "1"), ("-1", "-1"), ("1.50", "1.5"),
            ("15e-1", "1.5"),
            ("0.1", "0.1"), ("100", "100"), ("1e2", "100"), ("1E+2", "100"), ("007.00", "7"),
            ("123456789.987654321", "123456789.987654321"),
            ("0.00001", "0.00001"), ("0.0000001", "1e-7"), ("1e21", "1e21"), ("1e20", "100000000000000000000"),
            ("12e-10", "1.2e-9"),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
            ("1e2147483646", "1e2147483646"),
        ])
    func canonical(_ text: String, _ expected: String) throws {
        let value = try #require(ExactDecimal(text))
        #expect(value.description == expected)
        #expect(ExactDecimal(value.description) == value)
    }

    @Test(
        "what is no number is refused",
        arguments: [
            "", "-", ".5", "1.", "1.e5", "1e", "1e+", "1.2.3", "0x10", "1 ", " 1", "NaN", "1e99999999999999999999",
            "1e2147483648",
        ])
    func refused(_ text: String) {
        #expect(ExactDecimal(text) == nil)
    }

    @Test("four hundred digits stay four hundred digits")
    func long() throws {
        let text = "9" + String(repeating: "1234567890", count: 40) + "." + String(repeating: "7", count: 400)
        #expect(try #require(ExactDecimal(text)).description == text)
    }

    @Test("byte order of the encoding is the order of the values, and decoding gives the value back")
    func order() throws {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
        var random = SeededRandom(seed: seed)
        var values = [
            "0", "1", "-1", "0.5", "-0.5", "10", "9", "-10", "-9", "1e-7", "-1e-7", "1e30", "-1e30", "1.1", "1.01",
            "1.001", "-1.1", "-1.11",
        ]
        .compactMap { ExactDecimal($0) }
        for _ in 0..<500 {
            let digits = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let text =
                (Bool.random(using: &random) ? "-" : "") + digits + "e\(Int.random(in: -40...40, using: &random))"
            values.append(try #require(ExactDecimal(text)))
        }
        let encoded = values.map { value in
            var writer = ByteWriter()
            writer.appendTuple(value)
            return (value, Array(writer.bytes))
        }
        for (value, bytes) in encoded {
            bytes.withUnsafeBytes { bytes in
                var reader = TupleReader(bytes)
                #expect(reader.next() == .decimal(value), "seed \(seed)")
                #expect(reader.isAtEnd)
            }
        }
        for (a, x) in encoded {
            for (b, y) in encoded {
                let order = x.withUnsafeBytes { x in y.withUnsafeBytes { y in Bytes.compare(x, y) } }
                #expect((order < 0) == (a < b) && (order == 0) == (a == b), "\(a) and \(b), seed \(seed)")
            }
        }
    }

    @Test("a decimal that is cut off is no element")
    func truncated() throws {
        var writer = ByteWriter()
        writer.appendTuple(try #require(ExactDecimal("-12.5")))
        for count in 0..<writer.count {
            var reader = TupleReader(writer.bytes(0..<count))
            #expect(reader.next() == nil)
        }
    }
}
