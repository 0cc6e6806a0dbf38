// One connection of a client of `tarn proxy`: a request is read, answered through the cache, and written.

import Foundation
import NIOCore
import NIOHTTP1
import Tarn

/// Used on its event loop alone.
final class ProxyHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: ProxyServer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false

    init(_ server: ProxyServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            isTooLarge = (head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0) > server.maximumBody
            // RFC 9110 §10.1.1: who waits is told to go on.
            if !isTooLarge, head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
            }
        case .body(let buffer):
            guard !isTooLarge, body.count + buffer.readableBytes <= server.maximumBody else {
                isTooLarge = true
                body = []
                return
            }
            body += buffer.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let message = isTooLarge ? nil : ProxyMessage.request(head, body, upstream: server.upstream)
        body = []
        let isTooLarge = isTooLarge, server = server, loop = context.eventLoop
        let bound = NIOLoopBound(context, eventLoop: loop), handler = NIOLoopBound(self, eventLoop: loop)
        server.began()
        Task {
            let reply: ProxyMessage.Reply =
                if let message {
                    await ProxyMessage.reply(to: message, through: server.transport)
                } else {
                    ProxyMessage.Reply(isTooLarge ? 413 : 501, isTooLarge ? "the body is too large" : "this request cannot be forwarded")
                }
            loop.execute {
                handler.value.write(reply, head, bound.value)
                server.ended()
            }
        }
    }

    private func write(_ reply: ProxyMessage.Reply, _ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let isLast = !request.isKeepAlive || server.isEnding || isTooLarge
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status))
        for field in reply.headers.fields { head.headers.add(name: field.name, value: field.value) }
        let hasNoBody = request.method == .HEAD || reply.status == 204 || reply.status == 304
        if !hasNoBody { head.headers.replaceOrAdd(name: "Content-Length", value: String(reply.body.count)) }
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !hasNoBody, !reply.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: reply.body)))), promise: nil)
        }
        let done = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if isLast {
            let channel = context.channel
            done.whenComplete { _ in channel.close(promise: nil) }
        }
    }
}

/// Requests and answers as they pass a gateway (RFC 9110 §7.6).
enum ProxyMessage {
    struct Reply: Sendable {
        var status: Int
        var headers: Tarn.HTTPHeaders
        var body: [UInt8]

        /// An answer of the proxy's own.
        init(_ status: Int, _ text: String, _ cacheStatus: CacheStatus = CacheStatus()) {
            self.status = status
            headers = Tarn.HTTPHeaders([.init("Content-Type", "text/plain; charset=utf-8"), .init("Cache-Status", cacheStatus.description)])
            body = Array((text + "\n").utf8)
        }

        init(_ answer: CachedTransport.Answer) {
            status = answer.response.status
            headers = answer.response.headers.withoutConnectionFields
            // RFC 9111 §5.1: what was just made has no age of its own to add.
            headers.fields.append(.init("Via", "1.1 tarn"))
            headers.fields.append(.init("Cache-Status", answer.status.description))
            body = answer.response.body
        }
    }

    /// The request for the upstream; nil for what a gateway does not forward: CONNECT, and targets that are no path.
    static func request(_ head: HTTPRequestHead, _ body: [UInt8], upstream: HTTPURL) -> HTTPRequest? {
        guard head.method != .CONNECT else { return nil }
        var target = head.uri
        // The absolute form (RFC 9112 §3.2.2).
        if let url = try? HTTPURL(target) { target = url.target }
        guard target.hasPrefix("/") else { return nil }
        let prefix = upstream.path == "/" ? "" : upstream.path.hasSuffix("/") ? String(upstream.path.dropLast()) : upstream.path
        guard let url = try? HTTPURL(upstream.origin + prefix + target) else { return nil }
        var headers = Tarn.HTTPHeaders(head.headers.map { .init($0.name, $0.value) }).withoutConnectionFields
        // The upstream's own name; lengths are those of the message that is sent; nobody is left waiting.
        for name in ["Host", "Content-Length", "Expect"] { headers[name] = nil }
        headers.fields.append(.init("Via", "1.1 tarn"))
        let hasBody = !body.isEmpty || head.headers.contains(name: "content-length") || head.headers.contains(name: "transfer-encoding")
        return HTTPRequest(method: head.method.rawValue, url: url.description, headers: headers, body: hasBody && head.method != .GET ? body : nil)
    }

    static func reply(to request: HTTPRequest, through transport: CachedTransport) async -> Reply {
        do throws(TransportError) {
            let answer = try await transport.answer(request)
            if answer.decision.outcome == .unanswerable { return Reply(504, "nothing is stored that may answer", answer.status) }
            return Reply(answer)
        } catch {
            let status = CacheStatus(forward: .miss, detail: error.kind.rawValue)
            return Reply(error.kind == .timeout ? 504 : 502, "the upstream does not answer: \(error.kind.rawValue)", status)
        }
    }
}
