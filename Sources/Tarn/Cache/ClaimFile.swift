// Who fetches what, among processes that share a store: the others wait for it.

import Foundation
import Glibc
import TarnHTTP
import TarnStore

/// A claim of a request is a lock on one byte of `claims.lock` in the store's directory, at a place that its digest says.
///
/// The lock belongs to the open file description (fcntl(2), "Open file description locks") and ends with the process that holds it: a killed
/// one blocks nobody, and nothing has to be cleaned up. Two requests whose digests share 62 bits wait for each other, and are both answered.
final class ClaimFile: Sendable {
    private let descriptor: Int32

    /// Nil if the file cannot be made: then everybody fetches for himself.
    init?(directory: String) {
        descriptor = open(directory + "/claims.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    enum Claim {
        case isOurs
        /// Somebody else has it: wait.
        case isAnothers
        /// The file system has no such locks, or no more of them: everybody fetches for himself.
        case isImpossible
    }

    /// Claims a request, if nobody in another process has. In this process it must be claimed once at a time only.
    func claim(_ request: RequestDigest) -> Claim { set(Int16(F_WRLCK), request) }

    func release(_ request: RequestDigest) { _ = set(Int16(F_UNLCK), request) }

    private func set(_ type: Int16, _ request: RequestDigest) -> Claim {
        var lock = flock()
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        // The first eight bytes are alike for requests that are.
        lock.l_start = request.bytes[8..<16].reduce(0) { $0 << 8 | Int($1) } & (1 << 62 - 1)
        lock.l_len = 1
        // F_OFD_SETLK of <fcntl.h>, which Swift's Glibc does not show.
        while fcntl(descriptor, 37, &lock) != 0 {
            guard errno == EINTR else { return errno == EAGAIN || errno == EACCES ? .isAnothers : .isImpossible }
        }
        return .isOurs
    }
}
