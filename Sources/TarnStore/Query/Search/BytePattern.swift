internal import CByteSearch

/// A sequence of bytes to search for, with or without the case of ASCII letters.
///
/// The two rarest bytes are compared first, at many positions at a time; only where both fit are
/// the others compared.
struct BytePattern {
    private let bytes: [UInt8]
    /// For each byte the bits that are set before it is compared: 20 for a letter without case.
    private let folds: [UInt8]
    private let first: Int, second: Int

    /// Creates a pattern.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, at least one; in lower case if `ignoresCase`.
    ///   - ignoresCase: Whether ASCII letters match in both cases.
    init(_ bytes: [UInt8], ignoresCase: Bool) {
        self.bytes = bytes
        folds = bytes.map { ignoresCase && $0 &- 0x61 < 26 ? 0x20 : 0 }
        let order = bytes.indices.sorted { BytePattern.frequency(bytes[$0]) < BytePattern.frequency(bytes[$1]) }
        let a = order.first ?? 0, b = order.count > 1 ? order[1] : a
        (first, second) = (min(a, b), max(a, b))
    }

    /// An estimate of how often a byte occurs in rows.
    private static func frequency(_ byte: UInt8) -> Int {
        switch byte {
        case 0: 255
        case 0x20: 200
        case 0x61...0x7A: letters[Int(byte) - 0x61]
        case 0x30...0x39, 0x2E, 0x2F, 0x2D, 0x3A, 0x22: 60
        case 0x41...0x5A: letters[Int(byte) - 0x41] / 4
        case 0xC3: 50
        case 0x80...: 20
        default: 15
        }
    }

    /// For each letter its share of English text, in a half of a per mille.
    private static let letters = [
        163, 30, 56, 85, 254, 45, 40, 122, 139, 3, 15, 80, 48, 135, 150, 39, 2, 120, 127, 181, 55, 20, 47, 3, 39, 2,
    ]

    private static let isInHardware = tarn_byte_search_is_available()

    /// Returns the offset of the first occurrence; nil if there is none.
    func firstOffset(in text: Bytes) -> Int? {
        guard BytePattern.isInHardware else { return firstOffsetInSoftware(in: text) }
        return bytes.withUnsafeBufferPointer { bytes in
            folds.withUnsafeBufferPointer { folds in
                var pattern = tarn_byte_pattern(
                    bytes: bytes.baseAddress, folds: folds.baseAddress, count: bytes.count, first: first,
                    second: second)
                let found = tarn_byte_search(text.baseAddress, text.count, &pattern)
                return found < text.count ? found : nil
            }
        }
    }

    /// Does the same for processors without the instructions, sixteen positions at a time.
    func firstOffsetInSoftware(in text: Bytes) -> Int? {
        let count = bytes.count
        guard count > 0, text.count >= count, let start = text.baseAddress else { return nil }
        // Every position at which the pattern can begin.
        let positions = text.count - count + 1
        let a = SIMD16<UInt8>(repeating: bytes[first]), foldA = SIMD16<UInt8>(repeating: folds[first])
        let b = SIMD16<UInt8>(repeating: bytes[second]), foldB = SIMD16<UInt8>(repeating: folds[second])
        @inline(__always)
        func matches(_ position: Int) -> SIMD2<UInt64> {
            let x = start.loadUnaligned(fromByteOffset: position + first, as: SIMD16<UInt8>.self)
            let y = start.loadUnaligned(fromByteOffset: position + second, as: SIMD16<UInt8>.self)
            return BytePattern.zeros(((x | foldA) ^ a) | ((y | foldB) ^ b))
        }
        var position = 0
        while position + 64 <= positions {
            let parts = (
                matches(position), matches(position + 16), matches(position + 32), matches(position + 48)
            )
            let near = parts.0 | parts.1 | parts.2 | parts.3
            if near[0] | near[1] != 0 {
                if let found = firstMatch(start, position, parts.0) ?? firstMatch(start, position + 16, parts.1)
                    ?? firstMatch(start, position + 32, parts.2) ?? firstMatch(start, position + 48, parts.3)
                {
                    return found
                }
            }
            position += 64
        }
        while position + 16 <= positions {
            if let found = firstMatch(start, position, matches(position)) { return found }
            position += 16
        }
        while position < positions {
            if isMatch(start + position) { return position }
            position += 1
        }
        return nil
    }

    func occurs(in text: Bytes) -> Bool { firstOffset(in: text) != nil }

    private func isMatch(_ start: UnsafeRawPointer) -> Bool {
        let text = Bytes(start: start, count: bytes.count)
        guard text[first] | folds[first] == bytes[first], text[second] | folds[second] == bytes[second] else {
            return false
        }
        for index in bytes.indices where text[index] | folds[index] != bytes[index] { return false }
        return true
    }

    /// Returns the first of sixteen positions at which the pattern is, of those whose byte is set.
    @inline(__always)
    private func firstMatch(_ start: UnsafeRawPointer, _ position: Int, _ near: SIMD2<UInt64>) -> Int? {
        for half in 0..<2 {
            var word = near[half]
            while word != 0 {
                let byte = word.trailingZeroBitCount / 8, candidate = position + 8 * half + byte
                if isMatch(start + candidate) { return candidate }
                word &= ~(0xFF << UInt64(8 * byte))
            }
        }
        return nil
    }

    /// Returns sixteen bytes that are FF where a byte is zero, and zero elsewhere.
    @inline(__always)
    private static func zeros(_ bytes: SIMD16<UInt8>) -> SIMD2<UInt64> {
        let mask = bytes .== SIMD16<UInt8>(repeating: 0)
        // The lanes of a mask are all ones or all zeros. `any` of it is a call in Swift 6.3.
        return unsafeBitCast(mask, to: SIMD2<UInt64>.self)
    }
}
