// The modes of an environment's files: later files are readable by the readers of the data file.

import Glibc

package enum FileMode {
    /// Returns the mode for a new file in the directory of an environment.
    ///
    /// It is the mode of the data file, else that of the directory, without execute permission.
    package static func inside(_ directory: String) -> mode_t {
        of(directory + "/data.mdb") ?? of(directory) ?? 0o600
    }

    /// Returns the mode of a file without execute permission; nil if the file does not exist.
    package static func of(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o666 : nil
    }

    /// Returns the mode of a directory for files of a mode: search permission for each reader.
    package static func directory(for mode: mode_t) -> mode_t { mode | (mode & 0o444) >> 2 }
}
