// A file with a secret, which nobody but its owner may read at any moment.

import Glibc

enum PrivateFile {
    /// Puts a file in the place of another one: the whole of the new bytes, or the old file as it was.
    ///
    /// The new file is made with a name of its own that no other file has, and is readable by its owner alone from the beginning. A link
    /// or a file that waits under a name that could be guessed gets nothing.
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
