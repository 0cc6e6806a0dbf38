// The server of `tarn proxy`, on SwiftNIO: connections, limits and shutdown.

import Foundation
import Locking
import NIOCore
import NIOHTTP1
import NIOPosix
import Tarn

final class ProxyServer: Sendable {
    /// The limits for clients.
    struct Limits: Sendable {
        /// The maximum size of a request body, in bytes.
        var maximumBody = 16 << 20
        /// The maximum size of the body of an upstream's response, in bytes.
        var maximumResponse = CurlTransport.Options().maximumBodySize
        var maximumConnections = 1024
        /// The maximum for one address, or one IPv6 network of 64 bits.
        var maximumConnectionsPerAddress = 256
        /// The seconds without traffic after which a connection is closed.
        var idleTimeout = 60
        /// The seconds until the end of the header fields.
        ///
        /// They count from the first byte of a request, or from the start of the connection.
        var headerTimeout = 20
        /// The seconds for a body, plus one for each ``bodyRate`` bytes received.
        var bodyTimeout = 60
        static let bodyRate = 16 << 10
        /// The file descriptors beside those of clients: connections to the upstream, of which
        /// libcurl keeps up to 256 open, the store, and event loops.
        static let ownDescriptors: UInt = 400
    }

    let transport: CachedTransport
    let upstream: HTTPURL
    let limits: Limits
    let hosts: ProxyHosts
    /// The random name of this process in `Via`, which detects loops (RFC 9110 §7.6.3).
    let name = "tarn-" + String(UInt64.random(in: 0..<1 << 48) | 1 << 48, radix: 16).dropFirst()
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount))
    private let state = Guarded(State())

    private struct State: @unchecked Sendable {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// The number of connections of each address.
        var addresses: [[UInt8]: Int] = [:]
        /// The number of requests that have begun and whose responses are not yet written.
        var underWay = 0
        var isEnding = false
        /// The time of the last report about the store.
        var storeReport: ContinuousClock.Instant?
    }

    init(transport: CachedTransport, upstream: HTTPURL, limits: Limits, hosts: ProxyHosts) {
        self.transport = transport
        self.upstream = upstream
        self.limits = limits
        self.hosts = hosts
    }

    /// Starts to listen.
    ///
    /// - Returns: The port.
    func start(host: String, port: Int) async throws -> Int {
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPause()) }
            }
            .childChannelInitializer { channel in
                guard self.admit(channel) else { return channel.close() }
                channel.closeFuture.whenComplete { _ in
                    self.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
                }
                return channel.eventLoop.makeCompletedFuture {
                    // The handler sets lengths: a response to HEAD must not get one of its own.
                    var encoding = HTTPResponseEncoder.Configuration()
                    encoding.automaticallySetFramingHeaders = false
                    let clock = ProxyClock(self)
                    try channel.pipeline.syncOperations.addHandler(clock)
                    // Pipelined requests of a connection are delivered one at a time.
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withPipeliningAssistance: true, withErrorHandling: false, withEncoderConfiguration: encoding)
                    try channel.pipeline.syncOperations.addHandler(
                        IdleStateHandler(allTimeout: .seconds(Int64(self.limits.idleTimeout))))
                    try channel.pipeline.syncOperations.addHandler(ProxyHandler(self, clock))
                }
            }
            .childChannelOption(ChannelOptions.socketOption(.tcp_nodelay), value: 1)
            .bind(host: host, port: port).get()
        state.withLock { $0.listener = listener }
        return listener.localAddress?.port ?? port
    }

    /// The port on which the proxy listens; nil if it does not.
    var port: Int? { state.withLock { $0.listener?.localAddress?.port } }

    private func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard state.connections.count < limits.maximumConnections, !state.isEnding else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    /// Counts a connection of an address; false if the address has too many.
    func admit(_ address: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.addresses[address, default: 0] < limits.maximumConnectionsPerAddress else { return false }
            state.addresses[address, default: 0] += 1
            return true
        }
    }

    func left(_ address: [UInt8]) {
        state.withLock { state in
            let count = state.addresses[address, default: 1] - 1
            state.addresses[address] = count > 0 ? count : nil
        }
    }

    /// Writes a line about responses that are not stored, at most once a minute.
    func report(storeFailure: String) {
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.storeReport, now - last < .seconds(60) { return false }
            state.storeReport = now
            return true
        }
        if isDue { Output.note("responses are passed on, but not stored: \(storeFailure)") }
    }

    func began() { state.withLock { $0.underWay += 1 } }
    func ended() { state.withLock { $0.underWay -= 1 } }
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Shuts the server down.
    ///
    /// It accepts no more connections and waits at most ten seconds for pending responses.
    func stop() async {
        let listener = state.withLock { state in
            state.isEnding = true
            return state.listener
        }
        try? await listener?.close()
        let deadline = ContinuousClock.now + .seconds(10)
        while state.withLock({ $0.underWay > 0 }), ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(10))
        }
        for channel in state.withLock({ Array($0.connections.values) }) { try? await channel.close() }
        // Revalidations that are not done by then are of no use to anybody.
        await withTaskGroup { [transport] group in
            group.addTask { await transport.finishBackground() }
            group.addTask { try? await Task.sleep(until: deadline + .seconds(1)) }
            await group.next()
            transport.cancelBackground()
            group.cancelAll()
        }
        try? await group.shutdownGracefully()
    }
}
