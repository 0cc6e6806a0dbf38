// Files with secrets: no one else can read them, at any moment.

import Glibc

/// Atomic replacement of files that others may not read.
enum PrivateFile {
    /// Replaces a file atomically: it has either all new bytes or its old content.
    ///
    /// The bytes are written to a new file with a random name and mode 0600. A symbolic link or a
    /// file with that name is never opened, so a guessed name reveals nothing. Of a path that is a
    /// symbolic link, the file that it leads to is replaced. If root replaces the file of another
    /// user, it stays that user's. A group that could read the old file can read the new one,
    /// unless everybody could.
    ///
    /// - Returns: false if the file was not replaced; `errno` has the reason.
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let path = target(of: path)
        for _ in 0..<16 {
            let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
            let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                if errno == EEXIST { continue }
                return false
            }
            var code: Int32 = 0
            if !write(bytes, to: file) || fsync(file) != 0 { code = errno == 0 ? EIO : errno }
            if code == 0 { keepOwner(of: path, file) }
            if close(file) != 0, code == 0 { code = errno }
            if code == 0, rename(temporary, path) != 0 { code = errno }
            guard code == 0 else {
                unlink(temporary)
                errno = code
                return false
            }
            return true
        }
        return false
    }

    /// Returns the path without symbolic links, or the path itself if there is no such file, or if
    /// it is not UTF-8 then.
    static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(validatingCString: real) ?? path
    }

    /// Gives a file the owner of the one that it replaces, which only root may do, and the group
    /// and the mode if others have no access to that.
    private static func keepOwner(of path: String, _ file: Int32) {
        var old = stat()
        guard stat(path, &old) == 0 else { return }
        _ = fchown(file, old.st_uid, gid_t.max)
        guard old.st_mode & 0o007 == 0, old.st_mode & 0o070 != 0,
            fchown(file, uid_t.max, old.st_gid) == 0
        else { return }
        _ = fchmod(file, 0o600 | old.st_mode & 0o060)
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
