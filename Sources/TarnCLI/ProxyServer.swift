// The server of `tarn proxy`, on SwiftNIO: connections, limits, and the end.

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Tarn

final class ProxyServer: Sendable {
    let transport: CachedTransport
    /// What is behind the cache, for requests that pass it by.
    let direct: any Transport
    let upstream: HTTPURL
    let maximumBody: Int
    private let maximumConnections: Int
    private let idleTimeout: Int
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount))
    private let state = Mutex(State())

    private struct State: @unchecked Sendable {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// Requests that have begun, and whose answers are not written yet.
        var underWay = 0
        var isEnding = false
    }

    init(transport: CachedTransport, direct: any Transport, upstream: HTTPURL, maximumBody: Int, maximumConnections: Int, idleTimeout: Int) {
        self.transport = transport
        self.direct = direct
        self.upstream = upstream
        self.maximumBody = maximumBody
        self.maximumConnections = maximumConnections
        self.idleTimeout = idleTimeout
    }

    /// - Returns: the port.
    func start(host: String, port: Int) async throws -> Int {
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard self.admit(channel) else { return channel.close() }
                channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) } }
                return channel.eventLoop.makeCompletedFuture {
                    // Lengths are the handler's: an answer to HEAD has none of its own, and must not get one.
                    var encoding = HTTPResponseEncoder.Configuration()
                    encoding.automaticallySetFramingHeaders = false
                    // Requests of a connection come one by one, however many were sent ahead.
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withPipeliningAssistance: true, withErrorHandling: false, withEncoderConfiguration: encoding)
                    try channel.pipeline.syncOperations.addHandler(IdleStateHandler(allTimeout: .seconds(Int64(self.idleTimeout))))
                    try channel.pipeline.syncOperations.addHandler(ProxyHandler(self))
                }
            }
            .childChannelOption(ChannelOptions.socketOption(.tcp_nodelay), value: 1)
            .bind(host: host, port: port).get()
        state.withLock { $0.listener = listener }
        return listener.localAddress?.port ?? port
    }

    private func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard state.connections.count < maximumConnections, !state.isEnding else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    func began() { state.withLock { $0.underWay += 1 } }
    func ended() { state.withLock { $0.underWay -= 1 } }
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Takes no more connections, waits until requests under way are answered and their answers are written, ten seconds at most, and ends.
    func stop() async {
        let listener = state.withLock { state in
            state.isEnding = true
            return state.listener
        }
        try? await listener?.close()
        let deadline = ContinuousClock.now + .seconds(10)
        while state.withLock({ $0.underWay > 0 }), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
        for channel in state.withLock({ Array($0.connections.values) }) { try? await channel.close() }
        await transport.finishBackground()
        try? await group.shutdownGracefully()
    }
}
