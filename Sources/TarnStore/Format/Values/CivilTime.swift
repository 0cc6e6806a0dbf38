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

    /// The day of the week: 0 for Monday.
    package var weekday: Int { Int((Timestamp.days(of: self) + 3).flooredDivision(by: 7).remainder) }
}
