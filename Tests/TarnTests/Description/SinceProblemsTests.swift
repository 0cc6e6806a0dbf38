// The rules for `since`: where a value is sent, where a first one comes from, and where windows end.

import Tarn
import TarnDescription
import Testing

@Suite("Description file: problems of since")
struct SinceProblemsTests {
    private static func problems(_ since: String, _ more: String = "") -> String {
        let yaml = """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, at: date? } }
            endpoints:
              items: { path: /items, entity: Item, since: \(since)\(more) }
              whole: { path: /whole, entity: Item, with: { drive: a } }
              parts: { path: '/whole/{item.id}', for_each: Item, entity: Item }
            """
        do throws(DescriptionError) {
            _ = try Description.parse(yaml, file: "t.yaml")
            return ""
        } catch { return "\(error)" }
    }

    @Test(
        "the ways to send a value and to get the first one are sound",
        arguments: [
            "{ header_field: If-Modified-Since, field: at, format: http }",
            "{ field: at, latest_first: true, lag: 5m, full_every: 7d }",
            "{ cursor: next, param: token, start: { path: /token, cursor: first, list: whole } }",
            "{ link: next, start: { path: '/items/delta?token=latest' } }",
            "{ header: X-Next, param: token, start: { status: [412, 410], cursor: sync } }",
            "{ param: from, until: to, window: 30d, format: day, initial: 2026-01-01 }",
            "{ param: from, until: to, lag: 1h, cursor: covered, initial: '2026-01-01T00:00:00Z' }",
        ])
    func sound(since: String) { #expect(Self.problems(since) == "") }

    @Test(
        "what cannot stand together, and what is missing, is an error with the way out",
        arguments: [
            (
                "{ header_field: X-Since, param: a, field: at }", "",
                "since.param: header_field is where the value is sent"
            ),
            ("{ header_field: 'X Since', field: at }", "", "since.header_field: invalid name of a header field"),
            (
                "{ header_field: Content-Length, field: at }", "",
                "since.header_field: the transport sets this header field"
            ),
            ("{ header_field: X-Since, field: at }", ", headers: { x-since: a }", "headers.x-since: since sends this"),
            ("{ field: at, latest_first: true, param: a }", "", "since.param: with latest_first, no value is sent"),
            ("{ cursor: c, latest_first: true }", "", "since.latest_first: the order is that of a field"),
            ("{ field: at, param: a, start: { path: /t } }", "", "since.start: only for a token of the server"),
            (
                "{ cursor: c, param: a, initial: x, start: { path: /t } }", "",
                "since.initial: start requests the first value"
            ),
            ("{ header: X, param: a, start: { path: /t } }", "", "since.start: missing location of the first value"),
            ("{ cursor: c, param: a, start: { path: t } }", "", "since.start.path: expected a path below the base URL"),
            ("{ cursor: c, param: a, start: { path: '/{no}' } }", "", "no value for {no}"),
            ("{ cursor: c, param: a, start: { path: /t, list: wole } }", "", "did you mean \"whole\"?"),
            (
                "{ cursor: c, param: a, start: { path: /t, list: items } }", "",
                "items requests changes: name the endpoint"
            ),
            (
                "{ cursor: c, param: a, start: { path: /t } }", ", partitions: { k: [a, b] }",
                "a first value is that of one list"
            ),
            ("{ cursor: c, param: a, start: { path: /t, list: parts } }", "", "parts has for_each"),
            ("{ field: at, param: a, window: 1d }", "", "since.window: a window needs an end"),
            ("{ param: a, until: a, initial: 2026-01-01 }", "", "since.until: the value is sent there"),
            ("{ param: a, until: b }", "", "since.until: the first window needs a beginning"),
            ("{ param: a, until: b, initial: soon }", "", "since.initial: the first window begins with a date"),
            ("{ param: a, until: b, initial: 2026-01-01, field: at }", "", "since.field: not possible with until"),
            ("{ param: a, until: b, initial: 2026-01-01, window: 1 }", "", "since.window: expected a duration"),
            ("{ param: a, until: b, initial: 2026-01-01, window: 1h, lag: 2h }", "", "must be longer"),
            ("{ param: a, until: b, initial: 2026-01-01 }", ", with: { b: c }", "since sends this parameter"),
            (
                "{ param: a, until: b, initial: 2026-01-01 }", ", partitions: { b: [c, d] }",
                "since sends this parameter: choose another name"
            ),
            (
                "{ param: a, until: b, initial: 2026-01-01 }", ", orphans: after_one_scan",
                "orphans: a window has a part of the list only"
            ),
        ])
    func broken(since: String, more: String, message: String) {
        let found = Self.problems(since, more)
        #expect(found.contains(message), "\(found)")
    }
}
