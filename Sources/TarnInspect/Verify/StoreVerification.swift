// The verification of a store for `tarn inspect verify`: every part compared with all others.

import TarnStore

/// The result of checking every page, row, index entry and counter of a store.
///
/// The check changes nothing. A read transaction holds one commit of a store in use: other
/// processes read and write meanwhile, and pages that they free are not reused before the check
/// ends. A file that liblmdb would not open is read without a transaction (``isHeld``).
public struct StoreVerification: Sendable {
    /// The store's folder.
    public let path: String
    /// The findings, at most the first hundred of each code.
    public let findings: [Finding]
    /// The number of findings of each code, including those that are not in ``findings``.
    public let counts: [Finding.Code: Int]
    /// The comparisons that were impossible because one side is unreadable.
    public let notCompared: [String]
    /// Whether a read transaction held the checked state.
    ///
    /// If not, no commit changed the state during the check.
    public let isHeld: Bool
    /// The reason why no read transaction held the state; nil if one did.
    public let aloneBecause: String?
    /// The LMDB transaction id of the checked state.
    public let transaction: UInt64
    /// The incarnation of the store; empty if it is unreadable, or if the file is no store.
    package let incarnation: String
    /// The commit sequence of the store.
    public let sequence: UInt64
    /// The size of a page, in bytes.
    public let pageSize: Int
    /// The number of pages that were ever used.
    public let pages: UInt64
    /// The number of pages in the free list.
    public let freePages: Int
    /// The number of readable rows by entity, in catalog order.
    public let records: [(entity: String, count: Int)]
    /// The number of checked entries of all indexes.
    public let indexEntries: Int
    /// The number of stored responses.
    public let responses: Int
    /// The number of entries of the change log.
    public let changes: Int

    /// Whether the check is complete and has no findings.
    public var isSound: Bool { counts.isEmpty && notCompared.isEmpty }

    /// The total number of findings.
    public var total: Int { counts.values.reduce(0, +) }

    fileprivate init(_ path: String, _ check: StoreCheck) {
        let file = check.file
        self.path = path
        findings = file.findings.list
        counts = file.findings.counts
        notCompared = check.notCompared
        isHeld = file.aloneBecause == nil
        aloneBecause = file.aloneBecause
        transaction = file.snapshot.meta.transaction
        incarnation = file.text(MetaKey.incarnation) ?? ""
        sequence = file.number(MetaKey.sequence) ?? 0
        pageSize = file.snapshot.meta.pageSize
        pages = file.snapshot.meta.lastPage &+ 1
        freePages = check.freePages
        records = file.catalog.entities.map { ($0.name, check.checkedEntities[$0.id]?.count ?? 0) }
        indexEntries = check.indexEntries
        responses = check.responseCount
        changes = check.changeCount
    }

    fileprivate init(_ path: String, _ finding: Finding) {
        self.path = path
        findings = [finding]
        counts = [finding.code: 1]
        notCompared = []
        isHeld = false
        aloneBecause = nil
        incarnation = ""
        (transaction, sequence, pageSize, pages, freePages, records, indexEntries, responses, changes) = (
            0, 0, 0, 0, 0, [], 0, 0, 0
        )
    }
}

extension StoreInspector {
    /// Verifies a whole store.
    ///
    /// - Parameter progress: A closure that is called with every page read.
    /// - Throws: `StoreOpenError.noSuchStore`; `.store(.lmdb)` without read permission;
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction held the file and commits were
    ///   made during the check. Every other problem is a finding.
    public func verification(progress: ((Progress) -> Void)? = nil) throws -> StoreVerification {
        try verification(onTwoThreadsFrom: 4096, progress: progress)
    }

    /// Verifies a whole store, with two threads if the file has at least a number of pages.
    package func verification(
        onTwoThreadsFrom pages: UInt64, progress: ((Progress) -> Void)? = nil
    ) throws -> StoreVerification {
        let besides = PageCounter()
        let told = progress.map { told in
            { (progress: Progress) in told(Progress(pages: progress.pages + besides.pages, total: progress.total)) }
        }
        do {
            return try open(progress: told) { file in
                var check = StoreCheck(file)
                if file.snapshot.file.pageCount >= pages, check.canRunOnTwoThreads {
                    if try check.runOnTwoThreads(counting: besides) { return StoreVerification(path, check) }
                    // Something was found: one thread finds it again, always in the same order.
                    besides.pages = 0
                    check = StoreCheck(
                        file.reopened { pages, total in told?(Progress(pages: pages, total: total)) })
                }
                try check.run()
                return StoreVerification(path, check)
            }
        } catch StoreOpenError.notAStore(_, let detail) {
            return StoreVerification(path, Finding(.noMeta, path, detail))
        }
    }
}
