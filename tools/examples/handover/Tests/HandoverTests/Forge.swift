import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A local server that answers by target, and keeps the requests.
final class Forge: Sendable {
    typealias Answer = (status: HTTPResponseStatus, fields: [(String, String)], body: String)

    let requests = Mutex<[HTTPRequestHead]>([])
    private let channel: any Channel

    init(_ answer: @escaping @Sendable (HTTPRequestHead) -> Answer) async throws {
        let received = Received()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(Handler(answer, received))
            }
        }
        channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        self.received = received
    }

    private let received: Received

    var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
    var targets: [String] { received.heads.withLock { $0.map(\.uri) } }
    var heads: [HTTPRequestHead] { received.heads.withLock { $0 } }

    func close() async throws { try await channel.close() }

    private final class Received: Sendable {
        let heads = Mutex<[HTTPRequestHead]>([])
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (HTTPRequestHead) -> Answer
        private let received: Received

        init(_ answer: @escaping @Sendable (HTTPRequestHead) -> Answer, _ received: Received) {
            self.answer = answer
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = unwrapInboundIn(data) else { return }
            received.heads.withLock { $0.append(head) }
            let (status, fields, body) = answer(head)
            var headers = HTTPHeaders(fields)
            headers.replaceOrAdd(name: "Content-Length", value: "\(body.utf8.count)")
            context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
