import Foundation
import TarnHTTP

/// The APIs whose operations wait after a stop, and the ends of their pauses.
struct OutboxPauses {
    private struct Pause {
        var stops = 0
        var until: Date
    }

    private static let longestDelay = Duration.seconds(60)
    private static let backOff = RetryPolicy(firstDelay: .seconds(1), longestDelay: longestDelay)
    private var pauses: [String: Pause] = [:]

    /// The APIs whose pauses have not ended, by name.
    ///
    /// A pause that is longer than the longest one was noted before the clock was set back.
    func names(at now: Date) -> Set<String> {
        let latest = now.addingTimeInterval(OutboxPauses.longestDelay.inSeconds + 1)
        return Set(pauses.filter { $0.value.until > now && $0.value.until <= latest }.keys)
    }

    /// The next end of a pause; nil without one.
    var next: Date? { pauses.values.map(\.until).min() }

    /// Notes the stops of a drain. APIs that took part and did not stop have no pause any more.
    mutating func note(
        _ stops: [String: OutboxReport.Stop], without waiting: Set<String>, at now: Date, _ random: Double
    ) {
        for name in pauses.keys where !waiting.contains(name) && stops[name] == nil { pauses[name] = nil }
        for name in stops.keys {
            let count = (pauses[name]?.stops ?? 0) + 1
            let delay = OutboxPauses.backOff.delay(afterAttempt: count, random)
            pauses[name] = Pause(stops: count, until: now.addingTimeInterval(delay.inSeconds))
        }
    }
}
