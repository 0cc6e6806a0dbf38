/// Durations as people write them: `30s`, `15m`, `2h`, `1d`.
package enum DurationText {
    /// The longest duration: 366 days.
    package static let longest = 366 * 86_400

    /// Returns a duration in seconds, from 1 to ``longest``; nil for another text.
    package static func seconds(_ text: String) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), text.first?.isNumber == true,
            let count = Int(text.dropLast()), count > 0,
            case let (seconds, overflow) = count.multipliedReportingOverflow(by: unit), !overflow, seconds <= longest
        else { return nil }
        return seconds
    }
}
