// A server that sends arbitrary bytes and keeps what it receives: for responses that no recording
// may contain.

import Foundation
import Glibc
import Synchronization

package final class RawServer: Sendable {
    package let port: Int
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    package var base: String { "http://127.0.0.1:\(port)" }

    /// The requests, in order: their heads, and bodies that have a length.
    package var requests: [String] { received.withLock { $0 } }

    /// Answers the n-th request with the n-th answer and closes after each; after the last one it
    /// refuses.
    package convenience init(_ answers: String...) throws {
        try self.init(answers.map { Array($0.utf8) })
    }

    /// `BASE` in an answer becomes the server's own base URL.
    package convenience init(_ answers: [String]) throws {
        try self.init(answers.map { Array($0.utf8) }, replacesBase: true)
    }

    /// - Parameter pause: seconds between the pieces of an answer, which end where it has a NUL.
    package convenience init(_ answers: [[UInt8]], pause: Double = 0, replacesBase: Bool = false) throws {
        let socket = try LoopbackSocket()
        self.init(socket.descriptor, port: socket.port, answers, pause: pause, replacesBase: replacesBase)
    }

    /// On a socket that listens.
    package init(
        _ descriptor: Int32, port: Int, _ answers: [[UInt8]], pause: Double, replacesBase: Bool = false
    ) {
        self.descriptor = descriptor
        self.port = port
        Thread.detachNewThread { [self] in
            for answer in answers {
                let bytes =
                    replacesBase
                    ? Array(String(decoding: answer, as: UTF8.self).replacing("BASE", with: base).utf8) : answer
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                let head = RawServer.readHead(connection)
                received.withLock { $0.append(head) }
                for (index, piece) in (pause > 0 ? bytes.split(separator: 0).map(Array.init) : [bytes]).enumerated() {
                    if index > 0 { usleep(UInt32(pause * 1e6)) }
                    _ = send(connection, piece, piece.count, Int32(MSG_NOSIGNAL))
                }
                close(connection)
            }
            close(descriptor)
        }
    }

    /// Reads one request with a body slowly, so that the rest stays with its sender, and answers it.
    ///
    /// - Parameters:
    ///   - size: the number of bytes that are read at a time; the system receives no more ahead.
    ///   - pause: the seconds between two reads.
    package init(reading size: Int, each pause: Double, _ answer: String) throws {
        let socket = try LoopbackSocket(), descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        var limit = Int32(size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &limit, 4)
        Thread.detachNewThread {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { return }
            var buffer = [UInt8](repeating: 0, count: size), head: [UInt8] = [], left: Int?
            while left ?? 1 > 0 {
                let count = recv(connection, &buffer, size, 0)
                guard count > 0 else { break }
                if let known = left { left = known - count } else { head += buffer[..<count] }
                if left == nil, let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
                    let text = String(decoding: head[..<end.lowerBound], as: UTF8.self).lowercased()
                    let field = text.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }?.dropFirst(15)
                    let length = field.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0
                    left = length - (head.count - end.upperBound)
                }
                usleep(UInt32(pause * 1e6))
            }
            _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            close(connection)
            close(descriptor)
        }
    }

    /// Closes a number of connections behind their first bytes, without an answer.
    ///
    /// If more bytes have come, the system resets the connection.
    package init(closing count: Int, behind size: Int) throws {
        let socket = try LoopbackSocket(), descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: size)
            for _ in 0..<count {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                let taken = recv(connection, &buffer, size, 0)
                received.withLock { $0.append("\(taken) bytes") }
                close(connection)
            }
            close(descriptor)
        }
    }

    private static func readHead(_ connection: Int32) -> String {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 { head.append(byte) }
        let text = String(decoding: head, as: UTF8.self)
        let length = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }?.dropFirst(15)
        for _ in 0..<(length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0)
        where recv(connection, &byte, 1, 0) == 1 { head.append(byte) }
        return String(decoding: head, as: UTF8.self)
    }
}
