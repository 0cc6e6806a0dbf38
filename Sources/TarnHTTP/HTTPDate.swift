// Dates in header fields (RFC 9110 §5.6.7). Pure.

import Foundation

/// The three forms of an HTTP date. All of them are in GMT.
public enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete forms `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`. Nil if it is none of them.
    ///
    /// - Parameter now: what decides the century of a year with two digits.
    public static func parse(_ text: String, now: Date = Date()) -> Date? {
        let parts = text.split { $0 == " " || $0 == "," }.map(String.init)
        switch parts.count {
        case 6:  // IMF-fixdate, and what servers make of it: other zones' names for UTC
            guard ["GMT", "UTC", "UT", "Z", "+0000"].contains(parts[5]) else { return nil }
            return date(day: parts[1], month: parts[2], year: number(parts[3], digits: 4), time: parts[4])
        case 4:  // rfc850-date
            let day = parts[1].split(separator: "-").map(String.init)
            guard day.count == 3, ["GMT", "UTC"].contains(parts[3]) else { return nil }
            if day[2].utf8.count == 4 { return date(day: day[0], month: day[1], year: number(day[2], digits: 4), time: parts[2]) }
            return date(day: day[0], month: day[1], year: number(day[2], digits: 2).map { fullYear($0, now: now) }, time: parts[2])
        case 5:  // asctime-date
            return date(day: parts[2], month: parts[1], year: number(parts[4], digits: 4), time: parts[3])
        default: return nil
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the fraction of the second dropped.
    public static func text(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        let days = Int((Double(seconds) / 86_400).rounded(.down)), rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekdays[((days % 7) + 11) % 7]), \(two(day)) \(months[month - 1]) \(year) "
            + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// RFC 9110 §5.6.7: what seems to lie more than 50 years ahead is the last year with these digits.
    private static func fullYear(_ digits: Int, now: Date) -> Int {
        let thisYear = civil(Int((now.timeIntervalSince1970 / 86_400).rounded(.down))).year
        let year = thisYear / 100 * 100 + digits
        return year > thisYear + 50 ? year - 100 : year
    }

    private static func date(day: String, month: String, year: Int?, time: String) -> Date? {
        guard let year, let day = HTTPSyntax.decimal(day), let month = months.firstIndex(of: month).map({ $0 + 1 }) else { return nil }
        let clock = time.split(separator: ":").map { number(String($0), digits: 2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2] else { return nil }
        return seconds(year, month, day, hour, minute, second).map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Seconds since 1970; nil if there is no such day or time. A second may be a leap second.
    static func seconds(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard hour < 24, minute < 60, second <= 60, day >= 1, day <= 31 else { return nil }
        let days = daysSince1970(year, month, day)
        guard civil(days) == (year, month, day) else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        text.utf8.count == digits ? HTTPSyntax.decimal(text) : nil
    }

    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": days_from_civil and civil_from_days.
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
