// The files of an environment that is open, compared with those that have their names now.

import CLMDB
import Glibc

/// The directory of an environment, whatever its name is by now, to see whether its files are still the ones that are open.
///
/// A lock file that was deleted is made anew by the next process, which then shares no mutex and no table of readers with those
/// that have the old one: two writers would overwrite each other's pages.
final class OpenDirectory: Sendable {
    private let descriptor: Int32

    /// - Throws: `LMDBError` if the directory cannot be opened.
    init(path: String) throws(LMDBError) {
        descriptor = open(path, tarn_o_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    }

    deinit { close(descriptor) }

    /// Whether a file of the directory is still that one.
    func has(_ name: StaticString, _ file: FileIdentity) -> Bool {
        var status = stat()
        // A static string of these names is ASCII with a zero behind it.
        let result = fstatat(descriptor, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self), &status, 0)
        return result == 0 && FileIdentity(status) == file
    }
}
