// Points in time with microsecond resolution, and their RFC 3339 form.

internal import Glibc

/// A point in time, in microseconds since 1970-01-01T00:00:00Z.
/// As in POSIX, leap seconds are ignored.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public var microseconds: Int64

    /// Creates a point in time from microseconds since 1970-01-01T00:00:00Z.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The current time of the system's clock.
    static var systemTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Parses an RFC 3339 date-time (§5.6), such as `2026-11-21T02:19:00.25+01:00`.
    ///
    /// `t` and `z` are allowed, and a space instead of `T`. Digits beyond microseconds are cut off.
    /// Second 60 counts as the first second of the next minute. Nil for any other text.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ Timestamp(rfc3339: Bytes($0)) }) else { return nil }
        self = value
    }

    /// Parses a description: RFC 3339, and for other years than 0 to 9999 the form that
    /// ``description`` has, which no API sends.
    package init?(description text: String) {
        guard text.utf8.first == UInt8(ascii: "+") || text.utf8.first == UInt8(ascii: "-") else {
            self.init(text)
            return
        }
        let digits = text.utf8.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count >= 6, let number = Int(String(decoding: digits, as: UTF8.self)), number < 1_000_000 else {
            return nil
        }
        let year = text.utf8.first == UInt8(ascii: "-") ? -number : number
        guard !(0...9999).contains(year) else { return nil }
        // The calendar repeats itself every 400 years.
        let (eras, yearOfEra) = Int64(year).flooredDivision(by: 400)
        let rest = String(decoding: text.utf8.dropFirst(1 + digits.count), as: UTF8.self)
        guard let time = Timestamp(pad(Int(yearOfEra), 4) + rest),
            let microseconds = Int64(exactly: Int128(time.microseconds) + Int128(eras) * 146_097 * 86_400_000_000)
        else { return nil }
        self.init(microseconds: microseconds)
    }

    package init?(rfc3339 text: Bytes) {
        // yyyy-mm-ddThh:mm:ss has 19 bytes, the shortest offset one more.
        guard text.count >= 20,
            let year = text.number(0, 4), text[4] == UInt8(ascii: "-"),
            let month = text.number(5, 2), text[7] == UInt8(ascii: "-"),
            let day = text.number(8, 2), [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(text[10]),
            let hour = text.number(11, 2), text[13] == UInt8(ascii: ":"),
            let minute = text.number(14, 2), text[16] == UInt8(ascii: ":"),
            let second = text.number(17, 2),
            (1...12).contains(month), day >= 1, day <= Timestamp.days(in: month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var offset = 19
        var fraction: Int64 = 0
        if text[offset] == UInt8(ascii: ".") {
            offset += 1
            let start = offset
            var scale: Int64 = 100_000
            while offset < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[offset]) {
                fraction += Int64(text[offset] - UInt8(ascii: "0")) * scale
                scale /= 10
                offset += 1
            }
            guard offset > start else { return nil }
        }
        guard offset < text.count else { return nil }
        var shift: Int64 = 0
        switch text[offset] {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"):
            guard offset + 1 == text.count else { return nil }
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard offset + 6 == text.count, let hours = text.number(offset + 1, 2),
                text[offset + 3] == UInt8(ascii: ":"),
                let minutes = text.number(offset + 4, 2), hours < 24, minutes < 60
            else { return nil }
            shift = Int64(hours * 60 + minutes) * (text[offset] == UInt8(ascii: "+") ? -60 : 60)
        default: return nil
        }
        let days = Timestamp.days(toYear: year, month: month, day: day)
        let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second) + shift
        microseconds = seconds * 1_000_000 + fraction
    }

    /// Creates a point in time from a date and a time of day.
    ///
    /// - Returns: Nil if a component is out of range.
    package init?(_ time: CivilTime) {
        guard (0...9999).contains(time.year), (1...12).contains(time.month), time.day >= 1,
            time.day <= Timestamp.days(in: time.month, of: time.year), (0..<24).contains(time.hour),
            (0..<60).contains(time.minute), (0...60).contains(time.second),
            (0..<1_000_000).contains(time.microsecond), abs(time.offset) < 24 * 60
        else { return nil }
        let days = Timestamp.days(toYear: time.year, month: time.month, day: time.day)
        let seconds = days * 86_400 + Int64(time.hour * 3600 + (time.minute - time.offset) * 60 + time.second)
        microseconds = seconds * 1_000_000 + Int64(time.microsecond)
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

    /// The RFC 3339 form in UTC, such as `2026-11-21T01:19:00.25Z`. A zero fraction is omitted.
    /// Years outside 0–9999 have a sign and at least six digits (ISO 8601 §4.1.2.4).
    public var description: String { withDescription { String(decoding: $0, as: UTF8.self) } }

    /// Calls a closure with the description in UTF-8.
    func withDescription<Result>(_ body: (Bytes) -> Result) -> Result {
        let civil = CivilTime(self)
        guard (0...9999).contains(civil.year) else {
            var other = civil, text = (civil.year < 0 ? "-" : "+") + pad(abs(civil.year), 6)
            other.year = 0
            other.withText { text += String(decoding: $0.dropFirst(4), as: UTF8.self) }
            return text.withUTF8 { body(Bytes($0)) }
        }
        return civil.withText(body)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01 in the proleptic Gregorian calendar.
    /// Years begin in March here, so that the leap day is the last of its year.
    private static func days(toYear year: Int, month: Int, day: Int) -> Int64 {
        let y = Int64(month <= 2 ? year - 1 : year)
        let (era, yearOfEra) = y.flooredDivision(by: 400)
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the days since 1970-01-01 of a date.
    static func days(of time: CivilTime) -> Int64 { days(toYear: time.year, month: time.month, day: time.day) }

    static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

private func pad(_ value: Int, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (q, r) = quotientAndRemainder(dividingBy: divisor)
        return r < 0 ? (q - 1, r + divisor) : (q, r)
    }
}

extension Bytes {
    /// Parses exactly that many ASCII digits. Nil if there are fewer.
    fileprivate func number(_ offset: Int, _ digits: Int) -> Int? {
        guard offset + digits <= count else { return nil }
        var value = 0
        for i in offset..<offset + digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[i]) else { return nil }
            value = value * 10 + Int(self[i] - UInt8(ascii: "0"))
        }
        return value
    }
}

extension Timestamp {
    /// Creates a point in time from seconds since 1970-01-01T00:00:00Z, clamped to the range.
    package init(clampingSeconds seconds: Int) {
        let (product, overflows) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000)
        self.init(microseconds: overflows ? (seconds < 0 ? .min : .max) : product)
    }

    /// Returns the microseconds since another point in time, clamped to the range of `Int64`.
    package func elapsed(since other: Timestamp) -> Int64 {
        let (difference, overflows) = microseconds.subtractingReportingOverflow(other.microseconds)
        return overflows ? (microseconds < 0 ? .min : .max) : difference
    }

    /// Whether a time is more than a minute later than the present one: the clock was ahead.
    package func isAhead(of now: Timestamp) -> Bool { elapsed(since: now) > 60 * 1_000_000 }

    /// Whether a time is later than another one, as far as the clock can tell: one that is ahead of
    /// the present is from before one that is not.
    package func isLater(than other: Timestamp, at now: Timestamp) -> Bool {
        isAhead(of: now) == other.isAhead(of: now) ? self > other : other.isAhead(of: now)
    }

    /// Whether a time is more than a day later than the present one: the clock was ahead.
    package func isFarAhead(of now: Timestamp) -> Bool { elapsed(since: now) > 86_400 * 1_000_000 }

    /// Whether the time is before 2025, before Tarn: a clock that shows it is behind, as that of a
    /// machine without a battery.
    package var isBeforeTarn: Bool { microseconds < 1_735_689_600_000_000 }

    /// Whether a stored time is longer ago than an age.
    ///
    /// The age of one that is more than a day ahead is unknown, and counts as longer: the clock was
    /// ahead, unless it is behind now.
    package func isOlder(thanSeconds age: Int, at now: Timestamp) -> Bool {
        self < now.earlier(bySeconds: age) || isFarAhead(of: now) && !now.isBeforeTarn
    }

    /// Returns the point in time that many seconds earlier, clamped to the range.
    package func earlier(bySeconds seconds: Int) -> Timestamp {
        let elapsed = elapsed(since: Timestamp(clampingSeconds: seconds))
        return Timestamp(microseconds: elapsed)
    }
}
