// The comparison of an open environment's files with the files that have their names now.

import CLMDB
import Glibc

/// The directory of an open environment, even after a rename, to verify its files.
///
/// After a lock file was deleted, the next process creates a new one. It then shares neither the
/// mutex nor the reader table with the processes that have the old one: two writers would overwrite
/// each other's pages.
final class OpenDirectory: Sendable {
    private let descriptor: Int32

    /// - Throws: `LMDBError` if the directory cannot be opened.
    init(path: String) throws(LMDBError) {
        descriptor = open(path, tarn_o_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    }

    deinit { close(descriptor) }

    /// Returns whether a name in the directory still belongs to a file.
    func has(_ name: StaticString, _ file: FileIdentity) -> Bool {
        var status = stat()
        // `StaticString.utf8Start` of an ASCII literal is zero-terminated.
        let result = fstatat(
            descriptor, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self), &status, 0)
        return result == 0 && FileIdentity(status) == file
    }
}
