// A store's file without liblmdb: its settings, catalog and rows, as far as they are readable.

import LMDBPages
import TarnStore

/// The content of a file of unknown health. For one thread at a time.
final class StoreFile: RecordSource {
    let snapshot: FileSnapshot
    let findings: Findings
    /// The reason why no read transaction holds the state; nil if one does.
    let aloneBecause: String?
    /// The slots of the reader table; nil if the file is read without liblmdb.
    let readers: (used: Int, all: Int)?
    var scan: TreeScan
    /// The content of the table `meta`.
    var settings: [String: [UInt8]] = [:]
    /// The format version; nil if it is unreadable.
    var foundFormat: Int?
    /// The catalog; empty if it is unreadable.
    var catalog = Catalog()
    var hasCatalog = false
    /// Whether the catalog has a wrong checksum and is used for lack of a better one.
    var isCatalogDoubtful = false
    var rules: [UInt16: EntityRules] = [:]
    /// The marks of incomplete indexes.
    var marks: [UInt32: IndexMark] = [:]
    let decoder = RowDecoder()
    /// The copies of rows that conditions read, until the `lending` closure that read them returns.
    var lentRows: [UnsafeMutableRawBufferPointer] = []
    /// Whether the file is a store of Tarn, as far as it is readable; others may have any tables.
    var isStore = false
    /// The counts of each table that was scanned.
    var counts: [String: TreeScan.Counts] = [:]
    /// The counts of the table of tables.
    let mainCounts: TreeScan.Counts

    private init(
        _ snapshot: FileSnapshot, _ findings: Findings, aloneBecause: String?, readers: (used: Int, all: Int)? = nil,
        progress: ((_ pages: Int, _ of: Int) -> Void)?
    ) {
        self.readers = readers
        self.snapshot = snapshot
        self.findings = findings
        self.aloneBecause = aloneBecause
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, findings)
        if let progress {
            let file = snapshot.file, all = Int(clamping: min(snapshot.meta.lastPage, file.pageCount))
            scan.progress = { progress(file.readCount, all) }
        }
        mainCounts = snapshot.findTables(&scan)
        self.scan = scan
        readSettings()
    }

    deinit { for row in lentRows { row.deallocate() } }

    /// Opens the file at a path and runs the closure with it.
    ///
    /// If the file is sound enough for liblmdb, a read transaction holds its newest state, so that
    /// writers of other processes do not change what is read. Otherwise the file is read without a
    /// transaction.
    ///
    /// - Parameter path: The path of a store, or of its `data.mdb`.
    /// - Throws: The closure's error; `StoreOpenError` if nothing is readable;
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction held the state and commits may
    ///   have changed it before the closure returned.
    static func open<Result>(
        at path: String, progress: ((_ pages: Int, _ of: Int) -> Void)? = nil, _ body: (StoreFile) throws -> Result
    ) throws -> Result {
        let directory = path.hasSuffix("/data.mdb") ? String(path.dropLast("/data.mdb".count)) : path
        var reason = "its newest state could not be held, since others write all the time"
        for _ in 0..<100 {
            var isLent = false
            do {
                return try PinnedFile.withState(ofStoreAt: directory) { pinned in
                    let findings = Findings()
                    let file = PageFile(borrowing: pinned.descriptor, path: directory + "/data.mdb")
                    let snapshot = try FileSnapshot(file, transaction: pinned.transaction, findings)
                    isLent = true
                    let readers = pinned.environment.readerTable
                    return try body(
                        StoreFile(snapshot, findings, aloneBecause: nil, readers: readers, progress: progress))
                }
            } catch {
                if isLent { throw error }
                if error is FileSnapshot.Moved { continue }
                reason = (error as? any StoreFailure)?.description ?? "\(error)"
                break
            }
        }
        let file = try PageFile(opening: path), findings = Findings()
        let snapshot = try FileSnapshot(file, findings)
        let opened = StoreFile(snapshot, findings, aloneBecause: reason, progress: progress)
        let result: Result
        do {
            result = try body(opened)
        } catch {
            // The error may result from a mixture of commits.
            try opened.checkIsUnchanged()
            throw error
        }
        try opened.checkIsUnchanged()
        return result
    }

    /// Checks that the state is held or has not been changed by later commits.
    ///
    /// - Throws: `.changedMeanwhile`.
    func checkIsUnchanged() throws(StoreMaintenanceError) {
        guard let aloneBecause, snapshot.isOvertaken else { return }
        throw .changedMeanwhile(path: snapshot.file.path, detail: aloneBecause)
    }
}
