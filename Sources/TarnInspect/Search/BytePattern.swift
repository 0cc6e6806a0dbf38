import TarnStore

/// A sequence of bytes to search for, with or without the case of ASCII letters.
///
/// The two rarest bytes are compared first, sixteen positions at a time; only where both fit are
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

    /// Returns the offset of the first occurrence; nil if there is none.
    func firstOffset(in text: Bytes) -> Int? {
        let count = bytes.count
        guard count > 0, text.count >= count, let start = text.baseAddress else { return nil }
        // Every position at which the pattern can begin.
        let positions = text.count - count + 1
        let a = SIMD16<UInt8>(repeating: bytes[first]), foldA = SIMD16<UInt8>(repeating: folds[first])
        let b = SIMD16<UInt8>(repeating: bytes[second]), foldB = SIMD16<UInt8>(repeating: folds[second])
        var position = 0
        while position + 64 <= positions {
            var isNear = false
            for part in stride(from: position, to: position + 64, by: 16) {
                let x = start.loadUnaligned(fromByteOffset: part + first, as: SIMD16<UInt8>.self)
                let y = start.loadUnaligned(fromByteOffset: part + second, as: SIMD16<UInt8>.self)
                isNear = BytePattern.hasZero(((x | foldA) ^ a) | ((y | foldB) ^ b)) || isNear
            }
            if isNear { for candidate in position..<position + 64 where isMatch(start + candidate) { return candidate } }
            position += 64
        }
        while position + 16 <= positions {
            let x = start.loadUnaligned(fromByteOffset: position + first, as: SIMD16<UInt8>.self)
            let y = start.loadUnaligned(fromByteOffset: position + second, as: SIMD16<UInt8>.self)
            let differences = ((x | foldA) ^ a) | ((y | foldB) ^ b)
            if BytePattern.hasZero(differences) {
                for candidate in position..<position + 16 where isMatch(start + candidate) { return candidate }
            }
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

    @inline(__always)
    private static func hasZero(_ bytes: SIMD16<UInt8>) -> Bool { any(bytes .== SIMD16<UInt8>(repeating: 0)) }
}
