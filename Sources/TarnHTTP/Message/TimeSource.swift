// Time and randomness as injected values: rules are pure, and tests need not wait.

import Foundation

/// The clock, the timer and the random source of a transport.
public struct TimeSource: Sendable {
    /// Returns the current date: header fields contain dates.
    package var now: @Sendable () -> Date
    /// Waits for a duration; throws if the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 up to, but not including, 1.
    package var random: @Sendable () -> Double

    /// Creates a time source.
    public init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock, timer and random source.
    public static let system = TimeSource(
        now: { Date() }, sleep: { try await Task.sleep(for: $0) }, random: { Double.random(in: 0..<1) })
}

extension Duration {
    /// Returns a duration in whole milliseconds, clamped to 0 to 10⁹ seconds; 0 for NaN.
    package static func seconds(clamping seconds: Double) -> Duration {
        .milliseconds(Int64(min(max(seconds.isNaN ? 0 : seconds, 0), 1e9) * 1000))
    }

    /// The duration in seconds.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
