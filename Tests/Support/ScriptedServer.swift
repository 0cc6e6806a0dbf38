// A real server in the test's process whose responses come from a closure: it may wait, count, and
// change between requests.

import Foundation
import Glibc
import Synchronization

/// Answers every request on its own thread, and closes the connection after each.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var target: String
        package var head: String
        package var body = ""

        /// The value of a field; nil if the request does not have it.
        package func field(_ name: String) -> String? {
            head.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.utf8.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        /// Whether the client has the version with this tag.
        package func hasTag(_ tag: String) -> Bool { field("If-None-Match") == "\"\(tag)\"" }
    }

    package struct Answer: Sendable {
        package var status: String
        package var fields: [String]
        package var body: String

        package init(status: String = "200 OK", fields: [String] = [], body: String = "") {
            self.status = status
            self.fields = fields
            self.body = body
        }

        package static let notModified = Answer(status: "304 Not Modified")

        /// A body with a tag; 304 if the client has it.
        package static func tagged(_ tag: String, _ request: Request, _ body: String, _ fields: String...) -> Answer {
            if request.hasTag(tag) { return Answer(status: "304 Not Modified", fields: ["ETag: \"\(tag)\""] + fields) }
            return Answer(fields: ["ETag: \"\(tag)\""] + fields, body: body)
        }
    }

    package let port: Int
    private let descriptor: Int32
    private let received: Received

    private final class Received: Sendable {
        let requests = Mutex<[Request]>([])
    }

    package var base: String { "http://127.0.0.1:\(port)" }
    /// In the order in which they arrived.
    package var requests: [Request] { received.requests.withLock(\.self) }
    package var targets: [String] { requests.map(\.target) }

    package init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        let socket = try LoopbackSocket(), descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        let received = Received()
        self.received = received
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    ScriptedServer.serve(connection, received, answer)
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private static func serve(_ connection: Int32, _ received: Received, _ answer: (Request) -> Answer) {
        var head: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let text = String(decoding: head, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let parts = text.split(separator: " ", maxSplits: 2)
                guard parts.count == 3 else { return }
                var request = Request(
                    method: String(parts[0]), target: String(parts[1]), head: String(text[..<end.lowerBound]))
                let size = request.field("Content-Length").flatMap { Int($0) } ?? 0
                let start = text[..<end.upperBound].utf8.count
                while head.count < start + size {
                    let count = recv(connection, &buffer, buffer.count, 0)
                    guard count > 0 else { return }
                    head += buffer[..<count]
                }
                request.body = String(decoding: head[start...], as: UTF8.self)
                received.requests.withLock { $0.append(request) }
                let answer = answer(request)
                let hasBody = !answer.status.hasPrefix("304")
                let fields =
                    (answer.fields + (hasBody ? ["Content-Length: \(answer.body.utf8.count)"] : []) + [
                        "Connection: close"
                    ])
                let bytes = Array(
                    ("HTTP/1.1 \(answer.status)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
                        + (hasBody ? answer.body : "")).utf8)
                var sent = 0
                while sent < bytes.count {
                    let count = bytes[sent...].withUnsafeBytes {
                        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    sent += count
                }
                return
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            head += buffer[..<count]
        }
    }
}

/// A gate that threads of a server wait at until a test opens it.
package final class ThreadGate: Sendable {
    package init() {}

    private let semaphore = DispatchSemaphore(value: 0)
    private let arrived = Mutex(0)

    /// Blocks the thread until the gate is opened once for it; for two minutes at most.
    package func wait() {
        arrived.withLock { $0 += 1 }
        _ = semaphore.wait(timeout: .now() + 120)
    }

    package func open() { semaphore.signal() }

    /// Returns when this number of threads has reached the gate.
    package func reached(_ count: Int = 1) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while arrived.withLock({ $0 < count }) {
            guard ContinuousClock.now < deadline else {
                throw LocalServer.Failure(description: "nobody came to the gate")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
