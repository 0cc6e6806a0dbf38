// The classification of answers to writes, as a table.

import Foundation
import TarnHTTP
import Testing

@testable import Tarn

@Suite("Outbox: answers of the server")
struct WriteAnswerTests {
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    private func answer(
        _ kind: OutboxOperation.Kind, _ status: Int, _ fields: [String: String] = [:], body: Bool = true,
        rule: ResponseRule.Action? = nil
    ) -> WriteAnswer {
        let headers = TransportHeaders(fields.map { .init($0.key, $0.value) })
        return WriteAnswer.classify(kind, status: status, headers, hasBody: body, rule: rule, now: Self.now)
    }

    @Test(
        "a status has one meaning for every kind of operation",
        arguments: [
            (200, WriteAnswer.done), (201, .done), (202, .done), (204, .done), (301, .refused), (304, .refused),
            (400, .refused), (401, .authentication), (403, .refused), (405, .refused), (407, .authentication),
            (408, .retry(after: nil)), (413, .refused), (415, .refused), (422, .refused), (425, .retry(after: nil)),
            (429, .retry(after: nil)), (500, .retry(after: nil)), (501, .refused), (502, .retry(after: nil)),
            (503, .retry(after: nil)), (504, .retry(after: nil)), (505, .refused),
        ])
    func everyKind(status: Int, expected: WriteAnswer) {
        for kind in OutboxOperation.Kind.allCases { #expect(answer(kind, status) == expected, "\(kind) \(status)") }
    }

    @Test("a deletion of what is not there is done; a change of it is refused")
    func absent() {
        for status in [404, 410] {
            #expect(answer(.delete, status) == .done)
            #expect(answer(.remove, status) == .done)
            for kind in [OutboxOperation.Kind.create, .update, .add] { #expect(answer(kind, status) == .refused) }
        }
    }

    @Test("a conflict is one of a stored record; a create that conflicts is refused, unless the server is busy with it")
    func conflict() {
        for status in [409, 412] {
            for kind in [OutboxOperation.Kind.update, .delete, .add, .remove] {
                #expect(answer(kind, status) == .conflict)
            }
            #expect(answer(.create, status) == .refused)
            // No version of theirs can be read: the server is busy.
            for kind in [OutboxOperation.Kind.create, .add, .remove] {
                #expect(answer(kind, status, ["Retry-After": "2"]) == .retry(after: .seconds(2)))
            }
        }
        for kind in [OutboxOperation.Kind.update, .delete] { #expect(answer(kind, 428) == .conflict) }
        for kind in [OutboxOperation.Kind.create, .add, .remove] { #expect(answer(kind, 428) == .refused) }
    }

    @Test("Location leads to a created record without a body, and only to that")
    func location() {
        #expect(answer(.create, 201, ["Location": "/items/7"], body: false) == .location("/items/7"))
        #expect(answer(.create, 200, ["Content-Location": "/items/7"], body: false) == .location("/items/7"))
        #expect(answer(.create, 202, ["Location": "/jobs/7"], body: false) == .done)
        #expect(answer(.create, 201, ["Location": "/items/7"]) == .done)
        #expect(answer(.create, 303, ["Location": "/items/7"]) == .location("/items/7"))
        #expect(answer(.create, 303, ["Content-Location": "/items/7"]) == .done)
        #expect(answer(.update, 303, ["Location": "/items/7"]) == .done)
        #expect(answer(.delete, 303) == .done)
        #expect(answer(.update, 204, ["Location": "/items/7"], body: false) == .done)
        #expect(answer(.create, 201, [:], body: false) == .done)
    }

    @Test("the server's delay is kept, in seconds and as a date, also with an exhausted limit that is a 403")
    func delay() {
        #expect(answer(.update, 503, ["Retry-After": "7"]) == .retry(after: .seconds(7)))
        let date = HTTPDate.text(Self.now.addingTimeInterval(30))
        #expect(answer(.update, 429, ["Retry-After": date]) == .retry(after: .seconds(30)))
        for status in [403, 413, 423] {
            #expect(answer(.update, status, ["Retry-After": "60"]) == .retry(after: .seconds(60)))
            #expect(answer(.update, status) == .refused)
        }
    }

    @Test("a rule of the description decides before the status")
    func rules() {
        #expect(answer(.update, 422, rule: .retry) == .retry(after: nil))
        #expect(answer(.update, 200, rule: .fail) == .refused)
        #expect(answer(.update, 418, rule: .ignore) == .done)
        #expect(answer(.update, 400, rule: .refreshToken) == .authentication)
    }

    @Test("a failure without an answer passes, except a URL that cannot be requested and missing credentials")
    func failures() {
        #expect(WriteAnswer.classify(.url) == .refused)
        #expect(WriteAnswer.classify(.credentials) == .authentication)
        for kind in [
            TransportError.Kind.resolve, .connect, .tls, .timeout, .tooLarge, .cutShort, .protocol, .rateLimit,
        ] {
            #expect(WriteAnswer.classify(kind) == .retry(after: nil))
        }
    }

    @Test("an excerpt has at most 4 KiB and no control characters")
    func excerpt() throws {
        let body = Array("{\"a\":\"\u{1B}[31m\u{202E}\u{0}\n".utf8) + Array(repeating: 0xFF, count: 9000)
        let failure = TransportResponse(status: 422, body: body).failure(
            of: TransportRequest(method: "POST", url: "https://a.example/x?token=hush"), at: Timestamp(Self.now))
        let excerpt = try #require(failure.excerpt)
        #expect(excerpt.utf8.count <= 4096 && excerpt.utf8.count > 4000)
        #expect(!excerpt.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
        #expect(!failure.message.contains("hush") && failure.message.contains("422"))
        #expect(!failure.message.unicodeScalars.contains { $0.value < 0x20 })
    }
}
