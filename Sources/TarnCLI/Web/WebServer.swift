// The server of `tarn inspect web`, on SwiftNIO: loopback only, and one answer a connection.

import Foundation
import Locking
import NIOCore
import NIOHTTP1
import NIOPosix
import TarnInspectWeb

/// A server of the inspector's page for browsers of this machine.
final class WebServer: Sendable {
    /// The seconds without traffic after which a connection is closed.
    private static let idleTimeout: Int64 = 30
    /// The maximum number of connections. A browser opens six at most.
    private static let maximumConnections = 64
    private let page: InspectPage
    private let connections = Guarded(Connections())
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// The threads that read the store: a view that reads much of it does not stop the others.
    private let threads = NIOThreadPool(numberOfThreads: 4)

    /// The open connections, oldest first.
    private struct Connections: @unchecked Sendable {
        var open: [(channel: any Channel, knowsToken: Bool)] = []
    }

    init(_ page: InspectPage) { self.page = page }

    /// Serves at 127.0.0.1 until the task is cancelled.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for a free one.
    ///   - ready: A closure that gets the port once connections are accepted.
    func run(port: Int, _ ready: (Int) -> Void) async throws {
        threads.start()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPause()) }
            }
            .childChannelInitializer { [self] channel in
                guard admit(channel) else { return channel.close() }
                channel.closeFuture.whenComplete { _ in self.left(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
                    try pipeline.addHandler(IdleStateHandler(allTimeout: .seconds(Self.idleTimeout)))
                    try pipeline.addHandler(WebHandler(page, threads) { self.trust($0) })
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        ready(listener.localAddress?.port ?? port)
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        try? await group.shutdownGracefully()
    }

    /// Counts a connection; false if there are too many.
    ///
    /// Every user of the machine can open connections. The oldest one that has not been used with
    /// the token gives way to a new one.
    private func admit(_ channel: any Channel) -> Bool {
        connections.withLock { connections in
            if connections.open.count >= Self.maximumConnections {
                guard let index = connections.open.firstIndex(where: { !$0.knowsToken }) else { return false }
                // Not in this call: its end takes the lock.
                let oldest = connections.open.remove(at: index).channel
                oldest.eventLoop.execute { oldest.close(promise: nil) }
            }
            connections.open.append((channel, false))
            return true
        }
    }

    private func left(_ channel: any Channel) {
        connections.withLock { $0.open.removeAll { $0.channel === channel } }
    }

    /// Notes that a request of a connection had the token.
    private func trust(_ channel: any Channel) {
        connections.withLock { connections in
            guard let index = connections.open.firstIndex(where: { $0.channel === channel }) else { return }
            connections.open[index].knowsToken = true
        }
    }
}

/// Collects a request, has it answered on another thread, and writes the answer.
private final class WebHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let page: InspectPage
    private let threads: NIOThreadPool
    private let trust: (any Channel) -> Void
    private var head: HTTPRequestHead?
    /// Whether an answer is being made. A long one is no idle connection.
    private var isAnswering = false

    /// - Parameter trust: called with a connection whose request had the token.
    init(_ page: InspectPage, _ threads: NIOThreadPool, trust: @escaping (any Channel) -> Void) {
        (self.page, self.threads, self.trust) = (page, threads, trust)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: context.close(promise: nil)
        case .end:
            guard let head else { return }
            (self.head, isAnswering) = (nil, true)
            let port = context.localAddress?.port ?? 0, hosts = head.headers["Host"]
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            threads.runIfActive(eventLoop: context.eventLoop) { [page] in
                page.answer(head.method.rawValue, head.uri, host: hosts.count == 1 ? hosts[0] : nil, port: port)
            }.whenComplete { result in
                let (handler, context) = bound.value
                handler.isAnswering = false
                guard case .success(let answer) = result else { return context.close(promise: nil) }
                handler.write(answer, to: head, context)
            }
        }
    }

    private func write(_ answer: PageAnswer, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var fields = HTTPHeaders(answer.fields.map { ($0.name, $0.value) })
        // Without the token, every answer is a refusal.
        if answer.status < 400 { trust(context.channel) }
        let isLast = !request.isKeepAlive || request.endsDecoding
        if isLast { fields.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        if isLast { written.whenComplete { _ in bound.value.close(promise: nil) } }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent, !isAnswering { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
