import Foundation

/// The files that commands write at paths of the user.
enum OutputFile {
    /// Creates a file. One that another process has created meanwhile stays, and of a failed write
    /// nothing is left: it would block the next attempt.
    ///
    /// - Parameter like: the status of the file that the new one is to replace.
    static func create(_ path: String, _ content: Data, like old: stat? = nil) throws {
        let file = try open(path, O_CREAT | O_EXCL)
        do {
            if let old {
                // Only root may give a file away; others may choose one of their groups.
                let number = file.fileDescriptor
                if fchown(number, old.st_uid, old.st_gid) != 0 { _ = fchown(number, uid_t.max, old.st_gid) }
                _ = fchmod(number, old.st_mode & 0o777)
            }
            try file.write(contentsOf: content)
            if old != nil { try file.synchronize() }
            try file.close()
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Writes a file that may exist: it has all of the new content, or its old one.
    ///
    /// A symbolic link to the file stays, and the file keeps its mode and its owner. What is no
    /// file, such as `/dev/null`, is written to.
    static func replace(_ path: String, _ content: Data) throws {
        var old = stat()
        guard stat(path, &old) == 0 else {
            guard lstat(path, &old) == 0 else { return try create(path, content) }
            // A link that leads nowhere yet.
            return try open(path, O_CREAT).write(contentsOf: content)
        }
        guard old.st_mode & S_IFMT == S_IFREG, let target = target(of: path) else {
            return try open(path, O_TRUNC).write(contentsOf: content)
        }
        let temporary = "\(target).\(String(UInt64.random(in: .min ... .max), radix: 16)).new"
        try create(temporary, content, like: old)
        guard rename(temporary, target) == 0 else {
            let error = failure()
            unlink(temporary)
            throw error
        }
    }

    /// The path of a file without symbolic links; nil if it has none, as that of a deleted file.
    private static func target(of path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(validatingCString: real)
    }

    private static func open(_ path: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Foundation.open(path, O_WRONLY | O_CLOEXEC | flags, 0o666)
        guard descriptor >= 0 else { throw failure() }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func failure() -> NSError { NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
}
