// Servers and clients on plain sockets, with full control over the bytes on the wire.

import Foundation
import Glibc
import Synchronization
import Testing

/// One end of a TCP connection. Closed when it is released.
final class RawConnection: Sendable {
    struct Ended: Error, CustomStringConvertible {
        var description = "the connection ended, or nothing came for a minute"
    }

    /// A message as it came: its first line, its fields, its body.
    struct Message: Sendable {
        var start: String
        var fields: [String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        /// The values of a field, by its name in lower case.
        func values(_ name: String) -> [String] {
            fields.filter { $0.lowercased().hasPrefix(name + ":") }.map {
                $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            }
        }
    }

    private let descriptor: Int32
    /// The bytes read beyond the requested ones.
    private let rest = Mutex<[UInt8]>([])

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// A client's end.
    ///
    /// - Parameter address: its own, of those that begin with 127.
    convenience init(port: Int, from address: UInt32? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.init(descriptor)
        if let address {
            let isBound = ConnectionServer.withLoopback(0, address) { bind(descriptor, $0, $1) == 0 }
            guard isBound else { throw Ended(description: "the address is not there") }
        }
        let isConnected = ConnectionServer.withLoopback(port) { connect(descriptor, $0, $1) == 0 }
        guard isConnected else { throw Ended() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Ended() }
            sent += count
        }
    }

    /// A line without its end.
    func line() throws -> String {
        while true {
            let line = rest.withLock { rest -> [UInt8]? in
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { rest.removeFirst(end + 1) }
                return Array(rest[..<end])
            }
            if let line { return String(decoding: line, as: UTF8.self).trimmingCharacters(in: ["\r"]) }
            guard try receive() else { throw Ended() }
        }
    }

    /// This number of bytes; all until the end if nil.
    func bytes(_ count: Int?) throws -> [UInt8] {
        while rest.withLock({ $0.count }) < count ?? .max {
            guard try receive() else {
                guard count == nil else { throw Ended() }
                break
            }
        }
        return rest.withLock { rest in
            let taken = Array(rest.prefix(count ?? .max))
            rest.removeFirst(taken.count)
            return taken
        }
    }

    /// A request, or a response with `Content-Length` or chunks. `hasBody` is false for responses
    /// to HEAD and for interim responses.
    func message(hasBody: Bool = true) throws -> Message {
        var message = Message(start: try line(), fields: [], body: [])
        while true {
            let line = try line()
            if line.isEmpty { break }
            message.fields.append(line)
        }
        if hasBody, let length = message.values("content-length").first.flatMap({ Int($0) }) {
            message.body = try bytes(length)
        } else if hasBody, message.values("transfer-encoding") == ["chunked"] {
            while let size = Int(try line(), radix: 16) {
                message.body += try bytes(size)
                _ = try line()
                if size == 0 { break }
            }
        }
        return message
    }

    /// Whether the other side has closed it without sending anything.
    var isClosed: Bool {
        get throws { try rest.withLock { $0.isEmpty } && !receive() }
    }

    /// Lets it end with a reset when it is released: the other side reads an error, not an end.
    func resetAtEnd() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// False at the end.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 || errno == ECONNRESET else { throw Ended() }
        guard count > 0 else { return false }
        rest.withLock { $0 += buffer[..<count] }
        return true
    }
}

/// A server that runs a closure for each connection on its own thread, and then closes it.
final class ConnectionServer: Sendable {
    let port: Int
    private let descriptor: Int32

    var base: String { "http://127.0.0.1:\(port)" }

    init(_ serve: @escaping @Sendable (RawConnection) throws -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isBound = ConnectionServer.withLoopback(0) { bind(descriptor, $0, $1) == 0 } && listen(descriptor, 64) == 0
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        guard isBound, isNamed else { throw RawConnection.Ended(description: "no port to listen on") }
        (self.descriptor, port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
        Thread.detachNewThread {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { break }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                let connection = RawConnection(client)
                Thread.detachNewThread {
                    // A test that checks the end of a connection does so itself.
                    do { try serve(connection) } catch {}
                }
            }
            close(descriptor)
        }
    }

    /// The thread that waits for connections then closes the socket.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Answers every request of a connection in the same way.
    convenience init(answering answer: @escaping @Sendable (RawConnection.Message, RawConnection) throws -> Void) throws
    {
        try self.init { connection in
            while true { try answer(try connection.message(), connection) }
        }
    }

    static func withLoopback<Result>(
        _ port: Int, _ own: UInt32 = 0x7F00_0001, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = own.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
