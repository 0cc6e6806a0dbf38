// Rate limits at the command line: messages, duration, and the override.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: rate limits")
struct RateLimitCommandTests {
    private static let far = recording(
        "/items", "{\"message\":\"slow down\"}", status: "429 Too Many", "Retry-After: 999999999999")

    /// The date in `until Sun, 06 Nov 1994 08:49:37 GMT`.
    private func until(_ text: String) throws -> Date {
        let match = try #require(text.firstMatch(of: /is used up until (\w+, [^,]* GMT)/), "\(text)")
        return try #require(HTTPDate.parse(String(match.1)))
    }

    @Test(
        "a pause until the year 33714 holds a day at most, is kept, survives --refetch --restart, and --ignore-limits passes it"
    )
    func farAhead() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let limited = try LocalServer([Self.far])
        let arguments = ["sync", "--file", file, "--base", limited.base]
        let first = try await tarn(arguments)
        #expect(first.status == 7 && first.error.contains("the server returned 429: slow down"), "\(first.error)")
        let again = try await tarn(arguments + ["--refetch", "--restart"])
        #expect(again.status == 7 && limited.requests.count == 1, "\(again.error)")
        let seconds = try until(again.error).timeIntervalSinceNow
        #expect(seconds > 86_000 && seconds <= 86_400, "\(again.error)")
        #expect(again.error.contains("--ignore-limits"))
        let one = try await tarn("fetch", "items", "--file", file, "--base", limited.base)
        #expect(one.status == 7 && one.error.contains("is used up until"), "\(one.error)")
        let ignoring = try await tarn(arguments + ["--ignore-limits"])
        #expect(ignoring.status == 7 && limited.requests.count == 2, "\(ignoring.error)")
        let fetching = try await tarn("fetch", "items", "--file", file, "--base", limited.base, "--ignore-limits")
        #expect(fetching.status == 7 && limited.requests.count == 3, "\(fetching.error)")
    }

    @Test("a limit that ends decades ahead, as earlier versions kept it, holds nothing up")
    func keptByEarlierVersions() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        let arguments = ["sync", "--file", file, "--base", server.base]
        expectSuccess(try await tarn(arguments))
        let store = try Store.open(at: folder.path + "/tarn.tarn")
        let origin = server.base
        for text in [
            #"{"\#(origin)":{"limits":[],"pausedUntil":1800000000,"tokens":0}}"#,
            #"{"\#(origin)":{"limits":[{"name":"","remaining":0,"resetsAt":1800000000}],"tokens":0}}"#,
            #"{"\#(origin)":{"limits":[{"name":"","remaining":-9223372036854775808,"resetsAt":1e300},{"name":"b","remaining":0}],"tokens":0}}"#,
        ] {
            try await store.write { try $0.access.settings.setRequestBudgets(text) }
            let before = server.requests.count
            expectSuccess(try await tarn(arguments))
            #expect(server.requests.count > before)
        }
    }

    @Test(
        "a 200 that says nothing is left for decades ends the sync with 7 and what was committed, and says what to do")
    func usedUpByAnAnswer() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        var pages = itemPages
        pages[0] = pages[0].replacing("\n\n", with: "\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2800000000\n\n")
        let server = try LocalServer(pages)
        let arguments = ["sync", "--file", file, "--base", server.base]
        let result = try await tarn(arguments)
        #expect(result.status == 7 && server.requests.count == 1, "\(result.error)")
        #expect(try until(result.error).timeIntervalSinceNow <= 86_400)
        #expect(try await tarn("count", "Item", "--file", file).output == "1\n")
        expectSuccess(try await tarn(arguments + ["--ignore-limits"]))
        #expect(try await tarn("count", "Item", "--file", file).output == "3\n")
    }

    @Test("a 403 that names a rate limit is 7, and one that does not is a matter of credentials")
    func forbidden() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML(api: "  retry: never"))
        let reset = "X-RateLimit-Reset: \(Int(Date().timeIntervalSince1970) + 7200)"
        let limited = try LocalServer([recording("/items", "{}", status: "403 No", "X-RateLimit-Remaining: 0", reset)])
        #expect(try await tarn("sync", "--file", file, "--base", limited.base).status == 7)
        let forbidden = try LocalServer([recording("/items", "{}", status: "403 No")])
        #expect(try await tarn("sync", "--file", file, "--base", forbidden.base).status == 4)
    }

    /// A limit that is used up for some seconds after the first page.
    private func shortLimit() throws -> LocalServer {
        var pages = itemPages
        pages[0] = pages[0].replacing("\n\n", with: "\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 4\n\n")
        return try LocalServer(pages)
    }

    @Test("on a terminal the seconds of a pause count down on the line of progress")
    func countdown() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try shortLimit()
        let result = try await Terminal.run(
            ["sync", "--file", file, "--base", server.base], output: folder.path + "/output")
        #expect(result.status == 0, "\(result.output)")
        let seconds = result.output.matches(of: /waiting (\d+) s: the rate limit of http:/).compactMap { Int($0.1) }
        #expect(
            seconds.count >= 2 && seconds == seconds.sorted(by: >) && (seconds.first ?? 0) <= 5,
            "\(result.output.debugDescription)")
    }

    @Test("in a pipe a pause is one line, and with --quiet none")
    func plainLine() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try shortLimit()
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(result.status == 0 && result.errorLines.count == 1, "\(result.error)")
        #expect(
            result.error.wholeMatch(
                of: /waiting \d s, until \w+, [^,]* GMT: the rate limit of http:\/\/127.0.0.1:\d+ is used up\n/) != nil,
            "\(result.error)")
        let other = try shortLimit()
        let quiet = try await tarn(
            "sync", "--file", file, "--base", other.base, "--quiet", "--store", folder.path + "/other.tarn")
        #expect(quiet.status == 0 && quiet.error == "", "\(quiet.error)")
    }
}
