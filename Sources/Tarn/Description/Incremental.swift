// The rule of an endpoint for requests of what has changed since the last complete scan.

import TarnHTTP
import TarnImport

/// The rule by which a scan requests only what has changed since the last complete one.
///
/// A value is saved with each page. When a scan is complete, it becomes the value that the next one
/// sends. An interrupted scan continues with the value it began with.
package struct Incremental: Sendable, Hashable {
    /// The origin of the value.
    package enum Source: Sendable, Hashable {
        /// The largest value at a path of the listed records.
        case field(JSONPath)
        /// A token at a path of the response, in the last page that has one.
        case cursor(String)
        /// A token in a header field of the response, in the last page that has one.
        case header(String)
        /// A URL at a path of the response: the first request of the next scan.
        case link(String)
        /// The end of the window that was requested last.
        case window
    }

    /// The records that the server lists for a value.
    package enum Range: String, Sendable, Hashable, CaseIterable {
        /// Records from the value on, those with this value included.
        case closed
        /// Records after the value only.
        ///
        /// The value is moved back by one step, so that no record with an equal value is missed.
        case open
    }

    /// The unit to which a date is rounded down before it is sent.
    package enum Granularity: String, Sendable, Hashable, CaseIterable {
        case second, minute, hour, day

        /// The length in microseconds.
        var microseconds: Int64 {
            switch self {
            case .second: 1_000_000
            case .minute: 60_000_000
            case .hour: 3_600_000_000
            case .day: 86_400_000_000
            }
        }
    }

    /// The origin of the value.
    package var source: Source
    /// The parameter that the value is sent in; nil for a link, a header field, and a list that
    /// begins with the latest record.
    package var sends: Pagination.ParameterPlace?
    /// The header field that the value is sent in; nil for a parameter.
    package var headerField: String?
    /// Whether the list begins with the latest record: nothing is sent, and a scan of changes ends
    /// behind the value.
    package var endsAtValue = false
    /// The text that is sent, with `{value}` in it; nil for the value alone.
    package var text: String?
    /// The value of the first scan; nil to request everything.
    package var initial: String?
    /// The distance by which a value is moved back: seconds for a date, else a number.
    package var lag = 0
    /// The records that the server lists for a value.
    package var range = Range.closed
    /// The unit to which a date is rounded down; nil for none.
    package var granularity: Granularity?
    /// The format in which a date is sent; nil for that of its attribute.
    package var format: DateFormat?
    /// The status codes of a refusal after which everything is requested: the token has expired.
    ///
    /// Nil for the usual ones of ``refusals``, empty for none.
    package var expired: [ClosedRange<Int>]?
    /// The seconds from the beginning of a scan of the whole list after which another scan requests
    /// the whole list; nil for never.
    package var fullInterval: Int?

    /// The request for the first value, before the whole list is read; nil without one.
    package var start: Start?
    /// The parameter in which the end of a window is sent; nil to request up to the present.
    package var until: Pagination.ParameterPlace?
    /// The longest window, in seconds; nil for one window up to the present.
    package var window: Int?

    /// The request for the first value of a change feed, whose whole list is another endpoint's.
    package struct Start: Sendable, Hashable {
        /// The path below the base URL; nil for the request of the feed without a value.
        package var path: String?
        /// The path of the value in the body.
        package var value: String
        /// The refusals whose bodies have the value.
        package var statuses: [ClosedRange<Int>] = []
        /// The endpoint with the whole list; nil if none has it.
        package var list: String?

        /// Creates a request.
        package init(path: String?, value: String) { (self.path, self.value) = (path, value) }
    }

    /// Creates a rule.
    package init(_ source: Source, sends: Pagination.ParameterPlace?) {
        self.source = source
        self.sends = sends
    }

    /// The name of the value in ``text``.
    package static let variable = "value"

    /// The names in ``text`` other than that of the value.
    package var variables: [String] {
        text.map { Endpoint.variables(in: $0).filter { $0 != Incremental.variable } } ?? []
    }

    /// The names in the path of ``start``. The endpoint's own requests send these parameters, too.
    package var startVariables: [String] { start?.path.flatMap { try? PathTemplate($0) }?.variables ?? [] }

    /// The refusals after which everything is requested.
    ///
    /// Servers forget their tokens: Google Calendar and Microsoft Graph answer 410 then, Asana 412.
    /// A value of a record is not one of the server's.
    var refusals: [ClosedRange<Int>] {
        expired ?? (field == nil && until == nil ? [410...410, 412...412] : [])
    }

    /// The path of the value in a listed record; nil if it belongs to the response.
    var field: JSONPath? { if case .field(let path) = source { path } else { nil } }

    /// The path of the value in the response; nil if it is elsewhere.
    var path: String? {
        switch source {
        case .cursor(let path), .link(let path): path
        case .field, .header, .window: nil
        }
    }

    var header: String? { if case .header(let name) = source { name } else { nil } }
}
