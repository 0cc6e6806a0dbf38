// The search for bytes, beside a comparison at every position.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Byte patterns")
struct BytePatternTests {
    @Test("patterns are found at every position of texts of every length")
    func bytePattern() {
        for length in 1...5 {
            for ignoresCase in [false, true] {
                let pattern = Array("zqxjk".utf8.prefix(length))
                for position in 0...200 {
                    var text = [UInt8](repeating: UInt8(ascii: "e"), count: 200)
                    text.insert(contentsOf: ignoresCase ? pattern.map { $0 & 0xDF } : pattern, at: position)
                    let wanted = BytePattern(pattern, ignoresCase: ignoresCase)
                    text.withUnsafeBytes {
                        #expect(wanted.firstOffset(in: $0) == position, "\(length) \(position) \(ignoresCase)")
                        #expect(wanted.firstOffsetInSoftware(in: $0) == position)
                    }
                }
            }
        }
    }

    @Test("patterns are found as by comparing every position, with the processor's instructions and without")
    func bytePatternModel() {
        var dice = SeededRandom(seed: 20_261_125)
        for _ in 0..<20_000 {
            // Few letters: near matches are frequent, and matches are at any place.
            func letters(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in UInt8(ascii: "a") + UInt8(dice.roll(0..<3)) }
            }
            let ignoresCase = dice.roll(0..<2) == 0
            let pattern = letters(dice.roll(1..<9))
            var text = letters(dice.roll(0..<300))
            if dice.roll(0..<2) == 0 { text = text.map { $0 == pattern[0] ? UInt8(ascii: "-") : $0 } }
            if ignoresCase { text = text.map { dice.roll(0..<2) == 0 ? $0 & 0xDF : $0 } }
            let lower = ignoresCase ? text.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } : text
            let expected = (0..<max(0, text.count - pattern.count + 1)).first { position in
                lower[position..<position + pattern.count].elementsEqual(pattern)
            }
            let wanted = BytePattern(pattern, ignoresCase: ignoresCase)
            // Exactly as much memory as the text has: reading beside it is seen by a sanitizer.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: text)
            #expect(wanted.firstOffset(in: UnsafeRawBufferPointer(copy)) == expected)
            #expect(wanted.firstOffsetInSoftware(in: UnsafeRawBufferPointer(copy)) == expected)
        }
    }
}
