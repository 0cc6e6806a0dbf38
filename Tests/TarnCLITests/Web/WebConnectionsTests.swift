// The connections of the inspector's server: any user of the machine can open some.

import Foundation
import TestSupport
import Testing

@Suite("Inspector: page, connections")
struct WebConnectionsTests {
    @Test("connections without the token give way to new ones; those that have used it stay")
    func limit() async throws {
        let page = try await RunningPage(Forge.store), port = try page.port
        let path = page.url.replacing("http://127.0.0.1:\(port)", with: "")
        func get(_ connection: RawConnection) throws -> String {
            try connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            return try connection.message().start
        }
        let user = try RawConnection(port: port)
        #expect(try get(user) == "HTTP/1.1 200 OK")
        let idle = try (0..<200).map { _ in try RawConnection(port: port) }
        let late = try RawConnection(port: port)
        #expect(try get(late) == "HTTP/1.1 200 OK")
        #expect(try idle[0].isClosed)
        #expect(try get(user) == "HTTP/1.1 200 OK")
        withExtendedLifetime(idle) {}
        #expect(await page.end().status == 143)
    }
}
