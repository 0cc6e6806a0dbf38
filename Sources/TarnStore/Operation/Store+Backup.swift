// Copies of a store that is in use.

import Foundation
internal import LMDB

/// What a copy has come to.
public struct BackupReport: Sendable, Hashable {
    /// The size of the copy's data file.
    public var bytes: Int
    /// The commit that the copy is of.
    public var sequence: UInt64
    /// What distinguishes the copy from the store that it was made of.
    public var incarnation: String
}

extension Store {
    /// Writes a copy of the store as of now into a new directory, while others read and write. It is a store like any other: to restore it,
    /// put it where the store was.
    ///
    /// The copy is an incarnation of its own, so that tokens and positions of the change log are not mixed up between the two. It gets its
    /// name when it is complete and on the disk; what a copy leaves behind that was cut off has `.unfinished` at the end of its name.
    ///
    /// - Parameters:
    ///   - path: where no file or directory is yet.
    ///   - isCompacted: whether free pages are left out: smaller, and the snapshot's pages are not reused while it is made. Otherwise the
    ///     file is copied as it is, and writers wait for a moment at the beginning.
    /// - Throws: `StoreError.destinationExists`; `.lmdb` with `.diskFull`, `.inputOutput`, `.permission`, `.networkFileSystem`, `.nestedWrite` if this thread
    ///   is inside a `read` or `write`, `.corrupted` if the file is damaged so that it cannot be compacted. Nothing is left then.
    @discardableResult
    public func backup(to path: String, isCompacted: Bool = true) throws -> BackupReport {
        let target = NewDirectory(path)
        try target.make()
        do {
            try Store.copy(environment, to: target.unfinished + "/data.mdb", isCompacted: isCompacted)
            let (sequence, incarnation) = try Store.renew(target.unfinished)
            try target.finish()
            return BackupReport(bytes: Store.fileSize(path + "/data.mdb"), sequence: sequence, incarnation: incarnation)
        } catch {
            target.remove()
            throw error
        }
    }

    static func fileSize(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    static func copy(_ environment: Environment, to path: String, isCompacted: Bool) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StoreError.lmdb(LMDBError(code: errno, operation: "copy", path: path)) }
        defer { close(descriptor) }
        do throws(LMDBError) {
            try environment.copy(to: descriptor, isCompacted: isCompacted)
        } catch {
            throw StoreError.lmdb(error)
        }
    }

    /// Gives a copy its own incarnation, and closes it again.
    private static func renew(_ directory: String) throws -> (sequence: UInt64, incarnation: String) {
        let incarnation = UUID().uuidString.lowercased()
        do {
            let environment = try Environment.open(at: directory, options: Environment.Options(creates: false, minimumMapSize: 16 << 20))
            let sequence = try environment.writeOpeningTables { transaction in
                let meta = try transaction.table(TableName.meta)
                try transaction.raw.put(meta, key: MetaKey.incarnation, text: incarnation)
                return try transaction.raw.number(meta, key: MetaKey.sequence)
            }
            return (sequence, incarnation)
        } catch let error as LMDBError {
            throw StoreError.lmdb(error)
        }
    }
}

/// A directory that gets its name when all that belongs into it is there.
struct NewDirectory {
    let path: String
    let unfinished: String

    init(_ path: String) {
        // A slash at the end would name what is in it.
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        unfinished = self.path + ".unfinished"
    }

    /// - Throws: `StoreError.destinationExists` if something has the name; `.lmdb` if the directory cannot be made.
    func make() throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw .destinationExists(path: path) }
        // What an attempt has left that was cut off.
        remove()
        guard mkdir(unfinished, 0o755) == 0 else { throw .lmdb(LMDBError(code: errno, operation: "make", path: unfinished)) }
    }

    func finish() throws(StoreError) {
        // They are of the process that made it.
        for name in ["lock.mdb", "turn.lock", "store.lock", "wake"] { unlink(unfinished + "/" + name) }
        NewDirectory.flush(unfinished)
        guard rename(unfinished, path) == 0 else { throw .lmdb(LMDBError(code: errno, operation: "rename", path: path)) }
        NewDirectory.flush(path + "/..")
    }

    func remove() { try? FileManager.default.removeItem(atPath: unfinished) }

    /// Brings the names in a directory to the disk.
    static func flush(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
