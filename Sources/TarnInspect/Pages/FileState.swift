// A state of a data file: one commit, which a read transaction holds if the file permits one.

import LMDBPages
import TarnStore

/// A state of a file, valid inside of the closure that it is given to.
struct FileState: Sendable {
    /// The descriptor of the data file.
    let descriptor: Int32
    /// The path of the data file.
    let path: String
    /// The meta page of the state. The file may have newer ones in its place.
    let meta: MetaPage
    /// The faults of the meta pages.
    private(set) var findings: [Finding]
    /// The reason why no read transaction holds the state; nil if one does.
    let aloneBecause: String?
    /// The slots of the reader table; nil if the file is read without liblmdb.
    let readers: (used: Int, all: Int)?
    /// Whether both meta pages are unreadable, and ``meta`` was made from pages that were found.
    let isFound: Bool
    /// Whether a question is to end without an answer; checked at every page.
    var isCancelled: (@Sendable () -> Bool)?
    /// The report of a snapshot that holds up writers.
    var lag: Lag?

    /// The age from which a snapshot is reported, and the closure that is called then.
    struct Lag: Sendable {
        var patience: Duration
        var report: @Sendable (SnapshotLag) -> Void
    }

    /// Holds the newest state of a file while the closure runs.
    ///
    /// - Throws: The closure's error; `StoreOpenError` if nothing is readable.
    static func hold<Result>(
        at path: String, findsLostMeta: Bool = false, _ body: (FileState) throws -> Result
    ) throws -> Result {
        let directory = directory(of: path)
        var reason = "its newest state could not be held, since others write all the time", isTruncated = false
        for _ in 0..<100 {
            var isLent = false
            do {
                return try PinnedFile.withState(ofStoreAt: directory) { pinned in
                    let file = PageFile(borrowing: pinned.descriptor, path: directory + "/data.mdb")
                    var (meta, findings) = try FileSnapshot.meta(of: file, transaction: pinned.transaction)
                    findings += FileSnapshot.orderFinding(of: file)
                    isLent = true
                    return try body(
                        FileState(
                            descriptor: pinned.descriptor, path: file.path, meta: meta, findings: findings,
                            aloneBecause: nil, readers: pinned.environment.readerTable, isFound: false))
                }
            } catch {
                if isLent { throw error }
                if error is FileSnapshot.Moved { continue }
                reason = (error as? any StoreFailure)?.description ?? "\(error)"
                switch error {
                case StoreError.lmdb(let error), StoreOpenError.store(.lmdb(let error)):
                    reason = error.descriptionForLocking
                    isTruncated = error.kind == .truncated
                default: break
                }
                if PageFile.isFile(directory) { reason = "locks are used only for a file with the name data.mdb" }
                break
            }
        }
        let file = try PageFile(opening: path)
        // The file closes its descriptor when it is released.
        return try withExtendedLifetime(file) {
            var state = try FileState(unlocked: file, because: reason, findsLostMeta: findsLostMeta)
            if isTruncated {
                let pages = file.byteCount / UInt64(state.meta.pageSize), last = state.meta.lastPage
                let detail = "it has \(pages) pages, and its newest state has pages up to number \(last)"
                state.findings.append(Finding(.truncated, "file", detail))
            }
            return try body(state)
        }
    }

    /// Returns the directory whose locks belong to a path: of a store, or of its `data.mdb`.
    static func directory(of path: String) -> String {
        if path == "data.mdb" { return "." }
        return path.hasSuffix("/data.mdb") ? String(path.dropLast("/data.mdb".count)) : path
    }
}

extension FileState {
    /// Reads the newest state of a file that no transaction holds.
    fileprivate init(unlocked file: PageFile, because reason: String, findsLostMeta: Bool) throws {
        let meta: MetaPage, isFound: Bool
        var findings: [Finding]
        do {
            (meta, findings) = try FileSnapshot.meta(of: file)
            findings += FileSnapshot.orderFinding(of: file)
            isFound = false
        } catch StoreOpenError.notAStore(_, let detail) where findsLostMeta {
            guard let found = MetaPageSearch.run(file) else {
                throw StoreOpenError.notAStore(path: file.path, detail: detail)
            }
            meta = found
            findings = [Finding(.noMeta, "pages 0 and 1", detail)]
            isFound = true
        }
        self.init(
            descriptor: file.descriptor, path: file.path, meta: meta, findings: findings, aloneBecause: reason,
            readers: nil, isFound: isFound)
    }
}
