// The limits of a `tarn proxy` connection: the time for a request's header fields and body, and the
// number of connections of its address.

import NIOCore
import NIOPosix

/// The first handler of a connection, which sees bytes before a request. For its event loop only.
final class ProxyClock: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Between requests: only the idle timeout applies.
        case idle
        case head, body
        /// No time limit for the client applies.
        case answering
    }

    /// A closure that is called when the time is up, before the connection is closed.
    var expired: () -> Void = {}
    private let server: ProxyServer
    private var phase = Phase.idle
    private var since = NIODeadline.now()
    private var received = 0
    private var timer: (task: Scheduled<Void>, deadline: NIODeadline)?
    private var address: [UInt8]?
    /// The context of the handler while it is in the pipeline.
    private var context: ChannelHandlerContext?

    init(_ server: ProxyServer) { self.server = server }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        let address = context.remoteAddress.map(ProxyClock.key) ?? []
        guard server.admit(address) else { return context.close(promise: nil) }
        self.address = address
        // The header timeout also covers a client that sends nothing.
        enter(.head)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        if let address { server.left(address) }
        address = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard address != nil else { return }
        if phase == .idle { enter(.head) }
        received += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }

    func enter(_ phase: Phase) {
        self.phase = phase
        (since, received) = (.now(), 0)
        wait()
    }

    /// The time at which the phase has lasted too long; nil if it has no limit.
    private var deadline: NIODeadline? {
        switch phase {
        case .idle, .answering: nil
        case .head: since + .seconds(Int64(server.limits.headerTimeout))
        case .body: since + .seconds(Int64(server.limits.bodyTimeout + received / ProxyServer.Limits.bodyRate))
        }
    }

    /// Schedules a timer for the phase, unless one is due before.
    ///
    /// The timer of an earlier phase stays: to set and to cancel two for each request took a
    /// twentieth of the time of a short one.
    private func wait() {
        guard let deadline, let context else { return }
        if let timer {
            guard timer.deadline > deadline else { return }
            timer.task.cancel()
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = (context.eventLoop.scheduleTask(deadline: deadline) { bound.value.check() }, deadline)
    }

    /// Ends the connection if the phase has lasted too long.
    private func check() {
        timer = nil
        guard let deadline, let context else { return }
        if deadline > .now() { wait() } else { end(context) }
    }

    /// Sends 408 (RFC 9110 §15.5.9) and closes; a client that has sent nothing gets no response.
    private func end(_ context: ChannelHandlerContext) {
        let hasBegun = phase == .body || received > 0
        (phase, timer) = (.answering, nil)
        expired()
        guard hasBegun else { return context.close(promise: nil) }
        let answer = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            channel = context.channel
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: answer))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    /// Returns the bytes of an address; for IPv6, those of its network of 64 bits.
    ///
    /// One client has such a network for itself.
    private static func key(_ address: SocketAddress) -> [UInt8] {
        switch address {
        case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return Array(isMapped ? bytes[12...] : bytes[..<8])
        case .unixDomainSocket: return []
        }
    }
}
