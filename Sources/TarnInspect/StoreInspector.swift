// The entry of the inspector: a file, and a function for each question about it.

/// An inspector of a store's file, which may be damaged in any way. Read-only.
///
///     let inspector = StoreInspector(at: "forge.tarn")
///     print(try inspector.statistics().entities)
///     guard try inspector.verification().isSound else { … }
///
/// Each question opens the file, and its answer is of one commit: a read transaction holds that
/// commit while other processes read and write. A file that liblmdb would not open, or that this
/// user may not lock, is read without a transaction; the answer then has the reason
/// (`aloneBecause`), and commits that may have changed it meanwhile are an error
/// (`StoreMaintenanceError.changedMeanwhile`).
///
/// A question is a function in an extension of its own. Long ones take a `progress` closure, and
/// those that return lines report unreadable parts to a `damaged` closure and continue.
public struct StoreInspector: Sendable {
    /// The path of the store, of its `data.mdb`, or of any other LMDB data file.
    public let path: String

    /// Creates an inspector. The file is opened by each question.
    ///
    /// - Parameter path: The path of a store, of its `data.mdb`, or of any other LMDB data file.
    public init(at path: String) { self.init(path, nil) }

    private init(_ path: String, _ state: FileState?) { (self.path, self.state) = (path, state) }

    /// The state that all questions are about; nil if each question opens the file anew.
    private let state: FileState?

    /// The report of snapshots that hold up writers.
    private var lag: FileState.Lag?

    /// Lets each question report once that its snapshot is old while another process commits.
    ///
    /// - Parameter patience: The age from which a snapshot is reported.
    package mutating func reportLag(after patience: Duration, _ report: @escaping @Sendable (SnapshotLag) -> Void) {
        lag = FileState.Lag(patience: patience, report: report)
    }

    /// The progress of a question that reads the whole file.
    public struct Progress: Sendable, Hashable {
        /// The number of pages read so far; a page may count more than once.
        public var pages: Int
        /// The number of pages of the file.
        public var total: Int
    }

    /// An unreadable record or page.
    public struct Damage: Sendable, Hashable, CustomStringConvertible {
        /// The location: a record, or a page of the file.
        public var place: String
        /// The reason why it is unreadable.
        public var reason: String
        /// Whether the damage concerns the file or its pages, not a single record.
        public var isOfPages = false
        /// The number of faults: more than one if the others of a kind are not listed.
        package var count = 1
        public var description: String { "\(place): \(reason)" }
    }

    /// Opens the file for one question.
    ///
    /// - Parameter findsLostMeta: Whether the trees are searched for if both meta pages are
    ///   unreadable.
    func open<Result>(
        findsLostMeta: Bool = false, progress: ((Progress) -> Void)? = nil, _ body: (StoreFile) throws -> Result
    ) throws -> Result {
        let told = progress.map { told in { told(Progress(pages: $0, total: $1)) } }
        guard let state else {
            return try StoreFile.open(at: path, findsLostMeta: findsLostMeta, lag: lag, progress: told, body)
        }
        let result = Swift.Result { try StoreFile.open(in: state, progress: told, body) }
        if state.isCancelled?() ?? false { throw Cancelled() }
        return try result.get()
    }

    /// The end of a question that was cancelled: what it gave before is incomplete.
    package struct Cancelled: Error {}

    /// Holds one state of the file while the closure runs.
    ///
    /// - Parameters:
    ///   - isCancelled: Whether a running question is to end; checked at every page.
    ///   - body: A closure that is called with an inspector whose questions are all about that
    ///     state. The inspector must not be used after it returns.
    /// - Throws: The closure's error; `StoreOpenError` if nothing is readable.
    package func holdingState<Result>(
        isCancelled: @escaping @Sendable () -> Bool = { false }, _ body: (StoreInspector) throws -> Result
    ) throws -> Result {
        try FileState.hold(at: path) { state in
            var state = state
            state.isCancelled = isCancelled
            return try body(StoreInspector(path, state))
        }
    }

    /// The number of commits since the held state, whose pages writers cannot reuse; 0 if none is
    /// held.
    package var commitsBehind: UInt64 {
        guard let state, state.aloneBecause == nil else { return 0 }
        let file = PageFile(borrowing: state.descriptor, path: state.path)
        guard let newest = try? FileSnapshot.meta(of: file).0.transaction, newest > state.meta.transaction else {
            return 0
        }
        return newest - state.meta.transaction
    }
}
