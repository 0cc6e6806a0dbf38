import Foundation
internal import LMDB

/// A directory that gets its name when all that belongs into it is there. Until then it has one that no other attempt has.
struct NewDirectory {
    let path: String
    let unfinished: String

    init(_ path: String) {
        // A slash at the end would name what is in it.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        unfinished = self.path + ".unfinished-\(getpid())-" + String(UInt32.random(in: 0 ... .max), radix: 16)
    }

    /// - Throws: `StoreError.destinationExists` if something has the name; `.lmdb` if the directory cannot be made.
    func make(_ mode: mode_t = 0o700) throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw .destinationExists(path: path) }
        // What is there already is another one's: it is neither used nor removed.
        guard mkdir(unfinished, mode) == 0 else { throw .lmdb(LMDBError(code: errno, operation: "make", path: unfinished)) }
    }

    /// - Throws: `StoreError.destinationExists` if something got the name meanwhile.
    func finish() throws(StoreError) {
        // They are of the process that made it.
        for name in ["lock.mdb", "turn.lock", "store.lock", "wake"] { unlink(unfinished + "/" + name) }
        NewDirectory.flush(unfinished)
        let code = FileCalls.renameExclusively(unfinished, to: path)
        guard code != EEXIST, code != ENOTEMPTY else { throw .destinationExists(path: path) }
        guard code == 0 else { throw .lmdb(LMDBError(code: code, operation: "rename", path: path)) }
        NewDirectory.flush(path + "/..")
    }

    /// Removes what `make` has made, and only that.
    func remove() { try? FileManager.default.removeItem(atPath: unfinished) }

    /// Brings the names in a directory to the disk.
    static func flush(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
