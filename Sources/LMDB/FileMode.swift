// The modes of the files of an environment: what is made later may be read by those who may read the data file.

import Glibc

package enum FileMode {
    /// The mode for a file that is made in the directory of an environment: that of its data file, else that of the directory. Never with a
    /// right to execute.
    package static func inside(_ directory: String) -> mode_t {
        of(directory + "/data.mdb") ?? of(directory) ?? 0o600
    }

    /// The mode of a file or directory without rights to execute; nil if there is none.
    package static func of(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o666 : nil
    }

    /// The mode of a directory for files of a mode: whoever may read them may search it.
    package static func directory(for mode: mode_t) -> mode_t { mode | (mode & 0o444) >> 2 }
}
