// Waits that a server demands in the body of a response, and in none of its header fields.

import Foundation

/// The time in seconds that a body asks its reader to wait.
enum StatedWait {
    /// The number of bytes of a refusal that are read.
    private static let longest = 64 << 10
    /// The depth to which members of a refusal are searched.
    private static let depth = 6

    /// The wait that a refusal states: `{"retry_after": 0.65}`, also in an object such as
    /// `parameters` or `error`, or the `retryDelay` of Google's `RetryInfo`, `"34s"`. It may be the
    /// moment of its end, too, as in ``RateLimit/reset(_:_:now:)``.
    ///
    /// - Returns: nil if the response is no refusal for a while, or if its header fields state a
    ///   wait.
    static func seconds(ofRefusal response: TransportResponse, now: Date) -> Double? {
        guard [403, 429, 503].contains(response.status), response.body.count <= longest,
            RateLimit.wait(status: response.status, response.headers, now: now) == nil,
            let body = JSONBody(parsing: response.body[...])
        else { return nil }
        let stated = seconds(in: body, depth: 0) { moment in
            RateLimit.reset(moment, response.headers, now: now).map { max(0, $0.timeIntervalSince(now)) }
        }
        return stated ?? (isSecondary(response, body) ? secondary : nil)
    }

    /// The wait for a secondary limit of GitHub, which states none: "at least one minute".
    private static let secondary = 60.0

    /// Whether a 403 is the refusal of a secondary limit of GitHub.
    private static func isSecondary(_ response: TransportResponse, _ body: JSONBody) -> Bool {
        guard response.status == 403, case .string(let text)? = body[["message"]] else { return false }
        return text.prefix(200).lowercased().contains("secondary rate limit")
    }

    /// - Parameter wait: returns the time until a moment.
    private static func seconds(in body: JSONBody, depth: Int, _ wait: @escaping (String) -> Double?) -> Double? {
        guard depth < StatedWait.depth else { return nil }
        switch body {
        case .object(let members):
            for member in members {
                guard let unit = unit(of: member), let text = member.value.scalarText else { continue }
                if let length = length(text), length * unit < RateLimit.firstMoment { return length * unit }
                if let wait = wait(text) { return wait }
            }
            return members.lazy.compactMap { seconds(in: $0.value, depth: depth + 1, wait) }.first
        case .array(let elements):
            return elements.lazy.compactMap { seconds(in: $0, depth: depth + 1, wait) }.first
        default: return nil
        }
    }

    /// The length of a unit in seconds, if a member of this name states a wait.
    private static func unit(of member: JSONBody.Member) -> Double? {
        switch member.key.lowercased().filter({ $0 != "_" && $0 != "-" }) {
        case "retryafter", "retryafterseconds", "retryinseconds": 1
        // Without a unit, it is often in milliseconds.
        case "retrydelay" where member.value.scalarText?.hasSuffix("s") == true: 1
        case "retryafterms", "retryaftermillis", "retryaftermilliseconds": 0.001
        default: nil
        }
    }

    /// The value of a number, of its text, or of a duration of Protocol Buffers (`34.07s`).
    private static func length(_ text: String) -> Double? {
        let number = text.hasSuffix("s") ? text.dropLast() : text[...]
        return Double(number).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// The time until a bucket of points has as many as the query has cost, as in Shopify's
    /// GraphQL: `{"extensions": {"cost": {"requestedQueryCost": 92, "throttleStatus": {…}}}}`.
    ///
    /// - Returns: nil if the next query may be sent at once.
    private static func restoring(_ root: JSONRoot) -> Double? {
        guard let value = root["extensions"], value.count <= longest, let body = JSONBody(parsing: value) else {
            return nil
        }
        func number(_ path: String...) -> Double? {
            body[["cost"] + path]?.scalarText.flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        }
        guard let available = number("throttleStatus", "currentlyAvailable"), let cost = number("requestedQueryCost"),
            let rate = number("throttleStatus", "restoreRate"), rate > 0, cost > available
        else { return nil }
        return (cost - available) / rate
    }

    /// The members of which one is beside ``seconds(ofSuccess:)``. Otherwise `backoff` may be a
    /// value of a record, in any unit.
    private static let besideBackoff = ["quota_remaining", "quota_max", "has_more", "items"]

    /// The pause that a success asks for before the next request: the number `backoff` beside the
    /// records, as in Stack Exchange.
    ///
    /// Only a body that contains the name is read.
    static func seconds(ofSuccess response: TransportResponse) -> Double? {
        guard (200..<300).contains(response.status), let root = JSONRoot(response.body) else { return nil }
        if let pause = restoring(root) { return pause }
        guard let value = root["backoff"],
            let number = JSONBody(parsing: value.prefix(64)), case .number(let text) = number,
            besideBackoff.contains(where: { root[$0] != nil })
        else { return nil }
        return Double(text).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }
}

extension TransportResponse {
    /// The response with the wait that its body states as `Retry-After`.
    func statingWait(now: Date) -> TransportResponse {
        guard let seconds = StatedWait.seconds(ofRefusal: self, now: now) else { return self }
        var response = self
        response.headers["Retry-After"] = "\(seconds)"
        return response
    }
}
