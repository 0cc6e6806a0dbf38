// Time and chance as values that are passed in: rules are pure, and tests need not wait.

import Foundation

/// What a transport needs of the world beside the network.
public struct TimeSource: Sendable {
    /// The time of day: servers speak of dates.
    public var now: @Sendable () -> Date
    /// Returns after so long; throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double

    public init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The real ones.
    public static let system = TimeSource(
        now: { Date() }, sleep: { try await Task.sleep(for: $0) }, random: { Double.random(in: 0..<1) })
}

extension Duration {
    /// A duration of so many seconds; what is not a number, or out of all measure, becomes the nearest that is.
    package static func seconds(clamping seconds: Double) -> Duration {
        .milliseconds(Int64(min(max(seconds.isNaN ? 0 : seconds, 0), 1e9) * 1000))
    }

    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
