// Read transactions that wait to be renewed, and the marks of threads that are inside one.

import CLMDB
import Glibc

/// A pool of read transactions that were reset: renewing one costs a fraction of beginning one.
final class ReaderPool: Sendable {
    /// More are made when more threads read at once, but not kept.
    static let capacity = 32

    private struct Idle: @unchecked Sendable {
        // With MDB_NOTLS a reset read transaction belongs to no thread; the lock hands each one to one thread at a time.
        var transactions: [OpaquePointer] = []
    }

    private let idle = Guarded(Idle())

    /// A read transaction on the newest snapshot.
    func take(_ environment: Environment) throws(LMDBError) -> OpaquePointer {
        if let pooled = idle.withLock({ $0.transactions.popLast().map(Transfer.init) }) {
            let code = mdb_txn_renew(pooled.pointer)
            if code == 0 { return pooled.pointer }
            mdb_txn_abort(pooled.pointer)
            throw LMDBError(code: code, operation: "read", path: environment.path)
        }
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(environment.env, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Slots of processes that died are freed on demand.
            environment.freeSlotsOfDeadReaders()
            code = mdb_txn_begin(environment.env, nil, UInt32(MDB_RDONLY), &transaction)
        }
        guard code == 0, let transaction else { throw LMDBError(code: code, operation: "read", path: environment.path) }
        return transaction
    }

    func give(back transaction: OpaquePointer) {
        mdb_txn_reset(transaction)
        let item = Transfer(transaction)
        let kept = idle.withLock { idle in
            guard idle.transactions.count < ReaderPool.capacity else { return false }
            idle.transactions.append(item.pointer)
            return true
        }
        if !kept { mdb_txn_abort(transaction) }
    }

    func close() {
        for item in idle.withLock({ idle in
            defer { idle.transactions = [] }
            return idle.transactions.map(Transfer.init)
        }) { mdb_txn_abort(item.pointer) }
    }

    private struct Transfer: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
    }
}

extension Environment {
    /// How many pages the file may grow before dead readers are looked for.
    private static let growthBeforeCheck = 256

    /// Frees the slots of processes that ended inside a snapshot. As long as they are taken, no page that was freed since is
    /// used again, and the file grows with every write.
    package func freeSlotsOfDeadReaders() {
        var dead: Int32 = 0
        mdb_reader_check(env, &dead)
        checkedPage.store(lastPage, ordering: .relaxed)
    }

    /// The same if the file has grown since the last time. Called after every commit.
    func freeSlotsOfDeadReadersAfterGrowth() {
        if lastPage >= checkedPage.load(ordering: .relaxed) + Environment.growthBeforeCheck { freeSlotsOfDeadReaders() }
    }

    private var lastPage: Int {
        var information = MDB_envinfo()
        return mdb_env_info(env, &information) == 0 ? information.me_last_pgno : 0
    }
}

/// How deep the calling thread is inside transactions of one environment.
struct ThreadDepth: Sendable {
    /// What a write adds: more than any number of reads.
    static let write = 1 << 32

    private let key: pthread_key_t

    init?() {
        var key = pthread_key_t()
        guard pthread_key_create(&key, nil) == 0 else { return nil }
        self.key = key
    }

    var value: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        nonmutating set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }

    var isInsideWrite: Bool { value >= ThreadDepth.write }

    func delete() { pthread_key_delete(key) }
}
