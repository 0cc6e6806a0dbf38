/// A snapshot that keeps the pages of later commits from being reused.
package struct SnapshotLag: Sendable, Hashable {
    /// The age of the snapshot, in seconds.
    package var seconds: Int
    /// The number of commits since.
    package var commits: UInt64
    /// The growth of the file since, in bytes.
    package var grownBytes: UInt64
}

/// A watch over a snapshot, which reports once that it holds up a busy writer.
final class SnapshotWatch {
    private let file: PageFile
    private let transaction: UInt64
    private let begin = ContinuousClock.now
    private let patience: Duration
    private let report: (SnapshotLag) -> Void
    private let byteCount: UInt64
    private var isReported = false
    /// The commits below which a snapshot counts as harmless.
    private static let fewCommits: UInt64 = 10

    init(_ file: PageFile, _ transaction: UInt64, patience: Duration, _ report: @escaping (SnapshotLag) -> Void) {
        (self.file, self.transaction, self.patience, self.report) = (file, transaction, patience, report)
        byteCount = file.byteCount
    }

    /// Looks at the newest commit of the file, once the snapshot is old enough.
    func check() {
        let age = ContinuousClock.now - begin
        guard !isReported, age >= patience, let newest = try? FileSnapshot.meta(of: file).0.transaction,
            newest > transaction, newest - transaction >= SnapshotWatch.fewCommits
        else { return }
        isReported = true
        let size = file.byteCount
        report(
            SnapshotLag(
                seconds: Int(age.components.seconds), commits: newest - transaction,
                grownBytes: size > byteCount ? size - byteCount : 0))
    }
}
