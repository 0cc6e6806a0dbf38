// A state of a store's file that stays where it is while somebody looks at its pages without liblmdb.

import Foundation
package import LMDB

/// A state of a file that a read transaction holds: its pages are neither changed nor reused while the closure runs.
package struct PinnedFile {
    /// Of the data file; not to be closed.
    package let descriptor: Int32
    /// The transaction whose meta page leads to the state.
    package let transaction: UInt64
    package let environment: Environment

    /// Holds the newest state of a store, or of another environment, and lends it. Nothing is read through liblmdb but the table of
    /// readers and the number of the last commit: what stands in the pages may be anything.
    ///
    /// - Parameter keepsDeadReaders: whether slots of readers that have died are left as they are.
    /// - Throws: what the closure throws; `StoreError` if the state cannot be held: the file is damaged, or is none, or there is no
    ///   permission.
    package static func withState<Result>(
        ofStoreAt path: String, keepsDeadReaders: Bool = false, _ body: (PinnedFile) throws -> Result
    ) throws -> Result {
        let environment: Environment, lock: StoreLock?
        if let open = Environment.opened(at: path) {
            (environment, lock) = (open, nil)
        } else {
            // The lock is part of a store: another environment, or none, is left without it.
            lock = access(path + "/store.lock", F_OK) == 0 ? try StoreLock(directory: path, isReadOnly: true) : nil
            var options = Environment.Options(isReadOnly: true, creates: false, minimumMapSize: 1 << 20, maximumTables: 4)
            options.keepsDeadReaders = keepsDeadReaders
            do throws(LMDBError) { environment = try Environment.open(at: path, options: options) } catch { throw StoreError.lmdb(error) }
        }
        return try withExtendedLifetime(lock) {
            try environment.read { transaction in
                try body(
                    PinnedFile(
                        // Of a damaged file any number.
                        descriptor: environment.dataDescriptor, transaction: UInt64(truncatingIfNeeded: transaction.id),
                        environment: environment))
            }
        }
    }
}
