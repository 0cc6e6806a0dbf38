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
}
