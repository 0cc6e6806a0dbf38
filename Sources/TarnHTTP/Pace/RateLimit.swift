// What a server says about how much it will take: Retry-After, RateLimit and its many older forms. Pure.

import Foundation

/// How many more requests a server takes, and until when that counts.
public struct RateLimit: Sendable, Hashable, Codable {
    /// Servers may have several limits side by side, such as one a minute and one an hour.
    public var name: String
    /// How many more requests the server takes until ``resetsAt``.
    public var remaining: Int
    /// When there are more again; nil if the server does not say.
    public var resetsAt: Date?

    public init(name: String = "", remaining: Int, resetsAt: Date? = nil) {
        self.name = name
        self.remaining = remaining
        self.resetsAt = resetsAt
    }

    /// All limits that an answer names.
    ///
    /// Read are `RateLimit` in the form of the IETF's draft (`"default";r=50;t=30`, several with commas between them), the draft's older
    /// form (`limit=100, remaining=50, reset=30`), and the fields `RateLimit-Remaining` and `RateLimit-Reset`, also with `X-` before them
    /// and with `Rate-Limit` in two words. What is not a number says nothing.
    public static func all(in headers: HTTPHeaders, now: Date) -> [RateLimit] {
        let structured = headers.all("RateLimit").flatMap { self.structured($0, now: now) }
        if !structured.isEmpty { return structured }
        for prefix in ["RateLimit", "X-RateLimit", "X-Rate-Limit"] {
            guard let remaining = number(headers["\(prefix)-Remaining"]) else { continue }
            let after = headers["\(prefix)-Reset-After"].flatMap { Double($0) }.flatMap { isLength($0) ? now.addingTimeInterval($0) : nil }
            let reset = after ?? headers["\(prefix)-Reset"].flatMap { self.reset($0, now: now) }
            return [RateLimit(remaining: remaining, resetsAt: reset)]
        }
        return []
    }

    /// Whether an answer says that nothing more is taken.
    static func isUsedUp(_ headers: HTTPHeaders) -> Bool {
        all(in: headers, now: Date(timeIntervalSince1970: 0)).contains { $0.remaining == 0 }
    }

    /// How long an answer asks to wait before the next request; nil if it does not say.
    ///
    /// `Retry-After` (RFC 9110 §10.2.3) goes before the rate limits, which only count where the answer is a refusal.
    public static func wait(status: Int, _ headers: HTTPHeaders, now: Date) -> Duration? {
        if let text = headers["Retry-After"], let wait = retryAfter(text, now: now) { return wait }
        guard status == 429 || status == 403 || status == 503 else { return nil }
        let resets = all(in: headers, now: now).filter { $0.remaining == 0 }.compactMap(\.resetsAt)
        return resets.max().map { .seconds(clamping: $0.timeIntervalSince(now)) }
    }

    /// Seconds or a date; one that has passed is no wait.
    static func retryAfter(_ text: String, now: Date) -> Duration? {
        // Some servers send fractions.
        if let seconds = Double(text), isLength(seconds) { return .seconds(clamping: seconds) }
        return HTTPDate.parse(text, now: now).map { .seconds(clamping: $0.timeIntervalSince(now)) }
    }

    // MARK: Forms

    /// The draft's `RateLimit` field: a list of items with parameters, or the dictionary of its older versions.
    private static func structured(_ value: String, now: Date) -> [RateLimit] {
        let members = split(value, at: UInt8(ascii: ","))
        var old: [String: Int] = [:]
        var limits: [RateLimit] = []
        for member in members {
            let parts = split(member, at: UInt8(ascii: ";"))
            guard let first = parts.first else { continue }
            if let equals = first.firstIndex(of: "="), !first.hasPrefix("\"") {
                let key = first[..<equals].lowercased()
                old[key] = number(String(first[first.index(after: equals)...]))
                continue
            }
            var parameters: [String: Int] = [:]
            for part in parts.dropFirst() {
                guard let equals = part.firstIndex(of: "=") else { continue }
                parameters[part[..<equals].lowercased()] = number(String(part[part.index(after: equals)...]))
            }
            guard let remaining = parameters["r"] else { continue }
            let name = first.trimmingPrefix("\"")
            limits.append(
                RateLimit(
                    name: String(name.hasSuffix("\"") ? name.dropLast() : name), remaining: remaining,
                    resetsAt: parameters["t"].map { now.addingTimeInterval(Double($0)) }))
        }
        if limits.isEmpty, let remaining = old["remaining"] {
            limits = [RateLimit(remaining: remaining, resetsAt: old["reset"].map { now.addingTimeInterval(Double($0)) })]
        }
        return limits
    }

    /// Seconds from now, seconds or milliseconds since 1970, or a date: servers have all of them, and their sizes tell which.
    private static func reset(_ text: String, now: Date) -> Date? {
        if let number = Double(text), number >= 0, number.isFinite {
            switch number {
            case ..<1e8: return now.addingTimeInterval(number)
            case ..<1e11: return Date(timeIntervalSince1970: number)
            default: return Date(timeIntervalSince1970: number / 1000)
            }
        }
        return HTTPDate.parse(text, now: now) ?? (try? Date(text, strategy: .iso8601))
    }

    private static func number(_ text: String?) -> Int? {
        guard let text else { return nil }
        // `100, 100;w=60`, and fractions: the first number is the one that counts.
        let digits = text.drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber }
        return HTTPSyntax.decimal(String(digits))
    }

    private static func isLength(_ seconds: Double) -> Bool { seconds >= 0 && seconds.isFinite }

    /// The parts between separators outside of quotes, without blanks around them.
    private static func split(_ text: String, at separator: UInt8) -> [String] {
        var parts: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == separator, !isQuoted { parts.append([]) } else { parts[parts.count - 1].append(byte) }
        }
        return parts.map { String(decoding: $0[...].trimmingWhitespace(), as: UTF8.self) }.filter { !$0.isEmpty }
    }
}
