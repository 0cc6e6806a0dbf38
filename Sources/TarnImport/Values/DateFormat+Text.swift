// The formats of dates, written: the JSON of a point in time.

internal import TarnStore

extension DateFormat {
    /// Returns the JSON of a point in time.
    ///
    /// - Returns: nil if the format cannot express it exactly, such as a time of day in `day`, or a
    ///   year beyond four digits.
    func json(of time: Timestamp) -> JSONValue? {
        /// A text that is read as the same point in time.
        func exact(_ text: String) -> JSONValue? {
            var bytes = text
            let read = bytes.withUTF8 { timestamp(Bytes($0), isStrict: true) }
            return read == time ? .string(text) : nil
        }
        switch self {
        case .rfc3339, .iso8601: return exact(time.description)
        case .http: return exact(DatePattern.http.text(of: time))
        case .day: return exact(DatePattern.day.text(of: time))
        case .pattern(let pattern): return exact(pattern.text(of: time))
        case .epoch(let unit): return .number(unit.text(of: time))
        }
    }
}

extension EpochUnit {
    /// Returns the number of units since 1970, with as many decimals as it needs.
    func text(of time: Timestamp) -> String {
        let divisor: UInt64 =
            switch self {
            case .seconds: 1_000_000
            case .milliseconds: 1000
            case .microseconds: 1
            }
        let (whole, rest) = time.microseconds.magnitude.quotientAndRemainder(dividingBy: divisor)
        var text = (time.microseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        var decimals = String(rest + divisor).dropFirst()
        while decimals.hasSuffix("0") { decimals.removeLast() }
        text += "." + decimals
        return text
    }
}
