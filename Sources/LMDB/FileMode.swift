// The modes and owners of an environment's files: later files are like the data file.

import Glibc

package enum FileMode {
    /// Returns the mode for a new file in the directory of an environment.
    ///
    /// It is the mode of the data file, else that of the directory, without execute permission.
    package static func inside(_ directory: String) -> mode_t {
        of(directory + "/data.mdb") ?? of(directory) ?? 0o600
    }

    /// Opens a file in the directory of an environment, and creates it if it is missing.
    ///
    /// - Returns: the descriptor; negative if `errno` has the reason.
    package static func openFile(_ path: String, in directory: String, _ flags: Int32) -> Int32 {
        let known = open(path, flags | O_CLOEXEC)
        guard known < 0, errno == ENOENT else { return known }
        let new = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, inside(directory))
        // Another process has created it, or the name is a symbolic link to no file.
        guard new >= 0 || errno != EEXIST else { return open(path, flags | O_CREAT | O_CLOEXEC, inside(directory)) }
        if new >= 0 { adopt(new, in: directory) }
        return new
    }

    /// Gives a new file, or a new directory, the mode and the group of the data file, and the
    /// owner, as far as the process may.
    ///
    /// A file that root or another member of the group has created, or with fewer rights because
    /// of the umask, would lock out other users of the environment. A group that the data file does
    /// not have gets no more rights than everybody.
    ///
    /// - Parameter keepsOwner: whether the file is one of the environment; a copy belongs to the
    ///   user who makes it.
    /// - Returns: whether it has the mode; otherwise `errno` has the reason.
    @discardableResult
    package static func adopt(_ descriptor: Int32, in directory: String, keepsOwner: Bool = true) -> Bool {
        var data = stat(), new = stat()
        guard stat(directory + "/data.mdb", &data) == 0 else { return true }
        // Only root may give a file away; others may choose one of their groups.
        if !keepsOwner || fchown(descriptor, data.st_uid, data.st_gid) != 0 {
            _ = fchown(descriptor, uid_t.max, data.st_gid)
        }
        guard fstat(descriptor, &new) == 0 else { return false }
        var mode = data.st_mode & 0o666
        if new.st_gid != data.st_gid { mode = mode & ~0o070 | (mode & 0o007) << 3 }
        return fchmod(descriptor, new.st_mode & S_IFMT == S_IFDIR ? FileMode.directory(for: mode) : mode) == 0
    }

    /// Returns the mode of a file without execute permission; nil if the file does not exist.
    package static func of(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o666 : nil
    }

    /// Returns the mode of a directory for files of a mode: search permission for each reader.
    package static func directory(for mode: mode_t) -> mode_t { mode | (mode & 0o444) >> 2 }
}
