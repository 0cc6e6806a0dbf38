// Calls of Linux that the layers above need and Swift's Glibc module leaves out.

import CLMDB
import Glibc

package enum FileCalls {
    /// Renames a file or directory unless something has the new name.
    ///
    /// - Returns: 0, or the error of the system: `EEXIST` if something has the name.
    package static func renameExclusively(_ from: String, to: String) -> Int32 {
        if tarn_rename_exclusively(from, to) == 0 { return 0 }
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        // A file system without the call: a directory replaces nothing but an empty one.
        var status = stat()
        if lstat(to, &status) == 0 { return EEXIST }
        return rename(from, to) == 0 ? 0 : errno
    }

    /// The part of a file from an offset on that has data, holes left out. Nil behind the last one.
    ///
    /// A file system that knows no holes has data up to the end of the file (lseek(2), `SEEK_DATA`).
    package static func data(of descriptor: Int32, from offset: UInt64, size: UInt64) -> Range<UInt64>? {
        guard offset < size, size <= UInt64(Int64.max) else { return nil }
        let start = lseek(descriptor, off_t(offset), tarn_seek_data)
        guard start >= 0 else { return errno == ENXIO ? nil : offset..<size }
        guard UInt64(start) < size else { return nil }
        let end = lseek(descriptor, start, tarn_seek_hole)
        return UInt64(start)..<(end > start ? min(UInt64(end), size) : size)
    }
}
