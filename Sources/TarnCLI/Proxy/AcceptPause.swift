import NIOCore

/// A pause of the listening socket after a connection could not be accepted.
///
/// Out of file descriptors, the socket stays ready to accept, and the event loop would try without
/// end. NIO's `AcceptBackoffHandler` does not help: after an error the socket stays registered
/// (`BaseSocketChannel.readable0` keeps `readPending`). For its event loop only.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let duration = TimeAmount.milliseconds(100)

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError, let options = context.channel.syncOptions else {
            return context.fireErrorCaught(error)
        }
        let bound = NIOLoopBound(options, eventLoop: context.eventLoop)
        // Only a closed channel has no options: there is nothing to resume then.
        try? options.setOption(.autoRead, value: false)
        context.eventLoop.scheduleTask(in: AcceptPause.duration) {
            try? bound.value.setOption(.autoRead, value: true)
        }
    }
}
