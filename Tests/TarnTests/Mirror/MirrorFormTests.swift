// Lists that come as lines of JSON, and lists that come later.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: lines of JSON and later answers", .timeLimit(.minutes(5)))
struct MirrorFormTests {
    private static func answer(
        _ body: String, _ type: String = "application/x-ndjson", status: Int = 200, _ fields: [String: String] = [:]
    ) -> TransportResponse {
        var headers = TransportHeaders(fields.map { .init($0.key, $0.value) })
        headers["Content-Type"] = type
        return TransportResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    private static func lines(_ ids: Int...) -> String { ids.map { "{\"id\":\($0),\"name\":\"n\"}\n" }.joined() }

    @Test("lines of JSON are the records of a list, by their media type or by the description")
    func lines() async throws {
        let typed = try MirrorStore(yaml: itemsYAML())
        let report = try await typed.sync(nil, transport: ClosureTransport { _ in Self.answer(Self.lines(1, 2, 3)) })
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try typed.items() == [1, 2, 3])
        let plain = ClosureTransport { _ in Self.answer(Self.lines(1, 2, 3), "text/plain") }
        let undeclared = try await typed.sync(nil, transport: plain)
        #expect(undeclared.texts.first?.contains("format: lines") == true, "\(undeclared.texts)")
        let declared = try typed.edited(itemsYAML("format: lines"))
        #expect(try await declared.sync(nil, transport: plain).failures.isEmpty)
    }

    @Test("the lines of a watch lead to their records by a path, also if there is one")
    func paths() async throws {
        for count in 1...2 {
            let store = try MirrorStore(yaml: itemsYAML("format: lines\n    records: '*.object'"))
            let body = (1...count).map { "{\"type\":\"ADDED\",\"object\":{\"id\":\($0),\"name\":\"n\"}}\n" }.joined()
            let report = try await store.sync(nil, transport: ClosureTransport { _ in Self.answer(body, "text/plain") })
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.items() == Array(1...count))
        }
    }

    @Test("a list whose last line is cut off changes nothing, deletes nothing, and says so")
    func cutOff() async throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: single_page\n    orphans: after_one_scan"))
        _ = try await store.sync(nil, transport: ClosureTransport { _ in Self.answer(Self.lines(1, 2, 3)) })
        let cut = String(Self.lines(1, 4).dropLast(4))
        let report = try await store.sync(nil, transport: ClosureTransport { _ in Self.answer(cut) })
        #expect(report.texts.first?.contains("cut short") == true, "\(report.texts)")
        #expect(try store.items() == [1, 2, 3])
        let wrong = try await store.sync(
            nil, transport: ClosureTransport { _ in Self.answer(Self.lines(1) + "{\"id\":oops}\n" + Self.lines(4)) })
        #expect(wrong.texts.first?.contains("$[1].id") == true, "\(wrong.texts)")
        #expect(try store.items() == [1, 2, 3])
        // A whole list is one, also if it is shorter.
        let whole = try await store.sync(nil, transport: ClosureTransport { _ in Self.answer(Self.lines(1, 4)) })
        #expect(whole.failures.isEmpty)
        #expect(try store.items() == [1, 4])
    }

    @Test("lines that only the end of the connection ends delete nothing, unless the description says that they may")
    func openEnd() async throws {
        let yaml = itemsYAML("paginate: single_page\n    orphans: after_one_scan")
        let store = try MirrorStore(yaml: yaml)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nETag: \"a\"\r\nConnection: close\r\n\r\n"
        let server = try RawServer(
            head + Self.lines(1, 2, 3), head + Self.lines(1, 2), head + Self.lines(1, 2), head + Self.lines(1, 2),
            head + Self.lines(1, 2))
        for _ in 0..<3 {
            let report = try await store.sync(server.base)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.items() == [1, 2, 3])
        }
        // A 304 would confirm the lines without the doubt.
        #expect(!server.requests.contains { $0.lowercased().contains("if-none-match") })
        let trusting = try store.edited(
            itemsYAML("paginate: single_page\n    orphans: after_one_scan\n    more: ignore"))
        for _ in 0..<2 { #expect(try await trusting.sync(server.base).failures.isEmpty) }
        #expect(try store.items() == [1, 2])
    }

    @Test("the state of work that is accepted is no record, and the list comes from its monitor")
    func monitor() async throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: single_page\n    orphans: after_one_scan"))
        let urls = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let count = urls.withLock { urls in
                urls.append(request.url)
                return urls.count
            }
            return count < 3
                ? Self.answer(
                    "{\"id\":77,\"name\":\"job\",\"status\":\"running\"}", "application/json", status: 202,
                    ["Location": "/v1/jobs/77", "Retry-After": "0"])
                : Self.answer(Self.lines(1, 2))
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == [1, 2])
        #expect(urls.withLock { $0.map { $0.split(separator: "/").last } } == ["items", "77", "77"])
    }

    @Test("a sync that is interrupted while it waits goes on at the monitor, and begins no other work")
    func resumed() async throws {
        let store = try MirrorStore(yaml: itemsYAML())
        let begun = Mutex(0), isReady = Mutex(false)
        let transport = ClosureTransport { request in
            guard request.url.hasSuffix("/jobs/7") else {
                begun.withLock { $0 += 1 }
                return Self.answer("", status: 202, ["Location": "/v1/jobs/7"])
            }
            // The failure of the connection stands for the end of the process.
            guard isReady.withLock(\.self) else {
                throw TransportError(.cutShort, method: "GET", url: request.url, detail: "killed")
            }
            return Self.answer(Self.lines(1))
        }
        #expect(try await store.sync(nil, transport: transport).failures.count == 1)
        isReady.withLock { $0 = true }
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(begun.withLock(\.self) == 1)
        #expect(try store.items() == [1])
        // The answer has arrived: the next sync asks for a new one.
        #expect(try await store.sync(nil, transport: transport).failures.isEmpty)
        #expect(begun.withLock(\.self) == 2)
    }

    @Test("an empty list beside the state of unfinished work is no empty list", arguments: ["running", "IN_PROGRESS"])
    func unfinished(state: String) async throws {
        let store = try MirrorStore(yaml: itemsYAML("records: rows\n    paginate: single_page"))
        let transport = ClosureTransport { _ in
            Self.answer("{\"status\":\"\(state)\",\"rows\":[]}", "application/json")
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.texts.first?.contains("`status` says \"\(state)\"") == true, "\(report.texts)")
        let ignoring = try store.edited(
            itemsYAML("records: rows\n    paginate: single_page\n    more: { ignore: [status] }"))
        #expect(try await ignoring.sync(nil, transport: transport).failures.isEmpty)
        // It is the state of a record, whose list is empty.
        let record = ClosureTransport { _ in
            Self.answer("{\"id\":5,\"status\":\"\(state)\",\"rows\":[]}", "application/json")
        }
        #expect(try await store.sync(nil, transport: record).failures.isEmpty)
        // The request has asked for it.
        let filtered = try store.edited(
            itemsYAML("records: rows\n    paginate: single_page\n    with: { status: \(state) }"))
        #expect(try await filtered.sync(nil, transport: transport).failures.isEmpty)
    }

    @Test("a declared state is waited for")
    func declared() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                "records: rows\n    wait: { at_most: 1m, every: 1s, state: job.state, while: [built, queued] }"))
        let count = Mutex(0)
        let transport = ClosureTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1
                ? Self.answer("{\"job\":{\"state\":\"Built\"},\"rows\":[]}", "application/json")
                : Self.answer("{\"job\":{\"state\":\"ok\"},\"rows\":[{\"id\":5,\"name\":\"n\"}]}", "application/json")
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.items() == [5])
    }

    @Test(
        "what is wrong in wait and format is named with its place",
        arguments: [
            ("format: xml", "endpoints.items.format: unknown format \"xml\""),
            ("wait: { every: soon }", "endpoints.items.wait.every: expected a duration"),
            ("wait: { at_most: 0s }", "endpoints.items.wait.at_most: expected a duration"),
            ("wait: { while: [a] }", "endpoints.items.wait.while: these are states"),
            ("wait: { state: 'jobs.*.state' }", "endpoints.items.wait.state: expected the path of one value"),
            ("wait: { until: done }", "endpoints.items.wait.until"),
        ])
    func errors(line: String, message: String) {
        #expect { try Description.parse(itemsYAML(line), file: "tarn.yaml") } throws: {
            "\($0)".contains(message)
        }
    }

    @Test("another form, and other statuses of a rule for successes, request the list without a condition")
    func fingerprint() throws {
        func digest(_ lines: String) throws -> String {
            let description = try Description.parse(itemsYAML(lines), file: "tarn.yaml")
            return description.fingerprint(of: try #require(description.endpoints.first))
        }
        let digests = try [
            "paginate: header_link", "format: lines", "responses: [{ status: 203, then: fail }]",
            "responses: [{ status: 206, then: fail }]", "responses: [{ status: 206, contains: a, then: fail }]",
            "responses: [{ contains: a, then: fail }]",
        ].map(digest)
        #expect(Set(digests).count == digests.count)
        // A refusal is never confirmed.
        #expect(try digest("responses: [{ status: 404, then: empty }]") == digests[0])
    }
}
