// The result of a cache if the server fails: the stale response, with the error beside it, unless a
// rule forbids it.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Record cache: stale answers", .serialized, .timeLimit(.minutes(5)))
struct RecordCacheStaleTests {
    /// A way in which a server fails.
    enum Fault: String, CaseIterable, Sendable {
        case timeout, tls, cutByLength, cutByClose, reset, closed, notJSON, status429, status500, status502, status503,
            status504
    }

    /// A server that fails in this way, and its base URL.
    private func server(_ fault: Fault) throws -> (any Sendable, base: String) {
        let good = recording("/items", twoItems)
        switch fault {
        case .timeout:
            let server = try HoldingServer()
            return (server, server.base)
        case .tls:
            // A server that knows no TLS.
            let server = try LocalServer([good])
            return (server, server.base.replacing("http:", with: "https:"))
        case .cutByLength:
            let server = try LocalServer([good], "--fault", ":cut:20")
            return (server, server.base)
        case .cutByClose:
            // Only the end of the connection marks the end of the body.
            let server = try RawServer(["HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n[{\"id\":1,\"na"])
            return (server, server.base)
        case .reset:
            let server = try LocalServer([good], "--fault", ":reset")
            return (server, server.base)
        case .closed:
            let server = try LocalServer([good], "--fault", ":close")
            return (server, server.base)
        case .notJSON:
            let server = try LocalServer([good], "--fault", ":html")
            return (server, server.base)
        case .status429, .status500, .status502, .status503, .status504:
            let server = try LocalServer([good], "--fault", ":status:\(fault.rawValue.suffix(3))")
            return (server, server.base)
        }
    }

    private func stale(_ control: String, off: Bool = false) async throws -> CacheFixture {
        let fixture = try CacheFixture(yaml: itemsYAML(api: off ? "  cache: { off_line: never }" : ""))
        let good = try itemServer("Cache-Control: max-age=60\(control)")
        _ = try await fixture.cache(good.base).fetch(CacheRequest("items"))
        fixture.clock.pass(100)
        return fixture
    }

    @Test(
        "the stale answer is given, with its age and the error", arguments: Fault.allCases,
        [CachePolicy.cacheFirst, .networkFirst, .cacheAndNetwork])
    func given(_ fault: Fault, _ policy: CachePolicy) async throws {
        let fixture = try await stale("")
        let (server, base) = try server(fault)
        defer { withExtendedLifetime(server) {} }
        let cache = try fixture.cache(base, transport: MirrorStore.impatient(idle: .milliseconds(300)))
        let answer = try await cache.fetch(CacheRequest("items"), policy: policy)
        #expect(answer.text == "stale 2" && answer.age == 100 && answer.isStored)
        #expect(answer.failure != nil)
        #expect(try fixture.count() == 2)
    }

    @Test(
        "what must be revalidated is not given, nor to a caller that wants the network alone, nor where the description says never",
        arguments: Fault.allCases)
    func forbidden(_ fault: Fault) async throws {
        for control in [", must-revalidate", ", no-cache"] {
            let fixture = try await stale(control)
            let (server, base) = try server(fault)
            defer { withExtendedLifetime(server) {} }
            let cache = try fixture.cache(base, transport: MirrorStore.impatient(idle: .milliseconds(300)))
            await #expect(throws: CacheError.self, "\(control)") { try await cache.fetch(CacheRequest("items")) }
        }
        let fixture = try await stale("")
        let (server, base) = try server(fault)
        defer { withExtendedLifetime(server) {} }
        let cache = try fixture.cache(base, transport: MirrorStore.impatient(idle: .milliseconds(300)))
        await #expect(throws: CacheError.self) { try await cache.fetch(CacheRequest("items"), policy: .networkOnly) }
    }

    @Test("a description that says never gets no stale answer when the server fails")
    func never() async throws {
        let fixture = try await stale("", off: true)
        let failing = try itemServer(body: "no", status: "503 Service Unavailable")
        let cache = try fixture.cache(failing.base) { $0.rules = fixture.mirrored.description.api.cache.rules }
        await #expect { try await cache.fetch(CacheRequest("items")) } throws: { "\($0)".contains("503") }
    }

    @Test("a server that says how long is taken at its word: after that the error is told")
    func window() async throws {
        for (window, isGiven) in [(60, true), (30, false)] {
            let fixture = try await stale(", stale-if-error=\(window)")
            let failing = try itemServer(body: "no", status: "503 Service Unavailable")
            let cache = try fixture.cache(failing.base)
            if isGiven {
                #expect(try await cache.fetch(CacheRequest("items")).text == "stale 2")
            } else {
                await #expect { try await cache.fetch(CacheRequest("items")) } throws: { "\($0)".contains("503") }
            }
        }
    }

    @Test(
        "a refusal is no failure of the server: it is told",
        arguments: ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "422 No"])
    func refused(_ status: String) async throws {
        let fixture = try await stale("")
        let refusing = try itemServer(body: "{}", status: status)
        let cache = try fixture.cache(refusing.base)
        await #expect { try await cache.fetch(CacheRequest("items")) } throws: { "\($0)".contains(status.prefix(3)) }
    }
}
