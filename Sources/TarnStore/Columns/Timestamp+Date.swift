public import Foundation

extension Timestamp {
    /// The current time of the system's clock.
    public static var now: Timestamp { systemTime }

    /// Creates a point in time from a date, rounded to a microsecond and clamped to the range.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        // A date that is not a number is clamped, too: it is neither less nor greater than
        // anything.
        guard microseconds < 0x1p63 else {
            self.init(microseconds: .max)
            return
        }
        self.init(microseconds: microseconds >= -0x1p63 ? Int64(microseconds) : .min)
    }

    /// The point in time as a date: exact to a microsecond for the years 1730 to 2241.
    ///
    /// Beyond these years it is rounded towards 1970, so that the year stays the same.
    public var date: Date {
        let date = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
        guard !isExactAsDate else { return date }
        let seconds = date.timeIntervalSinceReferenceDate, read = Timestamp(date).microseconds
        if microseconds > 0, read > microseconds { return Date(timeIntervalSinceReferenceDate: seconds.nextDown) }
        if microseconds < 0, read < microseconds { return Date(timeIntervalSinceReferenceDate: seconds.nextUp) }
        return date
    }

    /// Whether the point in time is so near to 1970 that ``date`` is exact to a microsecond.
    var isExactAsDate: Bool { microseconds.magnitude < 7_600_000_000_000_000 }
}
