// A proxy that only does CONNECT (RFC 9110 §9.3.6): it passes bytes on, and keeps the readable
// ones.

import Foundation
import Glibc
import Synchronization
import TestSupport

final class TunnelServer: Sendable {
    let port: Int
    private let descriptor: Int32
    private let limit: Int
    private let heads = Mutex<[String]>([])
    private let passed = Mutex<[UInt8]>([])
    /// The number of tunnels that are lost, the first ones, and that of the pieces that came there.
    private let lost = Mutex((tunnels: 0, pieces: 0))

    var base: String { "http://127.0.0.1:\(port)" }
    /// The requested targets.
    var requests: [String] { heads.withLock { $0 } }
    /// Everything that clients sent behind that.
    var bytes: [UInt8] { passed.withLock { $0 } }

    /// The number of pieces that clients have sent into lost tunnels.
    var lostPieces: Int { lost.withLock { $0.pieces } }

    /// Loses the tunnels that are there, as a network does: nothing passes, and nothing closes.
    func loseTunnels() {
        let count = requests.count
        lost.withLock { $0.tunnels = count }
    }

    /// - Parameter limit: the number of a server's bytes behind which its connection ends.
    init(cuttingBehind limit: Int = .max) throws {
        self.limit = limit
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = TunnelServer.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = TunnelServer.with(&address) { [descriptor] address in
            bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                && getsockname(descriptor, address, &size) == 0
        }
        guard isBound else { throw LocalServer.Failure(description: "no socket") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self, descriptor] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { [self] in serve(client) }
            }
        }
    }

    /// Ends the thread that accepts.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve(_ client: Int32) {
        var head: [UInt8] = [], byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(client, &byte, 1, 0) == 1 { head.append(byte) }
        let text = String(decoding: head, as: UTF8.self)
        let number = heads.withLock { heads in
            heads.append(text)
            return heads.count
        }
        // CONNECT localhost:4711 HTTP/1.1
        let words = text.split(separator: " ")
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = TunnelServer.loopback(
            words.count > 2 && words[0] == "CONNECT"
                ? words[1].split(separator: ":").last.flatMap { UInt16($0) } ?? 0 : 0)
        guard TunnelServer.with(&address, { connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 })
        else {
            Glibc.close(server)
            Glibc.close(client)
            return
        }
        let answer = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            TunnelServer.pass(server, client, limit) { _ in lost.withLock { $0.tunnels < number } }
            isDone.signal()
        }
        TunnelServer.pass(client, server) { bytes in
            passed.withLock { $0 += bytes }
            return lost.withLock { lost in
                if lost.tunnels >= number { lost.pieces += 1 }
                return lost.tunnels < number
            }
        }
        isDone.wait()
        Glibc.close(server)
        Glibc.close(client)
    }

    /// Passes bytes on until one side closes, except those that `seen` returns false for.
    private static func pass(
        _ from: Int32, _ to: Int32, _ limit: Int = .max, _ seen: (ArraySlice<UInt8>) -> Bool
    ) {
        var buffer = [UInt8](repeating: 0, count: 1 << 14), left = limit
        while left > 0 {
            let count = recv(from, &buffer, min(left, buffer.count), 0)
            guard count > 0 else { break }
            left -= count
            guard seen(buffer[..<count]) else { continue }
            guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func with<Result>(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result)
        -> Result
    {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
