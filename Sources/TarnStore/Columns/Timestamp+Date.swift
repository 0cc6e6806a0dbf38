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

    /// The point in time as a date: exact to a microsecond for the years 1684 to 2255.
    public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
