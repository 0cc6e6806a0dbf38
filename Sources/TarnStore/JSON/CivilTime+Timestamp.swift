extension CivilTime {
    /// The date and the time of day in UTC of a point in time.
    init(_ time: Timestamp) {
        let (days, rest) = time.microseconds.flooredDivision(by: 86_400_000_000)
        let date = Timestamp.civil(days), seconds = Int(rest / 1_000_000)
        self.init()
        year = Int(date.year)
        month = Int(date.month)
        day = Int(date.day)
        hour = seconds / 3600
        minute = seconds / 60 % 60
        second = seconds % 60
        microsecond = Int(rest % 1_000_000)
    }
}
