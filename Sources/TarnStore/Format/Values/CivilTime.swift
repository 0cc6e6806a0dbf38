/// A date and a time of day of the proleptic Gregorian calendar, piece by piece.
package struct CivilTime {
    /// The date: 1970-01-01 by default.
    package var year = 1970, month = 1, day = 1
    /// The time of day: midnight by default. Second 60 is the first second of the next minute.
    package var hour = 0, minute = 0, second = 0, microsecond = 0
    /// Minutes east of UTC.
    package var offset = 0

    /// Creates the beginning of 1970 in UTC.
    package init() {}

    /// Creates the date and the time of day of a point in time, in UTC.
    package init(_ time: Timestamp) {
        let (days, microseconds) = time.microseconds.flooredDivision(by: 86_400_000_000)
        let date = Timestamp.civil(days), seconds = Int(microseconds / 1_000_000)
        (year, month, day) = (Int(date.year), Int(date.month), Int(date.day))
        (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        microsecond = Int(microseconds % 1_000_000)
    }

    /// Calls a closure with the time in UTC as RFC 3339 text, such as `2026-11-21T01:19:00.25Z`. A
    /// zero fraction is omitted.
    ///
    /// The year is between 0 and 9999.
    func withText<Result>(_ body: (Bytes) -> Result) -> Result {
        // Room for `2026-11-21T01:19:00.123456Z`.
        var text: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &text) { text in
            func set(_ place: Int, _ number: Int, then separator: Unicode.Scalar) {
                text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
                text[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
                text[place + 2] = UInt8(ascii: separator)
            }
            set(0, year / 100, then: "-")
            set(2, year % 100, then: "-")
            set(5, month, then: "-")
            set(8, day, then: "T")
            set(11, hour, then: ":")
            set(14, minute, then: ":")
            set(17, second, then: ".")
            var length = 19
            if microsecond > 0 {
                var rest = microsecond
                for place in stride(from: 25, through: 20, by: -1) {
                    text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                length = 26
                while text[length - 1] == UInt8(ascii: "0") { length -= 1 }
            }
            text[length] = UInt8(ascii: "Z")
            return body(Bytes(rebasing: text[...length]))
        }
    }

    /// The day of the week: 0 for Monday.
    package var weekday: Int { Int((Timestamp.days(of: self) + 3).flooredDivision(by: 7).remainder) }
}
