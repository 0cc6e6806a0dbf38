// One client connection of `tarn proxy`: reads a request, answers it through the cache, and writes
// the response.

import NIOCore
import NIOHTTP1
import Tarn

/// The handler of one connection's requests. For its event loop only.
final class ProxyHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Stage {
        case idle, receiving, answering
        /// A body that the client has not yet taken.
        case sending
        /// After the last response: further input is ignored.
        case closing
    }

    private let server: ProxyServer
    private var stage = Stage.idle
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var isWriting = false
    /// The number of the current request on this connection.
    private var number = 0
    /// The request to the server whose response the client waits for, if its method is safe.
    private var fetching: Task<Void, Never>?

    private let clock: ProxyClock

    init(_ server: ProxyServer, _ clock: ProxyClock) {
        self.server = server
        self.clock = clock
    }

    func handlerAdded(context: ChannelHandlerContext) {
        clock.expired = { [weak self] in self?.expire() }
    }

    /// Stops receiving after a timeout; the clock sends the response.
    private func expire() {
        if stage == .receiving { server.ended() }
        stage = .closing
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head) where stage == .idle:
            begin(head, context)
        case .body(let buffer) where stage == .receiving:
            guard !isTooLarge, body.count + buffer.readableBytes <= server.limits.maximumBody else {
                isTooLarge = true
                body = []
                return
            }
            body += buffer.readableBytesView
        case .end where stage == .receiving:
            answer(context)
        default: break
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        server.began()
        stage = .receiving
        clock.enter(.body)
        self.head = head
        body = []
        isTooLarge =
            (head.headers.first(name: "content-length").map { Int($0) ?? .max } ?? 0) > server.limits.maximumBody
        // RFC 9110 §10.1.1: a client that waits for 100 gets it, or the final response.
        guard head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }),
            !head.version.isBefore1_1
        else { return }
        guard !isTooLarge else { return answer(context) }
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The client closed within its request. A response in progress is counted until it is
        // complete.
        if stage == .receiving { server.ended() }
        stage = .closing
        fetching?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        // Waiting for the upstream is not idleness of the client.
        if stage != .answering { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Bytes that are not HTTP get 400. After the last request, pending responses come first.
        guard error is HTTPParserError else { return context.close(promise: nil) }
        guard stage == .idle || stage == .receiving else { return }
        if stage == .receiving { server.ended() }
        stage = .closing
        clock.enter(.answering)
        let
            head = HTTPResponseHead(
                version: .http1_1, status: .badRequest, headers: ["Connection": "close", "Content-Length": "0"]),
            channel = context.channel
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        stage = .answering
        clock.enter(.answering)
        number += 1
        let received =
            isTooLarge ? .refused(.init(413, "the body is too large")) : ProxyMessage.received(head, body, by: server)
        body = []
        guard isWriting else { return answer(received, head, context) }
        // The write of a response has delivered a pipelined request: answered here, requests would
        // nest as deeply as there are any.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (handler, context) = bound.value
            handler.answer(received, head, context)
        }
    }

    /// Answers with a stored response at once, on the thread that has read the request.
    private func answer(
        _ received: ProxyMessage.Received, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        switch received {
        case .refused(let reply): send(reply, head, context)
        case .request(let message):
            if let reply = ProxyMessage.storedReply(to: message, through: server) {
                send(reply, head, context)
            } else {
                fetch(message, head, context)
            }
        }
    }

    private func fetch(_ message: TransportRequest, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let server = server, loop = context.eventLoop, number = number
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        let interim: @Sendable (InterimResponse) -> Void = { response in
            loop.execute {
                let (handler, context) = bound.value
                handler.write(response, to: number, head, context)
            }
        }
        let task = Task {
            let reply = await InterimResponse.receiving(interim) {
                await ProxyMessage.reply(to: message, through: server)
            }
            loop.execute {
                let (handler, context) = bound.value
                handler.fetching = nil
                handler.send(reply, head, context)
            }
        }
        // The effects of other methods are not half done.
        if ["GET", "HEAD"].contains(message.method) { fetching = task }
    }

    /// Forwards an interim response (RFC 9110 §15.2).
    ///
    /// Responses with status 100 are not forwarded: the proxy sends no `Expect`. Clients of
    /// HTTP/1.0 get no interim responses.
    private func write(
        _ response: InterimResponse, to number: Int, _ request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        guard stage == .answering, number == self.number, response.status != 100, !request.version.isBefore1_1,
            response.headers.fields.allSatisfy(HTTPSyntax.isWellFormed)
        else { return }
        let status =
            response.status == 103
            ? HTTPResponseStatus.custom(code: 103, reasonPhrase: "Early Hints")
            : HTTPResponseStatus(statusCode: response.status)
        var head = HTTPResponseHead(version: .http1_1, status: status)
        for field in response.headers.withoutConnectionFields.fields {
            head.headers.add(name: field.name, value: field.value)
        }
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    private func send(_ reply: ProxyMessage.Reply, _ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let server = server
        guard stage == .answering else { return server.ended() }
        let isLast = !request.isKeepAlive || server.isEnding || isTooLarge || request.endsDecoding
        let hasBody = request.method != .HEAD && reply.status != 204 && reply.status != 304 && !reply.body.isEmpty
        // The end delivers the next, pipelined request, whose response would wait in memory, too.
        let waits = !context.channel.isWritable || reply.body.count > ProxyHandler.piece
        let sent = waits ? context.eventLoop.makePromise(of: Void.self) : nil
        let head = reply.head(to: request, isLast: isLast)
        context.write(wrapOutboundOut(.head(head)), promise: hasBody ? nil : sent)
        if hasBody {
            // In pieces: each one sent resets the idle timeout.
            for start in stride(from: 0, to: reply.body.count, by: ProxyHandler.piece) {
                let end = min(start + ProxyHandler.piece, reply.body.count)
                let piece = context.channel.allocator.buffer(bytes: reply.body[start..<end])
                context.write(
                    wrapOutboundOut(.body(.byteBuffer(piece))), promise: end == reply.body.count ? sent : nil)
            }
        }
        guard let sent else { return end(isLast: isLast, context) }
        stage = .sending
        context.flush()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        sent.futureResult.whenComplete { result in
            let (handler, context) = bound.value
            if case .success = result, handler.stage == .sending { return handler.end(isLast: isLast, context) }
            server.ended()
            context.close(promise: nil)
        }
    }

    /// Writes the end of a response, whose body the client has taken.
    private func end(isLast: Bool, _ context: ChannelHandlerContext) {
        // Set before the end is written: the write may deliver the next, pipelined request.
        stage = isLast ? .closing : .idle
        clock.enter(isLast ? .answering : .idle)
        let channel = context.channel, server = server
        isWriting = true
        defer { isWriting = false }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { result in
            server.ended()
            // After a failed write, the client would wait for the rest.
            if case .failure = result { return channel.close(promise: nil) }
            if isLast { channel.close(promise: nil) }
        }
    }

    static let piece = 256 << 10
}

extension HTTPRequestHead {
    /// Whether the decoder takes what follows for another protocol (RFC 9110 §7.8, §9.3.6).
    var endsDecoding: Bool { method == .CONNECT || headers.contains(name: "upgrade") }
}

extension HTTPVersion {
    /// Whether it is HTTP/1.0: without interim responses, and with connections that end unless both
    /// sides keep them.
    var isBefore1_1: Bool { (major, minor) < (1, 1) }
}
