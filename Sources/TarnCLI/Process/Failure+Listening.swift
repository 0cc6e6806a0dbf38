import Foundation
import NIOCore

extension Failure {
    /// Returns the reason why a server cannot listen, and the remedy.
    static func listening(_ error: any Error) -> String {
        guard let error = error as? IOError else {
            return "unknown host: use an address of this machine, such as 127.0.0.1"
        }
        return switch error.errnoCode {
        case EADDRINUSE:
            "the port is in use by another process: stop it, or choose another port (0 selects a free one)"
        case EACCES: "permission denied: ports below 1024 are for privileged processes"
        case EADDRNOTAVAIL: "this machine does not have the address"
        default: String(cString: strerror(error.errnoCode))
        }
    }
}
