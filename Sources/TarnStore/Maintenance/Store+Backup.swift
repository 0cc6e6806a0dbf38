// Backups: copies of a store that is in use.

import Foundation
internal import LMDB

extension Store {
    /// Writes a copy of the current store into a new directory, while others read and write.
    ///
    /// The copy is a complete store: to restore it, move it to the path of the original.
    ///
    /// The copy has its own incarnation, so that tokens and positions of the change log are not
    /// confused between the two. It gets its name when it is complete and flushed to the disk. An
    /// interrupted copy leaves a directory whose name contains `.unfinished` and a unique number;
    /// it may be deleted. If several copies are made under one name at once, one of them gets the
    /// name.
    ///
    /// - Parameters:
    ///   - path: the new directory; nothing may exist there.
    ///   - isCompacted: whether free pages are left out. The copy is smaller then, and pages of the
    ///     snapshot are not reused while it is made. Otherwise the file is copied as it is, and
    ///     writers wait for a moment at the beginning.
    /// - Returns: the size, the commit and the incarnation of the copy.
    /// - Throws: `StoreMaintenanceError.destinationExists`; `StoreError.lmdb` with `.diskFull`,
    ///   `.inputOutput`, `.permission`, `.networkFileSystem`, `.nestedWrite` if this thread is
    ///   inside a `read` or `write`, `.corrupted` if the file is too damaged to be compacted,
    ///   `.notImmutable` if the store is open as immutable and a process has written to it.
    ///   Nothing is left then.
    @discardableResult
    public func backup(to path: String, isCompacted: Bool = true) throws -> BackupReport {
        let target = NewDirectory(path)
        try target.make(like: environment.absolutePath)
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

    static func copy(
        _ environment: Environment, to path: String, isCompacted: Bool, isReplacement: Bool = false
    ) throws {
        do throws(LMDBError) {
            let descriptor = try newFile(path, like: environment, isReplacement: isReplacement)
            defer { close(descriptor) }
            try environment.copy(to: descriptor, isCompacted: isCompacted)
        } catch {
            var error = error
            // The write to the copy failed, not the store.
            if error.kind == .diskFull || error.code == EFBIG { error.path = path }
            throw StoreError.lmdb(error)
        }
    }

    /// Creates an empty file with the mode of a store's data file, and opens it for writing.
    ///
    /// - Parameter isReplacement: whether it takes the place of the data file, and belongs to the
    ///   same user. A backup belongs to the user who makes it.
    static func newFile(
        _ path: String, like environment: Environment, isReplacement: Bool
    ) throws(LMDBError) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "copy", path: path) }
        guard FileMode.adopt(descriptor, in: environment.absolutePath, keepsOwner: isReplacement) else {
            let code = errno
            close(descriptor)
            throw LMDBError(code: code, operation: "copy", path: path)
        }
        return descriptor
    }

    /// Gives a copy its own incarnation, and closes it again.
    private static func renew(_ directory: String) throws -> (sequence: UInt64, incarnation: String) {
        do {
            let environment = try Environment.open(
                at: directory, options: Environment.Options(creates: false, minimumMapSize: 16 << 20))
            return try environment.writeOpeningTables { transaction in
                guard let (meta, _) = try ChecksummedTable.meta(transaction.table(TableName.meta), in: transaction.raw)
                else {
                    throw StoreOpenError.notAStore(path: directory, detail: "the format version is damaged")
                }
                let incarnation = try transaction.raw.renewIncarnation(meta)
                return (try transaction.raw.number(meta, key: MetaKey.sequence), incarnation)
            }
        } catch let error as LMDBError {
            throw StoreError.lmdb(error)
        }
    }
}
