// Who has a store open: for messages, and for those who clean up after processes that were killed.

import Foundation
internal import LMDB

extension Store {
    /// The places in the table of readers that are taken, by this and other processes, also those of processes that were killed.
    ///
    /// Only processes of the same PID namespace can be told apart.
    ///
    /// - Parameter clearing: whether places of processes that are no more are freed; they are in the list nevertheless.
    /// - Throws: `StoreError` if the store cannot be opened.
    public static func readers(ofStoreAt path: String, clearing: Bool = false) throws -> [StoreReaderSlot] {
        try PinnedFile.withState(ofStoreAt: path, keepsDeadReaders: true) { pinned in
            do throws(LMDBError) {
                let own = Int(getpid()), slots = try pinned.environment.readerSlots()
                if clearing { try pinned.environment.freeSlotsOfDeadProcesses() }
                let last = Int(truncatingIfNeeded: pinned.transaction)
                return slots.filter { $0.processID != own }.map { slot in
                    StoreReaderSlot(
                        processID: Int(slot.processID), processName: ProcessTable.name(slot.processID),
                        isStale: kill(slot.processID, 0) != 0 && errno == ESRCH, transaction: slot.transaction,
                        lag: slot.transaction.map { max(0, last &- $0) })
                }
            } catch {
                throw StoreError.lmdb(error)
            }
        }
    }
}
