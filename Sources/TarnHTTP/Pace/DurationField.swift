// Lengths and moments in header fields about rate limits, as texts. Pure.

import Foundation

/// The forms of times that servers send beside numbers and dates of HTTP.
enum DurationField {
    private static let units: [String: Double] = [
        "ms": 0.001, "s": 1, "sec": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "minute": 60, "minutes": 60,
        "h": 3600, "hour": 3600, "hours": 3600, "d": 86_400, "day": 86_400, "days": 86_400,
    ]

    /// Returns the seconds of a length such as `6m0s`, `250ms`, `1.5s` or `30 seconds`.
    static func seconds(_ text: String) -> Double? {
        guard text.utf8.count <= 32 else { return nil }
        var rest = text.lowercased()[...], total = 0.0, hasUnit = false
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard !digits.isEmpty, let number = Double(digits) else { return nil }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            guard let factor = units[String(unit)] else { return nil }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            total += number * factor
            hasUnit = true
        }
        return hasUnit && total.isFinite ? total : nil
    }

    /// Returns the moment of a date of ISO 8601, also with fractions, or without seconds.
    static func date(_ text: String) -> Date? {
        guard text.utf8.count <= 40 else { return nil }
        if let date = try? Date(text, strategy: .iso8601) { return date }
        var time = text.uppercased().replacing(" ", with: "T", maxReplacements: 1)
        guard let start = time.firstIndex(of: "T") else { return nil }
        if let dot = time[start...].firstIndex(of: ".") {
            let end = time[dot...].dropFirst().firstIndex { !$0.isNumber } ?? time.endIndex
            time.removeSubrange(dot..<end)
        }
        guard let begin = time.firstIndex(of: "T") else { return nil }
        let zone = time[begin...].firstIndex { $0 == "Z" || $0 == "+" || $0 == "-" } ?? time.endIndex
        let seconds = time[begin..<zone].filter { $0 == ":" }.count == 1 ? ":00" : ""
        let whole = String(time[..<zone]) + seconds + (zone == time.endIndex ? "Z" : String(time[zone...]))
        return try? Date(whole, strategy: .iso8601)
    }
}
