// Everything in a store, compared with everything else in it: what `tarn inspect verify` shows.

import TarnStore

/// What a look at every page, row, index entry and counter of a store has found. Nothing is changed.
///
/// A store that is in use is looked at as of one commit, which a read transaction holds meanwhile: others read and write on, and pages that
/// they free are not reused until it is done. What liblmdb would not open is read as it is (``isHeld``).
public struct StoreVerification: Sendable {
    /// The store's folder.
    public let path: String
    /// What is wrong: of each code the first hundred.
    public let findings: [Finding]
    /// How many findings there are of each code, kept or not.
    public let counts: [Finding.Code: Int]
    /// What could not be compared, since a part of it cannot be read.
    public let notCompared: [String]
    /// Whether a read transaction held the state that was looked at. If not, no commit has changed it meanwhile.
    public let isHeld: Bool
    /// Why it was not held.
    public let aloneBecause: String?
    /// The last transaction of LMDB that was looked at.
    public let transaction: UInt64
    /// The commit sequence of the store.
    public let sequence: UInt64
    /// Bytes a page.
    public let pageSize: Int
    /// Pages that were ever used.
    public let pages: UInt64
    /// Pages in the list of free ones.
    public let freePages: Int
    /// Rows that can be read, by entity, in the order of the catalog.
    public let records: [(entity: String, count: Int)]
    /// Entries of all indexes that were looked at.
    public let indexEntries: Int
    /// Stored responses.
    public let responses: Int
    /// Entries of the change log.
    public let changes: Int

    /// Whether nothing is wrong.
    public var isSound: Bool { counts.isEmpty && notCompared.isEmpty }

    /// How many findings there are.
    public var total: Int { counts.values.reduce(0, +) }

    /// How far a verification has come.
    public struct Progress: Sendable, Hashable {
        /// Pages that were read; some are read more than once.
        public var pages: Int
        /// Pages that there are.
        public var total: Int
    }

    /// Looks at all of a store.
    ///
    /// - Parameters:
    ///   - path: of the store, or of its `data.mdb`.
    ///   - progress: called with every page that is read.
    /// - Throws: `StoreError.noSuchStore`; `.lmdb` if there is no permission to read; `.changedMeanwhile` if the file was not held, and
    ///   commits came in between. Everything else is a finding.
    public init(ofStoreAt path: String, progress: ((Progress) -> Void)? = nil) throws {
        do {
            self = try StoreFile.open(at: path, progress: progress.map { told in { told(Progress(pages: $0, total: $1)) } }) { file in
                let check = StoreCheck(file)
                try check.run()
                return StoreVerification(path, check)
            }
        } catch StoreError.notAStore(_, let detail) {
            self.init(path, Finding(.noMeta, path, detail))
        }
    }

    private init(_ path: String, _ check: StoreCheck) {
        let file = check.file
        self.path = path
        findings = file.findings.list
        counts = file.findings.counts
        notCompared = check.notCompared
        isHeld = file.aloneBecause == nil
        aloneBecause = file.aloneBecause
        transaction = file.snapshot.meta.transaction
        sequence = file.number(MetaKey.sequence) ?? 0
        pageSize = file.snapshot.meta.pageSize
        pages = file.snapshot.meta.lastPage &+ 1
        freePages = check.freePages
        records = file.catalog.entities.map { ($0.name, check.rowCounts[$0.id, default: 0]) }
        indexEntries = check.indexEntries
        responses = check.responseCount
        changes = check.changeCount
    }

    private init(_ path: String, _ finding: Finding) {
        self.path = path
        findings = [finding]
        counts = [finding.code: 1]
        notCompared = []
        isHeld = false
        aloneBecause = nil
        (transaction, sequence, pageSize, pages, freePages, records, indexEntries, responses, changes) = (0, 0, 0, 0, 0, [], 0, 0, 0)
    }
}
