// The schedule of an endpoint, as a description declares it: `every: 15m`, `at: '03:00'`.

import Foundation

/// The times at which an endpoint is to be scanned.
package enum SyncSchedule: Sendable, Hashable {
    /// This number of seconds after the last complete scan.
    case every(seconds: Int)
    /// Daily at these times.
    case daily([DailyTime])
}

/// A time of the day, in UTC or in the local time zone.
package struct DailyTime: Sendable, Hashable, CustomStringConvertible {
    /// The hour, from 0 to 23, and the minute, from 0 to 59.
    let hour, minute: Int
    /// Whether the time is of the local time zone; otherwise of UTC.
    let isLocal: Bool

    /// Parses `03:00`, `03:00 UTC` or `03:00 local`; nil for another text.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let clock = words.first, words.count <= 2 else { return nil }
        switch words.dropFirst().first?.lowercased() {
        case nil, "utc": isLocal = false
        case "local": isLocal = true
        default: return nil
        }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy {
            (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) }
        }
        guard parts.count == 2, areDigits, parts[1].utf8.count == 2, let hour = Int(parts[0]),
            let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        (self.hour, self.minute) = (hour, minute)
    }

    package var description: String {
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(two(hour)):\(two(minute)) \(isLocal ? "local" : "UTC")"
    }

    /// The first moment after another one at which a clock shows the time.
    ///
    /// A time that a change to summer time leaves out is the first moment after the gap; of a time
    /// that occurs twice on a day, it is the first one.
    package func next(after moment: Date, in local: TimeZone) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = isLocal ? local : .gmt
        let components = DateComponents(hour: hour, minute: minute, second: 0)
        var moment = moment
        while true {
            let next = calendar.nextDate(
                after: moment, matching: components, matchingPolicy: .nextTime, repeatedTimePolicy: .first)
            guard let next else { return moment.addingTimeInterval(86_400) }
            guard DailyTime.isRepeated(next, in: calendar.timeZone) else { return next }
            // The calendar finds the second one as well, if the clock was set back over midnight.
            moment = next
        }
    }

    /// Whether the clock showed the same time of the same day before, because it was set back.
    private static func isRepeated(_ moment: Date, in zone: TimeZone) -> Bool {
        let offset = zone.secondsFromGMT(for: moment)
        let earlier = zone.secondsFromGMT(for: moment.addingTimeInterval(-3 * 3600))
        guard earlier > offset else { return false }
        return zone.secondsFromGMT(for: moment.addingTimeInterval(Double(offset - earlier))) == earlier
    }
}
