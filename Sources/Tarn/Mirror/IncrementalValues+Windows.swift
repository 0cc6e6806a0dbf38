// Windows of time: their beginnings and ends, as they are sent.

import TarnImport
import TarnStore

extension IncrementalValues {
    /// Returns the window that begins with a value.
    ///
    /// - Returns: the beginning as it is sent, and the end: no later than the present, unless the
    ///   value is.
    /// - Throws: `MirrorError.endpoint` if the value is no date, or cannot be moved back.
    func window(from value: String, now: Timestamp) throws -> (since: String, end: Timestamp) {
        let start = try beginning(of: value)
        guard let full = fullEnd(from: start) else { return (try text(of: start), max(now, start)) }
        return (try text(of: start), max(min(full, now), start))
    }

    /// The end of a window as it is sent.
    func text(ofWindowEnd end: Timestamp) throws -> String { try text(of: end) }

    /// The value that the next window begins with, for a window that was requested to an end.
    func value(ofWindowEnd end: Timestamp) -> String { end.description }

    /// The value that the server states for a window: no later than its end, behind which nothing
    /// was requested.
    func value(stated text: String, until end: Timestamp) -> String {
        guard let time = time(text), time > end else { return text }
        return value(ofWindowEnd: end)
    }

    private func beginning(of value: String) throws -> Timestamp {
        let (lag, isLong) = Int64(rule.lag).multipliedReportingOverflow(by: 1_000_000)
        guard let time = time(value), !isLong else {
            throw problem("a window cannot begin with \(value.excerpt): expected a date such as 2026-01-31")
        }
        let (moved, isEarly) = time.microseconds.subtractingReportingOverflow(lag)
        guard !isEarly else { throw problem("the value \(value.excerpt) cannot be moved back by \(rule.lag) s") }
        return Timestamp(microseconds: moved)
    }

    /// The time of a value; nil for a text that is none.
    func time(_ text: String) -> Timestamp? {
        for format in [rule.format, .rfc3339, .iso8601, .day].compactMap(\.self) {
            if let time = format.timestamp(text) { return time }
        }
        return nil
    }

    private func fullEnd(from start: Timestamp) -> Timestamp? {
        guard let window = rule.window else { return nil }
        let (length, isLong) = Int64(window).multipliedReportingOverflow(by: 1_000_000)
        let (end, isLate) = start.microseconds.addingReportingOverflow(length)
        return isLong || isLate ? nil : Timestamp(microseconds: end)
    }

    private func text(of time: Timestamp) throws -> String {
        let format = rule.format ?? .rfc3339
        var rounded = time
        // Servers read whole seconds, unless a format says otherwise.
        if rule.format == nil {
            let rest = ((time.microseconds % 1_000_000) + 1_000_000) % 1_000_000
            rounded = Timestamp(microseconds: time.microseconds.subtractingReportingOverflow(rest).partialValue)
        }
        let written: String? = format.text(of: rounded)
        guard let text = written else {
            throw problem("dates are not written in the format \(format): write another format")
        }
        return text
    }
}
