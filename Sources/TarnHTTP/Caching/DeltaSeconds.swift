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

extension HTTPDate {
    /// Seconds since 1970. The usual form (IMF-fixdate) is read as bytes; the others as ``parse(_:now:)`` does.
    package static func seconds(_ text: String, now: Int) -> Int? {
        var text = text
        let usual: Int?? = text.withUTF8 { bytes in
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard bytes.count == 29, bytes[3] == 0x2C, bytes[4] == 0x20, bytes[7] == 0x20, bytes[11] == 0x20, bytes[16] == 0x20,
                bytes[19] == 0x3A, bytes[22] == 0x3A, bytes[25] == 0x20, bytes[26] == 0x47, bytes[27] == 0x4D, bytes[28] == 0x54
            else { return nil }
            func number(_ start: Int, _ count: Int) -> Int? { DeltaSeconds.parse(bytes[start..<start + count]) }
            guard let day = number(5, 2), let month = month(bytes[8], bytes[9], bytes[10]), let year = number(12, 4),
                let hour = number(17, 2), let minute = number(20, 2), let second = number(23, 2)
            else { return .some(nil) }
            return .some(seconds(year, month, day, hour, minute, second))
        }
        if let usual { return usual }
        return parse(text, now: .init(timeIntervalSince1970: Double(now))).map { Int($0.timeIntervalSince1970) }
    }

    private static func month(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> Int? {
        let names: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
        let start = names.utf8Start
        for month in 0..<12 where start[month * 3] == a && start[month * 3 + 1] == b && start[month * 3 + 2] == c { return month + 1 }
        return nil
    }
}
