import Foundation
import FoundationNetworking
import Hummingbird
import NIOCore
import ServiceLifecycle
import Testing

/// A service that runs on a port of this machine.
struct LocalService: Sendable {
    let address: String

    struct Answer: Sendable {
        var status: Int
        var contentType: String?
        var body: Data
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    func get(_ path: String) async throws -> Answer {
        let url = try #require(URL(string: address + path))
        let (body, response) = try await URLSession.shared.data(from: url)
        let head = try #require(response as? HTTPURLResponse)
        return Answer(
            status: head.statusCode, contentType: head.value(forHTTPHeaderField: "Content-Type"), body: body)
    }
}

/// Runs an application until the closure returns, and shuts it down gracefully.
func withLocal<Base: ApplicationProtocol>(
    _ application: Base, _ body: (LocalService) async throws -> Void
) async throws {
    let (ports, found) = AsyncStream.makeStream(of: Int.self)
    let application = LocalApplication(base: application, found: found)
    let group = ServiceGroup(configuration: .init(services: [application], logger: application.logger))
    async let running: Void = {
        // Without this, the wait for the port of a server that does not start would not end.
        defer { found.finish() }
        try await group.run()
    }()
    var result = Result<Void, any Error>.success(())
    for await port in ports.prefix(1) {
        do { try await body(LocalService(address: "http://127.0.0.1:\(port)")) } catch { result = .failure(error) }
    }
    await group.triggerGracefulShutdown()
    try await running
    try result.get()
}

/// An application that tells the port on which it listens.
private struct LocalApplication<Base: ApplicationProtocol>: ApplicationProtocol {
    let base: Base
    let found: AsyncStream<Int>.Continuation

    var responder: Base.Responder { get async throws { try await base.responder } }
    var configuration: ApplicationConfiguration { base.configuration }
    var services: [any Service] { base.services }

    func onServerRunning(_ channel: any Channel) async {
        if let port = channel.localAddress?.port { found.yield(port) }
    }
}
