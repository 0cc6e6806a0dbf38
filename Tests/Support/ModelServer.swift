// A model of a JSON API that is written to: items with labels and comments, entity tags,
// preconditions, idempotency keys and injected faults. It logs every effect.

import Foundation
import Glibc
import Synchronization

/// A local HTTP server over a ``ModelAPI``. Connections are kept alive.
package final class ModelServer: Sendable {
    package let port: Int
    private let descriptor: Int32
    private let state: Mutex<ModelAPI>

    package var base: String { "http://127.0.0.1:\(port)" }

    package init(_ api: ModelAPI = ModelAPI()) throws {
        let socket = try LoopbackSocket(), descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        state = Mutex(api)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                guard let self else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                var one: Int32 = 1
                setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
                Thread.detachNewThread { [weak self] in
                    ModelServer.serve(connection) { request in
                        self?.state.withLock { $0.answer(request) } ?? .init(status: 503)
                    }
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Reads or changes the state of the API.
    package func with<Result: Sendable>(_ body: (inout ModelAPI) throws -> Result) rethrows -> Result {
        try state.withLock { api throws -> Result in try body(&api) }
    }

    private static func serve(_ connection: Int32, _ answer: (ModelAPI.Request) -> ModelAPI.Answer) {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                bytes += buffer[..<count]
                continue
            }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                    in: .whitespaces)
            }
            let length = Int(fields["content-length"] ?? "") ?? 0
            while bytes.count < end.upperBound + length {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                bytes += buffer[..<count]
            }
            let words = lines[0].split(separator: " ").map(String.init)
            guard words.count == 3 else { return }
            let request = ModelAPI.Request(
                method: words[0], target: words[1], fields: fields,
                body: Array(bytes[end.upperBound..<end.upperBound + length]))
            bytes.removeFirst(end.upperBound + length)
            let reply = answer(request)
            if reply.isLost { return }
            send(reply, connection)
        }
    }

    private static func send(_ answer: ModelAPI.Answer, _ connection: Int32) {
        var head = "HTTP/1.1 \(answer.status) x\r\n"
        for (name, value) in answer.fields.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
        if answer.status != 204 { head += "Content-Length: \(answer.body.count)\r\n" }
        let bytes = Array((head + "\r\n").utf8) + (answer.status == 204 ? [] : answer.body)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
