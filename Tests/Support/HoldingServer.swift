// A server that accepts requests and responds to none until the test releases it: for checks during
// a transfer.

import Foundation
import Glibc
import Synchronization

package final class HoldingServer: Sendable {
    private struct State: Sendable {
        var connections: [Int32] = []
        var held = 0
        var leftByClient = 0
        var answer: String?
    }

    package let port: Int
    private let descriptor: Int32
    private let state = Mutex(State())

    package var base: String { "http://127.0.0.1:\(port)" }
    /// The number of requests read.
    package var held: Int { state.withLock { $0.held } }
    /// The number of clients that closed their connection without a response.
    package var leftByClient: Int { state.withLock { $0.leftByClient } }

    package init() throws {
        let socket = try LoopbackSocket(), descriptor = socket.descriptor
        port = socket.port
        self.descriptor = descriptor
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                guard let self else { return }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Answers every request, those that wait and those that come.
    package func answer(_ body: String) {
        let text =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let waiting = state.withLock { state in
            state.answer = text
            defer { state.connections = [] }
            return state.connections
        }
        for connection in waiting { Self.send(text, connection) }
    }

    private static func send(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(connection, Int32(SHUT_WR))
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard recv(connection, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let answer = state.withLock { state in
            state.held += 1
            if state.answer == nil { state.connections.append(connection) }
            return state.answer
        }
        if let answer { Self.send(answer, connection) }
        // Until the client closes.
        while recv(connection, &byte, 1, 0) == 1 {}
        state.withLock { state in
            guard let index = state.connections.firstIndex(of: connection) else { return }
            state.connections.remove(at: index)
            state.leftByClient += 1
        }
    }
}
