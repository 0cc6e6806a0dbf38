// Faults of the server, and the choice of the requests that they hit.

import Locking

/// A fault of the command line: `PATTERN:KIND[:ARGUMENT][:from=N][:times=K]`.
struct Fault: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case status(Int)
        /// A delay in seconds before the head.
        case stall(Double)
        /// A rate for the body, in bytes a second.
        case drip(Double)
        /// The number of bytes of the body that are sent before the connection is closed.
        case cut(Int)
        case close
        case reset
        case html
        /// A rate limit: requests beyond a number in a period get 429 and Retry-After.
        case limit(Int, seconds: Double)

        var name: String {
            switch self {
            case .status: "status"
            case .stall: "stall"
            case .drip: "drip"
            case .cut: "cut"
            case .close: "close"
            case .reset: "reset"
            case .html: "html"
            case .limit: "limit"
            }
        }
    }

    var pattern: String
    var kind: Kind
    /// The number of the first matching request that is hit, from 1.
    var first = 1
    /// The number of requests that are hit; nil for all.
    var times: Int?

    init(_ text: String) throws(UsageError) {
        // Parsed from the right: a pattern may contain colons.
        var parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        while let last = parts.last, let equals = last.firstIndex(of: "="),
            ["from", "times"].contains(last[..<equals]),
            parts.count > 2
        {
            guard let number = Int(last[last.index(after: equals)...]), number > 0 else {
                throw UsageError("--fault \(text): \(last) needs a number from 1")
            }
            if last[..<equals] == "from" { first = number } else { times = number }
            parts.removeLast()
        }
        switch parts.last {
        case "close": kind = .close
        case "reset": kind = .reset
        case "html": kind = .html
        case .some(let argument) where parts.count > 2:
            parts.removeLast()
            kind = try Fault.kind(parts[parts.count - 1], argument, in: text)
        default: throw UsageError("--fault \(text): expected PATTERN:KIND[:ARGUMENT][:from=N][:times=K], see --help")
        }
        parts.removeLast()
        guard !parts.isEmpty else {
            throw UsageError("--fault \(text): the pattern is missing (`:\(text)` hits every request)")
        }
        pattern = parts.joined(separator: ":")
    }

    private static func kind(_ name: String, _ argument: String, in text: String) throws(UsageError) -> Kind {
        let seconds = Double(argument).flatMap { $0 >= 0 && $0 <= 86_400 ? $0 : nil }
        switch name {
        case "status":
            if let status = Int(argument), (200...599).contains(status) { return .status(status) }
            throw UsageError("--fault \(text): expected a status from 200 to 599")
        case "stall":
            if let seconds { return .stall(seconds) }
            throw UsageError("--fault \(text): expected seconds")
        case "drip":
            if let rate = Double(argument), rate > 0, rate <= 1e12 { return .drip(rate) }
            throw UsageError("--fault \(text): expected bytes a second")
        case "cut":
            if let bytes = Int(argument), bytes >= 0 { return .cut(bytes) }
            throw UsageError("--fault \(text): expected a number of bytes")
        case "limit":
            let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            if parts.count == 2, let count = Int(parts[0]), count > 0, let seconds = Double(parts[1]), seconds > 0,
                seconds <= 86_400
            {
                return .limit(count, seconds: seconds)
            }
            throw UsageError("--fault \(text): expected requests/seconds, such as 10/1")
        default:
            throw UsageError("--fault \(text): unknown kind \(name), see --help")
        }
    }
}

/// The faults with their counts of matching requests, shared by all connections.
final class FaultPlan: Sendable {
    private let faults: [Fault]
    private let matches: Guarded<[Int]>
    /// The current window of the rate limit: its start and its number of requests.
    private let window = Guarded<(began: ContinuousClock.Instant?, count: Int)>((nil, 0))

    init(_ faults: [Fault]) {
        self.faults = faults
        matches = Guarded(Array(repeating: 0, count: faults.count))
    }

    /// Counts a request against a limit.
    ///
    /// - Returns: The number of requests left in the window, negative if this one exceeds the
    ///   limit; and the seconds until the window ends.
    func spend(_ count: Int, seconds: Double) -> (left: Int, reset: Double) {
        window.withLock { window in
            let now = ContinuousClock.now
            var elapsed = window.began.map { now - $0 } ?? .seconds(seconds)
            if elapsed >= .seconds(seconds) { (window, elapsed) = ((now, 0), .zero) }
            window.count += 1
            let parts = elapsed.components
            return (count - window.count, seconds - Double(parts.seconds) - Double(parts.attoseconds) / 1e18)
        }
    }

    /// Returns the fault that hits the next request for a target, or nil.
    func next(for target: String) -> Fault.Kind? {
        matches.withLock { matches in
            var hit: Fault.Kind?
            for (index, fault) in faults.enumerated() where fault.pattern.isEmpty || target.contains(fault.pattern) {
                matches[index] += 1
                let isPast = fault.times.map { matches[index] >= fault.first + $0 } ?? false
                if hit == nil, matches[index] >= fault.first, !isPast { hit = fault.kind }
            }
            return hit
        }
    }
}
