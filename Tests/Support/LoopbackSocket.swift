import Glibc

/// A listening socket on a free port of 127.0.0.1, which child processes do not inherit.
struct LoopbackSocket {
    let descriptor: Int32
    let port: Int

    /// - Throws: `LocalServer.Failure` if there is no socket.
    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else { throw LocalServer.Failure(description: "no socket") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }
}
