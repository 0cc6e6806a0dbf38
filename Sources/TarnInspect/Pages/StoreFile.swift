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
    /// The names of the entries of `meta` with a wrong checksum.
    var damagedSettings: [String] = []
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
    var counts = TableValues<TreeScan.Counts>()
    /// The counts of the table of tables.
    let mainCounts: TreeScan.Counts
    /// Whether faults that look-ups meet are findings. Not if scans report all of them anyway.
    var notesLookUps = true
    /// The problems of the root pages that look-ups have met, nil for none, by table.
    var rootProblems = TableValues<String?>()
    /// The pages that look-ups have checked: `sound` or `unsound`.
    var lookedUp = PageMap()
    /// The number of owners of pages when the file was opened: the tables that opening reads.
    private(set) var openedOwners = 0
    private let state: FileState

    private init(_ state: FileState, _ findings: Findings, progress: ((_ pages: Int, _ of: Int) -> Void)?) {
        self.state = state
        let file = PageFile(borrowing: state.descriptor, path: state.path)
        file.isCancelled = state.isCancelled
        if let lag = state.lag {
            // The watch reads meta pages, which the cache of the other one must not lose.
            let own = PageFile(borrowing: state.descriptor, path: state.path)
            let watch = SnapshotWatch(own, state.meta.transaction, patience: lag.patience, lag.report)
            file.onRead = { watch.check() }
        }
        snapshot = FileSnapshot(file, state)
        readers = state.readers
        self.findings = findings
        aloneBecause = state.aloneBecause
        for finding in state.findings { findings.add(finding.code, finding.place, finding.detail) }
        var scan = TreeScan(file, lastPage: state.meta.lastPage, findings)
        if let progress {
            let all = Int(clamping: min(state.meta.lastPage, file.pageCount))
            scan.progress = { progress(file.readCount, all) }
        }
        mainCounts = snapshot.findTables(&scan)
        self.scan = scan
        readSettings()
        openedOwners = self.scan.owners.count
    }

    /// Opens the same state again, for another thread or another attempt.
    ///
    /// The new file may be used as long as this one.
    func reopened(progress: ((_ pages: Int, _ of: Int) -> Void)?) -> StoreFile {
        var state = state
        // One report is enough.
        state.lag = nil
        return StoreFile(state, Findings(), progress: progress)
    }

    deinit { for row in lentRows { row.deallocate() } }

    /// Opens the file at a path and runs the closure with it.
    ///
    /// If the file is sound enough for liblmdb, a read transaction holds its newest state, so that
    /// writers of other processes do not change what is read. Otherwise the file is read without a
    /// transaction.
    ///
    /// - Parameters:
    ///   - path: The path of a store, or of its `data.mdb`.
    ///   - findsLostMeta: Whether the trees are searched for if both meta pages are unreadable.
    ///   - lag: The report of a snapshot that holds up writers.
    /// - Throws: The closure's error; `StoreOpenError` if nothing is readable;
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction held the state and commits may
    ///   have changed it before the closure returned.
    static func open<Result>(
        at path: String, findsLostMeta: Bool = false, lag: FileState.Lag? = nil,
        progress: ((_ pages: Int, _ of: Int) -> Void)? = nil, _ body: (StoreFile) throws -> Result
    ) throws -> Result {
        try FileState.hold(at: path, findsLostMeta: findsLostMeta) { state in
            var state = state
            // Without a transaction, nothing is kept from being reused.
            if state.aloneBecause == nil { state.lag = lag }
            return try open(in: state, progress: progress, body)
        }
    }

    /// Opens a state of a file and runs the closure with it.
    static func open<Result>(
        in state: FileState, progress: ((_ pages: Int, _ of: Int) -> Void)? = nil, _ body: (StoreFile) throws -> Result
    ) throws -> Result {
        let opened = StoreFile(state, Findings(), progress: progress)
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

    /// The number of commits since the state.
    var commitsBehind: UInt64 {
        // With a file of its own: the cache of pages stays as it is.
        let file = PageFile(borrowing: snapshot.file.descriptor, path: snapshot.file.path)
        let newest = (try? FileSnapshot.meta(of: file).0.transaction) ?? 0
        return newest > snapshot.meta.transaction ? newest - snapshot.meta.transaction : 0
    }
}
