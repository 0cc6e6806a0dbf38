// Dates in header fields (RFC 9110 §5.6.7). Pure.

import Foundation

/// The three forms of an HTTP-date (RFC 9110 §5.6.7). All of them are in GMT.
package enum HTTPDate {
    /// Parses an HTTP-date, including the obsolete forms.
    ///
    /// The forms are `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`. The result is nil for any other text; only letter case is
    /// ignored.
    ///
    /// - Parameter now: the current time, which determines the century of a two-digit year.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        let now = min(max(now.timeIntervalSince1970, -1e12), 1e12)
        return seconds(text, now: Int(now)).map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Parses an HTTP-date like ``parse(_:now:)``, into seconds since 1970.
    package static func seconds(_ text: String, now: Int) -> Int? {
        var text = text
        return text.withUTF8 { DateReader($0).seconds(now: now) }
    }

    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT`; fractions of a second are truncated.
    package static func text(_ date: Date) -> String {
        // RFC 9110 §5.6.7: a year has four digits.
        let seconds = Int(min(max(date.timeIntervalSince1970, -62_167_219_200), 253_402_300_799).rounded(.down))
        let days = Int((Double(seconds) / 86_400).rounded(.down)), rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekdays[((days % 7) + 11) % 7]), \(two(day)) \(months[month - 1]) \(year) "
            + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Returns the four-digit year of a two-digit one.
    ///
    /// RFC 9110 §5.6.7: a year that appears to be more than 50 years in the future is the most
    /// recent past year with the same digits.
    fileprivate static func fullYear(_ digits: Int, now: Int) -> Int {
        let thisYear = civil(Int((Double(now) / 86_400).rounded(.down))).year
        let year = thisYear / 100 * 100 + digits
        return year > thisYear + 50 ? year - 100 : year
    }

    /// Returns seconds since 1970; nil if there is no such day or time. Leap seconds are accepted.
    static func seconds(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard hour < 24, minute < 60, second <= 60, day >= 1, day <= 31 else { return nil }
        let days = daysSince1970(year, month, day)
        guard civil(days) == (year, month, day) else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    // days_from_civil and civil_from_days: Howard Hinnant, "chrono-Compatible Low-Level Date
    // Algorithms".
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400, yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097, dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// A parser of the grammar of RFC 9110 §5.6.7, on bytes.
///
/// No form allows other white space, separators or zones.
private struct DateReader {
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    func seconds(now: Int) -> Int? {
        // The longest form is `Wednesday, 06-Nov-94 08:49:37 GMT`.
        guard (24...33).contains(bytes.count) else { return nil }
        if bytes[3] == UInt8(ascii: ",") { return fixed() }
        return bytes[3] == UInt8(ascii: " ") ? asctime() : obsolete(now)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private func fixed() -> Int? {
        guard bytes.count == 29, isWeekday(0..<3), isText(", ", at: 3), isText(" ", at: 7), isText(" ", at: 11),
            isText(" ", at: 16), isText(" gmt", at: 25)
        else { return nil }
        return moment(year: number(12, 4), month: month(at: 8), day: number(5, 2), time: 17)
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private func asctime() -> Int? {
        guard bytes.count == 24, isWeekday(0..<3), isText(" ", at: 3), isText(" ", at: 7), isText(" ", at: 10),
            isText(" ", at: 19)
        else { return nil }
        let day = isText(" ", at: 8) ? number(9, 1) : number(8, 2)
        return moment(year: number(20, 4), month: month(at: 4), day: day, time: 11)
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    private func obsolete(_ now: Int) -> Int? {
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")), bytes.count == comma + 24, isWeekday(0..<comma),
            isText(", ", at: comma),
            isText("-", at: comma + 4), isText("-", at: comma + 8), isText(" ", at: comma + 11),
            isText(" gmt", at: comma + 20)
        else { return nil }
        let year = number(comma + 9, 2).map { HTTPDate.fullYear($0, now: now) }
        return moment(year: year, month: month(at: comma + 5), day: number(comma + 2, 2), time: comma + 12)
    }

    private func moment(year: Int?, month: Int?, day: Int?, time: Int) -> Int? {
        guard let year, let month, let day, isText(":", at: time + 2), isText(":", at: time + 5),
            let hour = number(time, 2), let minute = number(time + 3, 2), let second = number(time + 6, 2)
        else { return nil }
        return HTTPDate.seconds(year, month, day, hour, minute, second)
    }

    private func number(_ start: Int, _ count: Int) -> Int? { DeltaSeconds.parse(bytes[start..<start + count]) }

    private func month(at start: Int) -> Int? {
        let names: StaticString = "janfebmaraprmayjunjulaugsepoctnovdec"
        return (0..<12).first { month in (0..<3).allSatisfy { folded(start + $0) == names.utf8Start[month * 3 + $0] } }
            .map { $0 + 1 }
    }

    /// Returns whether a range is the first three letters of a day's name, or the whole name.
    private func isWeekday(_ range: Range<Int>) -> Bool {
        func has(_ name: StaticString) -> Bool {
            (range.count == 3 || range.count == name.utf8CodeUnitCount)
                && range.allSatisfy { folded($0) == name.utf8Start[$0 - range.lowerBound] }
        }
        return has("sunday") || has("monday") || has("tuesday") || has("wednesday") || has("thursday") || has("friday")
            || has("saturday")
    }

    private func isText(_ text: StaticString, at start: Int) -> Bool {
        (0..<text.utf8CodeUnitCount).allSatisfy { folded(start + $0) == text.utf8Start[$0] }
    }

    private func folded(_ index: Int) -> UInt8 {
        let byte = bytes[index]
        return (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
