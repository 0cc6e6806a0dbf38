// Raw sockets: the listener on 127.0.0.1 and its accepted connections.

import Glibc

struct SocketError: Error, CustomStringConvertible {
    var description: String

    init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
}

/// A listening socket on 127.0.0.1.
struct Listener: Sendable {
    let descriptor: Int32
    let port: UInt16

    init(port: UInt16) throws(SocketError) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError("no socket") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else { throw SocketError("cannot listen on 127.0.0.1:\(port)") }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Waits for the next connection.
    func accept() throws(SocketError) -> Socket {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 { return Socket(descriptor: accepted) }
            switch errno {
            case EINTR, ECONNABORTED, EPROTO: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(10_000)  // Retried until another connection is closed.
            default: throw SocketError("accept")
            }
        }
    }
}

/// An accepted connection. For one thread.
struct Socket: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Receives at most `count` bytes; empty at the end or after an error.
    func receive(atMost count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var received = recv(descriptor, buffer.baseAddress, count, 0)
            while received < 0, errno == EINTR { received = recv(descriptor, buffer.baseAddress, count, 0) }
            filled = max(0, received)
        }
    }

    /// Sends all bytes; false if the peer has closed the connection.
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent, Int32(MSG_NOSIGNAL))
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                sent += count
            }
            return true
        }
    }

    /// Waits; false at once if the peer closes the connection meanwhile.
    func wait(seconds: Double) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let end = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 + seconds
        while true {
            clock_gettime(CLOCK_MONOTONIC, &now)
            let left = end - Double(now.tv_sec) - Double(now.tv_nsec) / 1e9
            if left <= 0 { return true }
            var state = pollfd(descriptor: descriptor)
            // Polls for a hang-up only: a pipelined request may be pending.
            if poll(&state, 1, Int32(min(left * 1000, 60_000).rounded(.up))) > 0 { return false }
        }
    }

    func close() {
        Glibc.close(descriptor)
    }

    /// Makes the following close send RST instead of FIN.
    func prepareReset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}

extension pollfd {
    fileprivate init(descriptor: Int32) {
        // POLLRDHUP (linux/poll.h) is hidden behind _GNU_SOURCE.
        self.init(fd: descriptor, events: 0x2000, revents: 0)
    }
}
