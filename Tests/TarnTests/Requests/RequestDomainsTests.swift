// The calls of a domain, without a server.

import TestSupport
import Testing

@testable import Tarn

@Suite("Calls of a domain", .timeLimit(.minutes(5)))
struct RequestDomainsTests {
    @Test("a part of a call does not begin after its domain was cancelled")
    func cancelledBefore() async throws {
        let domains = RequestDomains(), hasBegun = Mutex(false)
        let call = try #require(domains.call(in: ["screen"]))
        #expect(domains.cancel("screen") == 1)
        await #expect(throws: CacheError.self) { try await call.run { hasBegun.withLock { $0 = true } } }
        // A task that was started by mistake has begun by then.
        try await Task.sleep(for: .milliseconds(50))
        let isBegun = hasBegun.withLock { $0 }
        #expect(!isBegun)
    }
}
