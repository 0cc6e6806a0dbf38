// Seconds in header fields and their arithmetic. Pure, on integers.

/// Whole seconds, never more than 2³¹ (RFC 9111 §1.2.2).
package enum DeltaSeconds {
    /// The value of larger numbers and of overflows.
    package static let greatest = 1 << 31

    /// Parses a non-negative decimal integer, at most ``greatest``; nil if it is malformed.
    package static func parse(_ text: some Collection<UInt8>) -> Int? {
        guard !text.isEmpty else { return nil }
        var seconds = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            seconds = min(seconds * 10 + Int(byte - UInt8(ascii: "0")), greatest)
        }
        return seconds
    }

    /// Returns a sum, clamped to 0 to ``greatest``.
    package static func sum(_ a: Int, _ b: Int) -> Int { clamp(a.addingReportingOverflow(b), isLarge: b > 0) }

    /// Returns a difference, clamped to 0 to ``greatest``.
    package static func difference(_ a: Int, _ b: Int) -> Int {
        clamp(a.subtractingReportingOverflow(b), isLarge: b < 0)
    }

    private static func clamp(_ result: (partialValue: Int, overflow: Bool), isLarge: Bool) -> Int {
        if result.overflow { return isLarge ? greatest : 0 }
        return min(max(result.partialValue, 0), greatest)
    }
}
