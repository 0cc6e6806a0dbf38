import Foundation
import TarnHTTP
import TarnStore

/// The stored rate budget of a server.
struct ServerLimits: Encodable {
    struct Limit: Encodable {
        /// The name of the limit; empty if the server has only one.
        var name: String
        var remaining: Int
        /// The time of the reset, and the seconds until then.
        var resetsAt: String?, reset: Int?
    }

    /// The origin of the server.
    var origin: String
    /// Whether the limits are those of certain credentials.
    var hasCredentials: Bool
    /// The first limits, and the number of the others.
    var limits: [Limit], moreLimits: Int
    /// The end of a pause that the server has requested, and the seconds until then.
    var pausedUntil: String?, pause: Int?

    /// The most servers that are listed, and the most limits of one.
    static let most = 100

    /// Decodes the budgets of a store; nil if the text is no object of budgets.
    static func all(_ text: String, at now: Timestamp) -> [ServerLimits]? {
        guard let budgets = try? JSONDecoder().decode([String: RateBudget].self, from: Data(text.utf8)) else {
            return nil
        }
        return budgets.sorted { $0.key < $1.key }.map { ServerLimits($0.key, $0.value, at: now) }
    }

    /// - Parameter key: The origin and, after a space, a hash of the credentials.
    private init(_ key: String, _ budget: RateBudget, at now: Timestamp) {
        let parts = key.split(separator: " ", maxSplits: 1)
        origin = Redaction.shown(parts.first.map(String.init) ?? "")
        hasCredentials = parts.count > 1
        limits = budget.limits.prefix(Self.most).map { limit in
            let end = limit.resetsAt.flatMap(Self.time)
            return Limit(
                name: limit.name.cut(to: 200), remaining: limit.remaining, resetsAt: end?.description,
                reset: end.map { Self.seconds(until: $0, now) })
        }
        moreLimits = max(0, budget.limits.count - Self.most)
        let end = budget.pausedUntil.flatMap(Self.time)
        (pausedUntil, pause) = (end?.description, end.map { Self.seconds(until: $0, now) })
    }

    /// The time of a stored date; nil if it is out of range.
    private static func time(_ date: Date) -> Timestamp? {
        Int(exactly: date.timeIntervalSince1970.rounded(.down)).map { Timestamp(clampingSeconds: $0) }
    }

    private static func seconds(until time: Timestamp, _ now: Timestamp) -> Int {
        Int(clamping: time.elapsed(since: now) / 1_000_000)
    }
}
