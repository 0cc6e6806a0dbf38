// Parsing of rate limits: Retry-After, RateLimit and its many older forms. Pure.

import Foundation

/// A rate limit of a server.
package struct RateLimit: Sendable, Hashable, Codable {
    /// The name of the limit.
    ///
    /// A server may have several ones, such as one per minute and one per hour.
    package var name: String
    /// The number of remaining requests until ``resetsAt``.
    package var remaining: Int
    /// The time of the reset; nil if the server does not specify it.
    package var resetsAt: Date?

    /// Creates a limit.
    init(name: String = "", remaining: Int, resetsAt: Date? = nil) {
        self.name = name
        self.remaining = remaining
        self.resetsAt = resetsAt
    }

    /// Returns all limits of a response.
    ///
    /// Four forms are read:
    /// 1. `RateLimit` of the IETF draft: `"default";r=50;t=30`, with commas between several limits;
    ///   also under a name that ends so, such as Atlassian's `Beta-RateLimit`.
    /// 2. `RateLimit` of older drafts: `limit=100, remaining=50, reset=30`.
    /// 3. The fields `RateLimit-Remaining` and `RateLimit-Reset` or `RateLimit-Reset-After`, also
    ///   prefixed with `X-`, and then also as `X-Rate-Limit-…`.
    /// 4. Pairs of fields with other words around `RateLimit`, `Remaining` and `Reset`, such as
    ///   `X-RateLimit-Requests-Remaining`: each word is a limit of its own.
    ///
    /// Values that are not numbers are ignored.
    package static func all(in headers: TransportHeaders, now: Date) -> [RateLimit] {
        guard headers.fields.contains(where: { RateFields.mayBeLimit($0.name) }) else { return [] }
        let structured = headers.fields.filter { RateFields.isStructured($0.name) }.flatMap {
            self.structured($0.value, now: now)
        }
        if !structured.isEmpty { return structured }
        for prefix in ["RateLimit", "X-RateLimit", "X-Rate-Limit"] {
            guard let remaining = number(headers["\(prefix)-Remaining"]) else { continue }
            let after = headers["\(prefix)-Reset-After"].flatMap { Double($0) }.flatMap {
                isLength($0) ? now.addingTimeInterval($0) : nil
            }
            let reset =
                after
                ?? (headers["\(prefix)-Reset"] ?? headers["\(prefix)-ResetTime"]).flatMap {
                    self.reset($0, headers, now: now)
                }
            return [RateLimit(remaining: remaining, resetsAt: reset)]
        }
        return RateFields.pairs(in: headers).compactMap { pair in
            guard let remaining = number(pair.remaining) else { return nil }
            let reset: Date? =
                switch pair.end {
                case .moment(let text): self.reset(text, headers, now: now)
                case .milliseconds(let text):
                    Double(text).flatMap { isLength($0) ? now.addingTimeInterval($0 / 1000) : nil }
                case nil: nil
                }
            return RateLimit(name: pair.name, remaining: remaining, resetsAt: reset)
        }
    }

    /// Returns whether a response reports an exhausted limit.
    static func isUsedUp(_ headers: TransportHeaders) -> Bool {
        all(in: headers, now: Date(timeIntervalSince1970: 0)).contains { $0.remaining == 0 }
    }

    /// Returns the delay that a response requests before the next request; nil without one.
    ///
    /// `Retry-After` (RFC 9110 §10.2.3) takes precedence over rate limits. Rate limits count only
    /// for the statuses 403, 429 and 503.
    package static func wait(status: Int, _ headers: TransportHeaders, now: Date) -> Duration? {
        if let text = headers["Retry-After"], let wait = retryAfter(text, headers, now: now) { return wait }
        guard status == 429 || status == 403 || status == 503 else { return nil }
        if let stated = RateFields.statedWait(headers) {
            let seconds = Double(stated.text).flatMap { isLength($0) ? $0 * stated.unit : nil }
            if let seconds, seconds < firstMoment { return .seconds(clamping: seconds) }
            if let wait = retryAfter(stated.text, headers, now: now) { return wait }
        }
        let resets = all(in: headers, now: now).filter { $0.remaining == 0 }.compactMap(\.resetsAt)
        return resets.max().map { .seconds(clamping: $0.timeIntervalSince(now)) }
    }

    /// Returns the delay of a `Retry-After` value in seconds or as a date. A past date is no delay.
    ///
    /// - Parameter headers: the header fields of the response, with the server's time.
    static func retryAfter(_ text: String, _ headers: TransportHeaders, now: Date) -> Duration? {
        // Some servers send fractions.
        if let seconds = Double(text), isLength(seconds) {
            // Others send the moment of the end. One that has long passed is a length after all.
            if seconds >= firstMoment, let end = reset(text, headers, now: now), end.timeIntervalSince(now) > -86_400 {
                return .seconds(clamping: end.timeIntervalSince(now))
            }
            return .seconds(clamping: seconds)
        }
        return reset(text, headers, now: now).map { .seconds(clamping: $0.timeIntervalSince(now)) }
    }

    /// Returns the number of seconds by which the server's clock is ahead of this one.
    ///
    /// Dates of a server are by its own clock, which `Date` shows as of `Age` seconds ago (RFC 9110
    /// §6.6.1, RFC 9111 §5.1). It has whole seconds: a difference of less than two is none.
    private static func lead(_ headers: TransportHeaders, now: Date) -> Double {
        guard let date = headers["Date"].flatMap({ HTTPDate.parse($0, now: now) }) else { return 0 }
        let age = headers["Age"].flatMap { HTTPSyntax.decimal($0) } ?? 0
        let lead = date.timeIntervalSince(now) + Double(age)
        return abs(lead) < 2 ? 0 : lead
    }

    /// The difference of two clocks from which on `Date` may be wrong, in seconds.
    private static let doubtfulLead = 900.0

    /// Returns a server's date by this clock.
    ///
    /// Some servers send `Date` in their time zone, or a proxy with another clock sends it: the
    /// difference of the clocks is none then. If it is that large, the earlier one of both readings
    /// that is ahead counts: the request that is sent too early is refused, and waits again.
    private static func byThisClock(_ date: Date, _ headers: TransportHeaders, now: Date) -> Date {
        let lead = lead(headers, now: now), shifted = date.addingTimeInterval(-lead)
        guard abs(lead) >= doubtfulLead, date > now else { return shifted }
        return shifted > now ? min(date, shifted) : date
    }

    // MARK: Forms

    /// Parses the draft's `RateLimit` field: items with parameters, or the older dictionary.
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
            limits = [
                RateLimit(remaining: remaining, resetsAt: old["reset"].map { now.addingTimeInterval(Double($0)) })
            ]
        }
        return limits
    }

    /// The number of seconds from which on a number is a moment, and no length.
    static let firstMoment = 1e8

    /// Parses a reset time.
    ///
    /// Servers send seconds from now, seconds or milliseconds since 1970, a length such as `6m0s`,
    /// or a date. The magnitude of a number distinguishes its unit. The result is by this clock.
    static func reset(_ text: String, _ headers: TransportHeaders, now: Date) -> Date? {
        let date: Date?
        if let number = Double(text), number >= 0, number.isFinite {
            switch number {
            case ..<firstMoment: return now.addingTimeInterval(number)
            case ..<1e11: date = Date(timeIntervalSince1970: number)
            default: date = Date(timeIntervalSince1970: number / 1000)
            }
        } else if let length = DurationField.seconds(text) {
            return now.addingTimeInterval(length)
        } else {
            date = HTTPDate.parse(text, now: now) ?? DurationField.date(text)
        }
        return date.map { byThisClock($0, headers, now: now) }
    }

    /// Parses the first integer of a text, or nil.
    private static func number(_ text: String?) -> Int? {
        guard let text else { return nil }
        // In `100, 100;w=60` and in fractions, the first number counts.
        let digits = text.drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber }
        return HTTPSyntax.decimal(String(digits))
    }

    /// Returns whether a number of seconds is a valid duration.
    private static func isLength(_ seconds: Double) -> Bool { seconds >= 0 && seconds.isFinite }

    /// Returns the non-empty parts between separators outside quotes, without surrounding blanks.
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
