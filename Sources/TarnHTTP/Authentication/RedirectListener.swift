// The end of a sign-in in a browser: it returns to this machine, with a code in its request.

import Glibc
import Locking

/// A listener on 127.0.0.1 for the redirect of an authorization server (RFC 8252 §7.3).
///
/// Any program of this machine, and any web page, can send requests to it. Only one with the path
/// and the `state` of the sign-in counts. Others are refused, with a bound on their number and
/// their size, and a slow one does not hold up the browser. No answer repeats a part of a request.
final class RedirectListener: Sendable {
    /// The result of the person's visit.
    enum Answer: Sendable {
        case code(Secret)
        /// The refusal of the server: its code and its description.
        case refused(error: String, description: String?)
        case timedOut
        case cancelled
        /// The machine grants no thread.
        case failed(String)
    }

    /// The system does not grant the port.
    struct Failure: Error {
        var port: Int
        /// The system's error.
        var code: Int32
    }

    /// The URL for the authorization server, with the port.
    let url: String
    private let path: String
    private let state: Secret
    private let socket: Int32
    private let isEnded = Guarded(false)
    private let outcome = SettledOnce<Answer>()

    /// The maximum number of connections at a time, and of bytes of a request's head.
    private static let connectionLimit = 16
    private static let headLimit = 32 << 10
    /// The time that a connection has for its request.
    private static let patience = Duration.seconds(10)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - redirect: the declared URL, with or without a port.
    ///   - state: the value that the request must repeat (RFC 6749 §10.12).
    init(_ redirect: HTTPURL, _ text: String, state: Secret) throws(Failure) {
        let wanted = redirect.writtenPort ?? 0
        let descriptor = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(port: wanted, code: errno) }
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size), on: Int32 = 1
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: wanted).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A declared port may have connections of the last sign-in that are not forgotten yet.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0 ? 0 : errno
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw Failure(port: wanted, code: code)
        }
        socket = descriptor
        let port = UInt16(bigEndian: address.sin_port)
        // Servers compare the URL as it is written: only the port is added.
        let authority = "http://\(redirect.host)"
        url = redirect.writtenPort == nil ? "\(authority):\(port)" + text.dropFirst(authority.utf8.count) : text
        path = redirect.path
        self.state = state
    }

    deinit { close(socket) }

    /// Waits for the browser. The listener ends with it, and with the task.
    func answer(within limit: Duration) async -> Answer {
        let code = SystemThread.start(named: "tarn-redirect") { [self] in serve(until: .now + limit) }
        guard code == 0 else { return .failed(SystemThread.refusal) }
        return await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.settle(.cancelled)
            isEnded.withLock { $0 = true }
        }
    }

    // MARK: The thread

    private struct Connection {
        var descriptor: Int32
        var head: [UInt8] = []
        var deadline: ContinuousClock.Instant
    }

    private func serve(until end: ContinuousClock.Instant) {
        var connections: [Connection] = []
        defer { for connection in connections { close(connection.descriptor) } }
        while !isEnded.withLock(\.self) {
            guard ContinuousClock.now < end else { return outcome.settle(.timedOut) }
            var polled = [pollfd(fd: socket, events: Int16(POLLIN), revents: 0)]
            polled += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), 100)
            var kept: [Connection] = []
            for (var connection, entry) in zip(connections, polled.dropFirst()) {
                let progress: Progress = entry.revents == 0 ? .open : read(&connection)
                switch progress {
                case .open where ContinuousClock.now < connection.deadline: kept.append(connection)
                case .answer(let answer):
                    outcome.settle(answer)
                    isEnded.withLock { $0 = true }
                    fallthrough
                default: close(connection.descriptor)
                }
            }
            connections = kept
            if polled[0].revents != 0 { accept(into: &connections) }
        }
    }

    private func accept(into connections: inout [Connection]) {
        let descriptor = Glibc.accept(socket, nil, nil)
        guard descriptor >= 0 else {
            // Without free descriptors, the connection stays in the queue: no loop without a pause.
            usleep(50_000)
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // Browsers open connections in advance. The one that has waited longest makes room.
        if connections.count >= RedirectListener.connectionLimit { close(connections.removeFirst().descriptor) }
        connections.append(Connection(descriptor: descriptor, deadline: .now + RedirectListener.patience))
    }

    /// The state of a connection after its bytes were read.
    private enum Progress {
        case open
        case closed
        case answer(Answer)
    }

    /// Reads what has arrived, and answers a request that is complete.
    private func read(_ connection: inout Connection) -> Progress {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return count < 0 && [EAGAIN, EINTR].contains(errno) ? .open : .closed }
        connection.head += buffer[..<count]
        guard connection.head.count <= RedirectListener.headLimit else {
            reply(connection, "431 Request Header Fields Too Large", "The request is too long.")
            return .closed
        }
        guard RedirectListener.isComplete(connection.head) else { return .open }
        guard let answer = answer(to: connection.head) else {
            reply(connection, "400 Bad Request", "This request is not the end of the sign-in that tarn waits for.")
            return .closed
        }
        reply(connection, "200 OK", "tarn has the answer of the server. You can close this page.")
        return .answer(answer)
    }

    private static func isComplete(_ head: [UInt8]) -> Bool {
        let end = Array("\r\n\r\n".utf8)
        guard head.count >= end.count else { return false }
        return (0...head.count - end.count).contains { head[$0..<$0 + end.count].elementsEqual(end) }
    }

    /// Returns the answer of the authorization server in a request; nil if it is another one.
    private func answer(to head: [UInt8]) -> Answer? {
        let line = String(decoding: head.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "GET", words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else {
            return nil
        }
        let target = String(words[1])
        guard target.prefix(while: { $0 != "?" }) == path else { return nil }
        let fields = QueryParameters.values(in: "http://127.0.0.1" + target)
        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        guard value("state") == state.exposed else { return nil }
        if let error = value("error") {
            return .refused(
                error: String(error.prefix(200)), description: value("error_description").map { String($0.prefix(200)) }
            )
        }
        guard let code = value("code"), !code.isEmpty,
            code.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value < 0x7F })
        else { return nil }
        return .code(Secret(code))
    }

    private func reply(_ connection: Connection, _ status: String, _ text: String) {
        let body = text + "\n"
        let answer =
            "HTTP/1.1 \(status)\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
            + "Connection: close\r\n\r\n" + body
        // The socket's buffer holds an answer of this size.
        _ = Array(answer.utf8).withUnsafeBytes {
            send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        shutdown(connection.descriptor, Int32(SHUT_WR))
    }
}
