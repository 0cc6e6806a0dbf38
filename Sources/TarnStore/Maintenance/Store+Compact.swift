// Compaction: shrinks the file of a store to its content. It needs exclusive access.

import Foundation
internal import LMDB

extension Store {
    /// Rewrites the file of a store without its free pages, and fills the others.
    ///
    /// The store must not be open elsewhere, in this process or another one. The new file is
    /// complete and flushed to the disk before it replaces the old one in one step: an interruption
    /// at any time leaves the store intact. Both files need space meanwhile.
    ///
    /// - Returns: the sizes of the file before and after.
    /// - Throws: `StoreOpenError.storeInUse` with the processes that have it open; `.noSuchStore`,
    ///   `.notAStore`, `.newerFormat`, `.unknownFeature`; `StoreError.lmdb` with `.diskFull`,
    ///   `.inputOutput`, `.permission`, `.networkFileSystem`, `.severalNames`, `.truncated`,
    ///   `.corrupted`. The store is unchanged then.
    @discardableResult
    package static func compact(at path: String) throws -> CompactionReport {
        let file = path + "/data.mdb", new = path + "/data.mdb.compacting"
        guard access(file, F_OK) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw StoreError.lmdb(LMDBError(code: errno, operation: "open", path: file))
            }
            throw StoreOpenError.noSuchStore(path: path)
        }
        let lock = try StoreLock(exclusively: path)
        return try withExtendedLifetime(lock) {
            // The rest of an interrupted compaction.
            unlink(new)
            let before = fileSize(file)
            // liblmdb would make an environment of an empty file.
            guard before > 0 else { throw StoreOpenError.noSuchStore(path: path) }
            var damagedRows = 0
            do {
                damagedRows = try copyAlone(path, to: new)
                Environment.willReplaceData(in: path)
                guard rename(new, file) == 0 else {
                    throw StoreError.lmdb(LMDBError(code: errno, operation: "rename", path: file))
                }
            } catch {
                unlink(new)
                throw error
            }
            NewDirectory.flush(path)
            return CompactionReport(bytesBefore: before, bytesAfter: fileSize(file), damagedRows: damagedRows)
        }
    }

    /// Copies the file, and closes the environment: its lock file must not outlive the replacement.
    ///
    /// - Returns: the number of damaged rows.
    private static func copyAlone(_ path: String, to new: String) throws -> Int {
        do {
            let environment = try Environment.open(
                at: path,
                options: Environment.Options(
                    creates: false, mapSize: 16 << 20, minimumMapSize: 16 << 20, maximumTables: TableName.limit))
            guard try environment.tableNames().contains(TableName.meta) else {
                throw StoreOpenError.notAStore(path: path, detail: "an LMDB file without the table \(TableName.meta)")
            }
            try checkFormat(environment, path)
            if let damagedRows = try fill(new, from: environment) { return damagedRows }
            unlink(new)
            try copy(environment, to: new, isCompacted: true, isReplacement: true)
            // Only a file with tables of other programs is copied like this: its rows are not read.
            return 0
        } catch let error as LMDBError {
            if error.kind == .notAnEnvironment { throw StoreOpenError.notAStore(path: path, detail: error.description) }
            throw StoreError.lmdb(error)
        }
    }

    /// Checks that this version knows the format: a newer one may depend on what a copy loses.
    private static func checkFormat(_ environment: Environment, _ path: String) throws {
        guard let table = try environment.existingTables([TableName.meta]).first ?? nil else { return }
        try environment.read { transaction in
            // A store without a readable format can only be salvaged.
            guard let (meta, found) = try ChecksummedTable.meta(table, in: transaction.raw) else {
                throw StoreOpenError.notAStore(
                    path: path, detail: "an LMDB file without a valid format version of Tarn")
            }
            guard found <= format else { throw StoreOpenError.newerFormat(path: path, found: found, known: format) }
            if let feature = StoreFeature.unknown(in: try transaction.raw.get(meta, key: MetaKey.features)).first {
                throw StoreOpenError.unknownFeature(path: path, feature: feature)
            }
        }
    }

    /// Fills a new file with all entries.
    ///
    /// - Returns: the number of damaged rows; nil if it cannot be filled: see
    ///   `Environment.copyPacked`.
    private static func fill(_ new: String, from environment: Environment) throws -> Int? {
        let descriptor = try newFile(new, like: environment, isReplacement: true)
        defer { close(descriptor) }
        var damagedRows = 0
        let isFilled = try environment.copyPacked(to: new) { table, entries in
            guard table.hasPrefix("r/"), let root = UInt32(table.dropFirst(2)) else { return }
            for (key, row) in entries where !EncodedRow.hasValidChecksum(row, table: root, key: key) {
                damagedRows += 1
            }
        }
        guard isFilled else { return nil }
        guard fsync(descriptor) == 0 else { throw LMDBError(code: errno, operation: "copy", path: new) }
        return damagedRows
    }
}
