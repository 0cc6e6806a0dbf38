import Foundation
internal import LMDB

/// A directory that gets its name when it is complete. Until then it has a unique name.
package struct NewDirectory {
    package let path: String
    package let unfinished: String

    package init(_ path: String) {
        // Trailing slashes would put the unfinished directory inside of it.
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
        unfinished = self.path + ".unfinished-\(getpid())-" + String(UInt32.random(in: 0 ... .max), radix: 16)
    }

    /// Creates the directory under its unfinished name.
    ///
    /// - Parameter other: the store that it is a copy of; its users get the same access. Nil for a
    ///   directory that is its owner's alone.
    /// - Throws: `StoreMaintenanceError.destinationExists` if the path exists; `StoreError.lmdb` if
    ///   the directory cannot be created.
    package func make(like other: String? = nil) throws {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw StoreMaintenanceError.destinationExists(path: path) }
        // An existing unfinished directory belongs to another attempt: it is neither used nor
        // removed.
        guard mkdir(unfinished, 0o700) == 0 else {
            if errno == ENOENT {
                let parent = (path as NSString).deletingLastPathComponent
                throw StoreError.lmdb(
                    LMDBError(code: ENOENT, operation: "make a directory in it", path: parent.isEmpty ? "." : parent))
            }
            throw StoreError.lmdb(LMDBError(code: errno, operation: "make", path: unfinished))
        }
        guard let other else { return }
        let descriptor = open(unfinished, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        FileMode.adopt(descriptor, in: other, keepsOwner: false)
    }

    /// Gives the directory its name.
    ///
    /// - Throws: `StoreMaintenanceError.destinationExists` if the path was created meanwhile;
    ///   `StoreError.lmdb` if it cannot be flushed to the disk.
    package func finish() throws {
        // These files belong to the process that has written the copy.
        for name in ["lock.mdb", "turn.lock", "store.lock", "wake"] { unlink(unfinished + "/" + name) }
        let flushed = NewDirectory.flush(unfinished)
        // EINVAL: this file system does not flush directories.
        guard flushed == 0 || flushed == EINVAL else {
            throw StoreError.lmdb(LMDBError(code: flushed, operation: "flush", path: unfinished))
        }
        let code = FileCalls.renameExclusively(unfinished, to: path)
        guard code != EEXIST, code != ENOTEMPTY else { throw StoreMaintenanceError.destinationExists(path: path) }
        guard code == 0 else { throw StoreError.lmdb(LMDBError(code: code, operation: "rename", path: path)) }
        NewDirectory.flush(path + "/..")
    }

    /// Removes the directory that `make` has created, and only that.
    package func remove() { try? FileManager.default.removeItem(atPath: unfinished) }

    /// Flushes the names in a directory to the disk.
    ///
    /// - Returns: the code of the error; 0 for none.
    @discardableResult
    static func flush(_ directory: String) -> Int32 {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? 0 : errno
    }
}
