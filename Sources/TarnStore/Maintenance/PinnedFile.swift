// A pinned state of a store's file: its pages stay unchanged while they are read without liblmdb.

import Foundation
package import LMDB

/// A state of a file that a read transaction pins.
///
/// Its pages are neither changed nor reused while the closure runs.
package struct PinnedFile {
    /// The descriptor of the data file. It must not be closed.
    package let descriptor: Int32
    /// The transaction whose meta page refers to the state.
    package let transaction: UInt64
    package let environment: Environment

    /// Pins the newest state of a store, or of another environment, for the closure.
    ///
    /// Only the table of readers and the number of the last commit are read through liblmdb: the
    /// pages may have any content.
    ///
    /// - Parameter path: the directory of the environment.
    /// - Throws: errors of the closure; `StoreError` or `StoreOpenError` if the state cannot be
    ///   pinned: the file is damaged or not an environment, or permission is missing.
    package static func withState<Result>(
        ofStoreAt path: String, _ body: (PinnedFile) throws -> Result
    ) throws -> Result {
        try withEnvironment(ofStoreAt: path) { environment in
            try environment.read { transaction in
                try body(
                    PinnedFile(
                        // A damaged file may have any number here.
                        descriptor: environment.dataDescriptor, transaction: UInt64(truncatingIfNeeded: transaction.id),
                        environment: environment))
            }
        }
    }

    /// Opens a store, or another environment, for the closure. No transaction begins, so that no
    /// slot of the reader table is needed.
    static func withEnvironment<Result>(
        ofStoreAt path: String, keepsDeadReaders: Bool = false, _ body: (Environment) throws -> Result
    ) throws -> Result {
        let environment: Environment, lock: StoreLock?
        if let open = Environment.opened(at: path) {
            (environment, lock) = (open, nil)
        } else {
            // The lock belongs to a store: another environment has none and gets none.
            lock = access(path + "/store.lock", F_OK) == 0 ? try StoreLock(directory: path, isReadOnly: true) : nil
            // A store that the process opens meanwhile shares the environment.
            var options = Environment.Options(
                isReadOnly: true, creates: false, minimumMapSize: 1 << 20, maximumTables: TableName.limit)
            options.keepsDeadReaders = keepsDeadReaders
            // A lock file of another program keeps its size: this is liblmdb's own number of slots.
            // A directory without one may be a restored backup, whose reader table begins here and
            // cannot grow while any process has the file open.
            if lock == nil, access(path + "/lock.mdb", F_OK) == 0 { options.maximumReaders = 126 }
            do throws(LMDBError) { environment = try Environment.open(at: path, options: options) } catch {
                throw StoreError.lmdb(error)
            }
        }
        return try withExtendedLifetime(lock) { try body(environment) }
    }
}
