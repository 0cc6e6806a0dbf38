// The pool of read transactions for reuse.

import CLMDB
import Glibc
import Locking

/// A pool of reset read transactions: renewing one costs a fraction of beginning one.
final class ReaderPool: Sendable {
    /// The number of idle transactions that are kept.
    ///
    /// More are created if more threads read at once.
    static let capacity = 32

    /// A read transaction and the cached page trees of its snapshot.
    struct Reader {
        let transaction: OpaquePointer
        let trees: UnsafeMutablePointer<KnownTrees>

        fileprivate func abort() {
            mdb_txn_abort(transaction)
            trees.pointee.deallocate()
            trees.deallocate()
        }
    }

    private struct Idle: @unchecked Sendable {
        // With MDB_NOTLS, a reset read transaction belongs to no thread. The lock passes each one
        // to one thread at a time.
        var readers: [Reader] = []
    }

    private let idle = Guarded(Idle())

    /// Returns a read transaction on the newest snapshot.
    func take(_ environment: Environment) throws(LMDBError) -> Reader {
        if let pooled = idle.withLock({ $0.readers.popLast().map(Transfer.init) })?.reader {
            let code = mdb_txn_renew(pooled.transaction)
            if code == 0 { return pooled }
            pooled.abort()
            throw LMDBError(code: code, operation: "read", path: environment.path)
        }
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(environment.env, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Slots of dead processes are freed on demand.
            environment.freeSlotsOfDeadReaders()
            code = mdb_txn_begin(environment.env, nil, UInt32(MDB_RDONLY), &transaction)
        }
        guard code == 0, let transaction else { throw LMDBError(code: code, operation: "read", path: environment.path) }
        let trees = UnsafeMutablePointer<KnownTrees>.allocate(capacity: 1)
        trees.initialize(to: KnownTrees())
        return Reader(transaction: transaction, trees: trees)
    }

    func give(back reader: Reader) {
        mdb_txn_reset(reader.transaction)
        reader.trees.pointee.forget()
        let item = Transfer(reader)
        let kept = idle.withLock { idle in
            guard idle.readers.count < ReaderPool.capacity else { return false }
            idle.readers.append(item.reader)
            return true
        }
        if !kept { reader.abort() }
    }

    func close() {
        for item in idle.withLock({ idle in
            defer { idle.readers = [] }
            return idle.readers.map(Transfer.init)
        }) { item.reader.abort() }
    }

    private struct Transfer: @unchecked Sendable {
        let reader: Reader
        init(_ reader: Reader) { self.reader = reader }
    }
}

extension Environment {
    /// The growth of the file, in pages, after which dead readers are looked for again.
    private static let growthBeforeCheck = 256

    /// Frees the slots of processes that ended inside a snapshot.
    ///
    /// While such a slot is occupied, pages that were freed later are not reused, and the file
    /// grows with every write.
    package func freeSlotsOfDeadReaders() {
        var dead: Int32 = 0
        mdb_reader_check(env, &dead)
        checkedPage.store(lastPage, ordering: .relaxed)
    }

    /// Frees the slots of dead readers if the file has grown since the last check.
    ///
    /// Called after every commit.
    func freeSlotsOfDeadReadersAfterGrowth() {
        if lastPage >= checkedPage.load(ordering: .relaxed) + Environment.growthBeforeCheck { freeSlotsOfDeadReaders() }
    }

    private var lastPage: Int {
        var information = MDB_envinfo()
        return mdb_env_info(env, &information) == 0 ? information.me_last_pgno : 0
    }
}
