// Descriptions, header fields and cursors: any content is read to its end, and no computation with
// its numbers overflows. The first byte of an input selects one of them.

import Foundation
import FuzzDriver

@testable import Tarn
import TarnDescription
@testable import TarnHTTP

@_cdecl("MessageFuzz_main")
public func run(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    fuzz(count, arguments, seeds: { Fuzz.seeds }) { input in
        guard let kind = input.first else { return }
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        switch kind % 4 {
        case 0: Fuzz.description(text)
        case 1: Fuzz.headers(text)
        case 2: Fuzz.cursors(text)
        default: Fuzz.document(Array(input.dropFirst()))
        }
    }
}

enum Fuzz {
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    static var seeds: [[UInt8]] {
        let description = """
            api:
              base: 'http://h/v1'
              headers: { Accept: a }
              cache: { age: 9223372036854775807, older_than: 1 }
              pace: { per_second: 1e8 }
              retry: { attempts: 3 }
            entities: { Item: { key: id, attributes: { id: int, at: { type: date?, epoch: seconds } } } }
            endpoints:
              items:
                path: '/items/{id}'
                entity: Item
                paginate: { page_number: { param: p, start: 9223372036854775807 } }
                limit: { pages: 5 }
            """
        let headers = """
            200
            Link: </a?page=2>; rel="next", <
            Retry-After: 999999999999
            RateLimit: "default";r=0;t=9223372036854775807
            X-RateLimit-Remaining: 0
            X-RateLimit-Reset: 1e308
            Cache-Control: max-age=99999999999999999999, private="a, b"
            Date: Sun, 06 Nov 1994 08:49:37 GMT
            Expires: Sunday, 06-Nov-94 08:49:37 GMT
            Age: 9223372036854775807
            ETag: W/"a"
            Vary: Accept, *
            Content-Range: bytes 0-9/10
            Content-Type: text/html; charset="utf-8"
            """
        let cursors = """
            0 -1
            9223372036854775807
            -9223372036854775808
            9223372036854775806
            c2
            http://h/items?page=9223372036854775807
            """
        let document =
            #"{"after":"a","form":[["a","b"]],"json":"{\"a\":[1,2.5e3,null]}","last":"\ud83d\ude00","pages":3,"#
            + #""records":9223372036854775807,"url":"http://h/"}"#
        return [description, headers, cursors, document].enumerated().map {
            [UInt8($0.offset)] + Array($0.element.utf8)
        }
    }

    static func description(_ text: String) {
        guard let description = try? Description.parse(text, file: "f.yaml") else { return }
        for endpoint in description.endpoints {
            guard
                let first = try? PageSequence(
                    endpoint.pagination, PageRequest(url: "http://h/items", body: endpoint.body),
                    .init(base: "http://h"), deep: endpoint.deep)
            else { continue }
            walk(first, values: ["1", String(Int.max), ""])
        }
        _ = CurlTransport(description.api.transport)
    }

    static func headers(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.first.flatMap { Int($0) } ?? 200
        let headers = TransportHeaders(lines.dropFirst().compactMap { HTTPSyntax.field(ofLine: String($0)) })
        _ = LinkHeader.target(relation: "next", in: headers)
        for link in headers.all("Link") { _ = LinkHeader.parse(link) }
        _ = RateLimit.wait(status: status, headers, now: now)
        var budget = RateBudget()
        for _ in 0..<3 {
            _ = budget.admit(Pace(perSecond: 10), now: now)
            budget.answered(status: status, headers, now: now)
        }
        for limit in budget.limits { if let date = limit.resetsAt { _ = HTTPDate.text(date) } }
        _ = try? JSONEncoder().encode(budget)
        _ = RetryPolicy().decide(
            .answer(status: status, headers: headers), method: "GET", attempt: 1, now: now, random: 0.5)
        for field in headers.fields {
            _ = HTTPDate.parse(field.value, now: now).map(HTTPDate.text)
            _ = DeltaSeconds.parse(field.value.utf8)
            _ = Redaction.links(field.value)
        }
        _ = CacheControl(headers)
        let rules = CacheRules(), request = TransportRequest(url: "http://h/", headers: headers)
        let response = TransportResponse(status: status, headers: headers)
        _ = rules.storability(of: response, to: request)
        for time in [0, 1_790_000_000, Int(Int32.max)] {
            let stored = CachedResponse(
                method: "GET", status: status, headers: headers, selecting: headers, requestTime: time,
                responseTime: time)
            _ = rules.decide(request, stored, at: 1_790_000_000)
            _ = rules.validation(of: stored, for: request)
            _ = rules.validate(stored, with: TransportResponse(status: 304, headers: headers))
        }
        _ = OAuth2.token(from: response)
    }

    /// Lines: counts of the page, then values as a server may send them.
    static func cursors(_ text: String) {
        let values = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let styles: [Pagination] = [
            .headerLink(), .jsonLink(path: "next"), .cursor(path: "next", sends: .query("c"), hasMore: "more"),
            .cursor(path: "next", sends: .body(["a", "b"])),
            .headerCursor(field: "X-Next", sends: .query("c")),
            .offset(.query("o"), start: number(values), total: "total"),
            .pageNumber(.query("p"), start: number(values), totalPages: "total"),
            .pageNumber(.body(["p"]), start: number(values)),
            .recordCursor(.forward, sends: .query("since"), includesNamed: true),
            .recordCursor(.backward, sends: .body(["max"]), includesNamed: true), .automatic,
        ]
        for style in styles {
            guard let first = try? PageSequence(style, PageRequest(url: "http://h/items"), .init(base: "http://h"))
            else { continue }
            walk(first, values: values)
            var resumed = first
            for value in values {
                try? resumed.resume(at: value, ordinal: .max - 2, listed: number(values))
                walk(resumed, values: values)
            }
        }
    }

    static func document(_ bytes: [UInt8]) {
        guard let body = JSONBody(parsing: bytes[...]) else { return }
        precondition(JSONBody(parsing: body.text) == body, "what is written is read as something else")
        guard var pages = try? PageSequence(.automatic, PageRequest(url: "http://h/items"), .init(base: "http://h"))
        else { return }
        try? pages.resume(at: body.text, ordinal: 1)
        _ = OAuth2.token(from: TransportResponse(status: 200, body: bytes))
    }

    private static func number(_ values: [String]) -> Int { values.lazy.compactMap { Int($0) }.first ?? 0 }

    private static func walk(_ first: PageSequence, values: [String]) {
        var pages = first
        for (index, value) in values.prefix(20).enumerated() {
            let other = values[(index + 1) % values.count]
            let facts = PageFacts(
                headers: TransportHeaders([
                    .init("Link", "<\(value)>; rel=next"), .init("X-Next", value), .init("X-Total-Count", other),
                    .init("X-Total-Pages", value),
                ]),
                recordCount: max(0, Int(other) ?? index),
                values: ["next": value, "total": other, "more": value, "next_cursor": other, "total_pages": value],
                records: PageFacts.RecordValues([value, other]), digest: index)
            guard (try? pages.advance(facts)) == true else { break }
            _ = pages.position
        }
        _ = try? pages.restart(afterStatus: 422)
    }
}
