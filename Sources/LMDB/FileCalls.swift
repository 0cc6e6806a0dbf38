// Linux calls that the layers above need and that Swift's Glibc module lacks.

import CLMDB
import Glibc

package enum FileCalls {
    /// Renames a file or directory unless the new name exists.
    ///
    /// - Returns: 0, or the system's error: `EEXIST` if the new name exists.
    package static func renameExclusively(_ from: String, to: String) -> Int32 {
        if tarn_rename_exclusively(from, to) == 0 { return 0 }
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        // The file system lacks the call. A directory can replace only an empty directory.
        var status = stat()
        if lstat(to, &status) == 0 { return EEXIST }
        return rename(from, to) == 0 ? 0 : errno
    }

    /// Returns the first range of data, without holes, at or after an offset; nil if there is none.
    ///
    /// On a file system without holes, the data extends to the end of the file (lseek(2),
    /// `SEEK_DATA`).
    package static func data(of descriptor: Int32, from offset: UInt64, size: UInt64) -> Range<UInt64>? {
        guard offset < size, size <= UInt64(Int64.max) else { return nil }
        let start = lseek(descriptor, off_t(offset), tarn_seek_data)
        guard start >= 0 else { return errno == ENXIO ? nil : offset..<size }
        guard UInt64(start) < size else { return nil }
        let end = lseek(descriptor, start, tarn_seek_hole)
        return UInt64(start)..<(end > start ? min(UInt64(end), size) : size)
    }
}
