// Room on the disk for a small file that is written later.

import Glibc

/// Room beside a file, which a file without a name occupies until the last reference is released.
///
/// A server may accept a refresh token only once. Without room for the one that replaces it, both
/// would be lost.
final class ReservedRoom: Sendable {
    /// The disk has no room, or the user's quota or limit is reached.
    struct Full: Error {
        /// The system's error.
        var code: Int32
    }

    /// The size in bytes: refresh tokens are shorter.
    private static let size = 16 << 10
    private static let full = [ENOSPC, EDQUOT, EFBIG]

    private let descriptor: Int32

    /// Occupies room in the folder of a file.
    ///
    /// In a folder that permits no new file, nothing is occupied: the server may keep its token.
    init(beside path: String) throws(Full) {
        let name = PrivateFile.temporaryName(for: PrivateFile.target(of: path))
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        // From here on, deinit closes the file also after an error.
        guard descriptor >= 0 else {
            guard !ReservedRoom.full.contains(errno) else { throw Full(code: errno) }
            return
        }
        unlink(name)
        let code = PrivateFile.write([UInt8](repeating: 0, count: ReservedRoom.size), to: descriptor)
        guard !ReservedRoom.full.contains(code) else { throw Full(code: code) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
