// Files with secrets: only the owner can read them, at any moment.

import Glibc

/// Atomic replacement of files that only their owner may read.
enum PrivateFile {
    /// Replaces a file atomically: it has either all new bytes or its old content.
    ///
    /// The bytes are written to a new file with a random name and mode 0600. A symbolic link or a
    /// file with that name is never opened, so a guessed name reveals nothing.
    ///
    /// - Returns: false if the file was not replaced.
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        for _ in 0..<16 {
            let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
            let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                if errno == EEXIST { continue }
                return false
            }
            let isWritten = write(bytes, to: file) && fsync(file) == 0
            guard close(file) == 0, isWritten, rename(temporary, path) == 0 else {
                unlink(temporary)
                return false
            }
            return true
        }
        return false
    }

    /// Writes all bytes. Returns false on an error.
    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
