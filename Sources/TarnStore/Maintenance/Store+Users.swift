// The readers of a store: for messages, and for the cleanup after killed processes.

import Foundation
internal import LMDB

extension Store {
    /// The oldest snapshot that a reader of any process holds, as the number of its transaction;
    /// nil if there is none.
    ///
    /// Pages that later transactions free are not used again as long as it is held. The slots of
    /// dead processes are freed before.
    package var oldestSnapshot: Int? {
        do throws(LMDBError) {
            try environment.freeSlotsOfDeadProcesses()
            return try environment.readerSlots().compactMap(\.transaction).min()
        } catch {
            return nil
        }
    }

    /// The number of the last commit.
    package var lastTransaction: Int { environment.lastTransaction }

    /// The used slots in the table of readers, of other processes and of killed ones.
    ///
    /// Only processes of the same PID namespace can be distinguished. A full table is listed, too.
    ///
    /// - Parameters:
    ///   - path: the directory of the store, or any LMDB data file.
    ///   - clearing: whether slots of dead processes are freed; the result contains them
    ///     nevertheless. Not those of a data file without a directory of its own.
    /// - Throws: `StoreOpenError`, `StoreError` if the store cannot be opened.
    package static func readers(ofStoreAt path: String, clearing: Bool = false) throws -> [StoreReaderSlot] {
        var path = path, status = stat()
        if path == "data.mdb" { path = "." }
        if path.hasSuffix("/data.mdb") { path.removeLast("/data.mdb".count) }
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            return try readers(ofFile: path)
        }
        return try PinnedFile.withEnvironment(ofStoreAt: path, keepsDeadReaders: true) { environment in
            do throws(LMDBError) {
                let found = try environment.readerSlots()
                if clearing { try environment.freeSlotsOfDeadProcesses() }
                return slots(found, last: environment.lastTransaction)
            } catch {
                throw StoreError.lmdb(error)
            }
        }
    }

    /// Returns the slots of a data file without a directory of its own.
    private static func readers(ofFile path: String) throws -> [StoreReaderSlot] {
        do throws(LMDBError) {
            if let (used, last) = try Environment.readers(ofFile: path) { return slots(used, last: last) }
        } catch {
            throw StoreError.lmdb(error)
        }
        guard Environment.isData(path) else {
            throw StoreOpenError.notAStore(path: path, detail: "it is no data file of LMDB, or it is damaged")
        }
        return []
    }

    /// Returns the slots of other processes.
    private static func slots(_ slots: [ReaderSlot], last: Int) -> [StoreReaderSlot] {
        let own = Int32(getpid())
        return slots.filter { $0.processID != own }.map { slot in
            StoreReaderSlot(
                processID: Int(slot.processID), processName: ProcessTable.name(slot.processID),
                processAge: ProcessTable.age(slot.processID),
                isStale: kill(slot.processID, 0) != 0 && errno == ESRCH, transaction: slot.transaction,
                lag: slot.transaction.map { max(0, last &- $0) })
        }
    }
}
