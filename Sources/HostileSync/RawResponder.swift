// A server on all loopback addresses that answers each request with the next bytes, and closes.

import Glibc
import Locking

final class RawResponder: Sendable {
    let port: Int
    private let descriptor: Int32
    private let answers = Guarded<[[UInt8]]>([])

    init?() {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = 0
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { return nil }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Sets the responses to the next requests; after the last one, connections are closed.
    func set(_ next: [[UInt8]]) { answers.withLock { $0 = next.reversed() } }

    /// Serves until the process ends.
    func serve() {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { continue }
            var limit = timeval(tv_sec: 5, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            respond(connection)
            close(connection)
        }
    }

    private func respond(_ connection: Int32) {
        var head: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while !head.suffix(70_000).contains("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            head += buffer[..<count]
        }
        guard let answer = answers.withLock({ $0.popLast() }) else { return }
        var rest = answer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        // Unread bytes would turn the close into a reset, which can discard the response.
        shutdown(connection, Int32(SHUT_WR))
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
    }
}
