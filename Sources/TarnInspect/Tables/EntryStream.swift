// The entries of a table, taken one after another while another table is scanned.

import Glibc
import Locking
import TarnStore

/// The entries of a table of another program, which a thread scans some entries ahead.
///
/// `@unchecked`: two threads share `shared`, which is behind a lock. Between `init` and `stop`,
/// only the other thread uses the file.
final class EntryStream: @unchecked Sendable {
    private struct Shared {
        var batches: [[CopiedEntry]] = []
        var isDone = false
        var isStopped = false
    }

    private struct Stopped: Error {}

    private let file: StoreFile
    private let table: String?
    private let creator = pthread_self()
    private let lock = Lock()
    private var shared = Shared()
    private var thread: SecondThread?
    private var filter: OrderFilter
    private var batch: [CopiedEntry] = [], next = 0

    /// The most batches that are read ahead, and their size.
    private static let ahead = 8, batchBytes = 1 << 16

    /// Creates a stream before the first entry; nil stands for the table without a name.
    init(_ file: StoreFile, _ table: String?, _ order: EntryOrder) {
        (self.file, self.table, filter) = (file, table, OrderFilter(order))
        thread = SecondThread { [unowned self] in scan() }
    }

    /// The number of entries that were left out, because they are out of order.
    var misplaced: Int { filter.misplaced }

    /// Returns the next entry; nil after the last one.
    func take() -> CopiedEntry? {
        while true {
            while next < batch.count {
                next += 1
                if let entry = filter.add(batch[next - 1]) { return entry }
            }
            lock.lock()
            let isDone = shared.isDone && shared.batches.isEmpty
            (batch, next) = (shared.batches.isEmpty ? [] : shared.batches.removeFirst(), 0)
            lock.unlock()
            if isDone { return filter.end() }
            if batch.isEmpty { usleep(50) }
        }
    }

    /// Ends the thread. Must be called before the file is used again.
    func stop() {
        lock.lock()
        shared.isStopped = true
        lock.unlock()
        thread?.join()
        thread = nil
    }

    // MARK: - The other thread

    private func scan() {
        var entries: [CopiedEntry] = [], bytes = 0
        try? file.forEachTableEntry(of: table) { entry in
            let copy = CopiedEntry(key: Array(entry.keyBytes), value: Array(entry.valueBytes))
            entries.append(copy)
            bytes += copy.size + 32
            guard bytes > EntryStream.batchBytes else { return }
            try hand(over: entries)
            entries.removeAll(keepingCapacity: true)
            bytes = 0
        }
        try? hand(over: entries)
        lock.lock()
        shared.isDone = true
        lock.unlock()
    }

    private func hand(over entries: [CopiedEntry]) throws {
        // Without a second thread, nothing takes entries before the scan is complete.
        let isAlone = pthread_equal(creator, pthread_self()) != 0
        while true {
            lock.lock()
            let isFull = shared.batches.count >= EntryStream.ahead && !isAlone, isStopped = shared.isStopped
            if !isFull { shared.batches.append(entries) }
            lock.unlock()
            if isStopped { throw Stopped() }
            if !isFull { return }
            usleep(50)
        }
    }
}
