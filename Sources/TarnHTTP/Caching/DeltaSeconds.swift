// Numbers of seconds in header fields, and the arithmetic with them. Pure, on integers.

/// Seconds, as the rules count them: whole, and never beyond 2³¹ (RFC 9111 §1.2.2).
package enum DeltaSeconds {
    /// What is larger, or overflows when it is computed, is this.
    package static let greatest = 1 << 31

    /// A non-negative integer in decimal digits. What does not fit is ``greatest``; what is none of that is nil.
    package static func parse(_ text: some Collection<UInt8>) -> Int? {
        guard !text.isEmpty else { return nil }
        var seconds = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            seconds = min(seconds * 10 + Int(byte - UInt8(ascii: "0")), greatest)
        }
        return seconds
    }

    /// A sum, between 0 and ``greatest``.
    package static func sum(_ a: Int, _ b: Int) -> Int { clamp(a.addingReportingOverflow(b), isLarge: b > 0) }

    /// A difference, between 0 and ``greatest``.
    package static func difference(_ a: Int, _ b: Int) -> Int { clamp(a.subtractingReportingOverflow(b), isLarge: b < 0) }

    private static func clamp(_ result: (partialValue: Int, overflow: Bool), isLarge: Bool) -> Int {
        if result.overflow { return isLarge ? greatest : 0 }
        return min(max(result.partialValue, 0), greatest)
    }
}
