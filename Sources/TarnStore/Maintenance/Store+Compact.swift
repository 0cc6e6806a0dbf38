// Making the file of a store as small as what it holds. It needs the store to itself.

import Foundation
internal import LMDB

extension Store {
    /// Writes the file of a store anew without its free pages, and puts it in the place of the old one.
    ///
    /// Nobody else may have the store open meanwhile, in this process or another one. The new file is complete and on the disk before it
    /// takes the old one's place, in one step: whenever it is cut off, the store is whole. It needs room for both files.
    /// Pages stay as full as they are: ``rewrite(_:batch:)`` fills them.
    ///
    /// - Throws: `StoreError.storeInUse` with those who have it open; `.noSuchStore`, `.notAStore`; `.lmdb` with `.diskFull`,
    ///   `.inputOutput`, `.permission`, `.networkFileSystem`, `.truncated`, `.corrupted`. The store is as it was then.
    @discardableResult
    public static func compact(at path: String) throws -> CompactionReport {
        let file = path + "/data.mdb", new = path + "/data.mdb.compacting"
        guard access(file, F_OK) == 0 else { throw StoreError.noSuchStore(path: path) }
        let lock = try StoreLock(exclusively: path)
        return try withExtendedLifetime(lock) {
            // What was cut off has left it.
            unlink(new)
            let before = fileSize(file)
            do {
                try copyAlone(path, to: new)
                guard rename(new, file) == 0 else { throw StoreError.lmdb(LMDBError(code: errno, operation: "rename", path: file)) }
            } catch {
                unlink(new)
                throw error
            }
            NewDirectory.flush(path)
            return CompactionReport(bytesBefore: before, bytesAfter: fileSize(file))
        }
    }

    /// The environment is closed again when it returns: the lock file must not outlive the change of the file.
    private static func copyAlone(_ path: String, to new: String) throws {
        do {
            let environment = try Environment.open(at: path, options: Environment.Options(creates: false, minimumMapSize: 16 << 20))
            guard try environment.tableNames().contains(TableName.meta) else {
                throw StoreError.notAStore(path: path, detail: "it is an LMDB file without the table \(TableName.meta)")
            }
            try copy(environment, to: new, isCompacted: true)
        } catch let error as LMDBError {
            if error.kind == .notAnEnvironment { throw StoreError.notAStore(path: path, detail: error.description) }
            throw StoreError.lmdb(error)
        }
    }
}
