// Caches that come and go over one store.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Caches that are released", .timeLimit(.minutes(2)))
struct CacheReleaseTests {
    private static let transport = ClosureTransport { request in
        TransportResponse(
            status: 200, headers: TransportHeaders([.init("Cache-Control", "max-age=60")]),
            body: Array("[{\"id\":1}]".utf8))
    }

    /// The number of descriptors of the lock file of requests.
    private func openLocks(of store: Store) -> Int {
        let name =
            "/" + URL(fileURLWithPath: store.path).pathComponents.suffix(2).joined(separator: "/") + "/claims.lock"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.count { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
            return target?.hasSuffix(name) ?? false
        }
    }

    @Test("fifty caches that are made, used and released leave no open file")
    func released() async throws {
        let fixture = try CacheFixture(yaml: itemsYAML())
        for number in 0..<50 {
            let cache = try fixture.cache(nil, transport: Self.transport)
            _ = try await cache.fetch(CacheRequest("items", parameters: [.init("n", "\(number)")]))
            await cache.finishBackground()
            let cached = CachedTransport(Self.transport, store: fixture.store)
            let url = "https://api.test.example/pages/\(number)"
            #expect(try await cached.answer(TransportRequest(url: url)).status.isStored)
            withExtendedLifetime((cache, cached)) { #expect(openLocks(of: fixture.store) >= 2) }
        }
        try await eventually { openLocks(of: fixture.store) == 0 }
    }
}
