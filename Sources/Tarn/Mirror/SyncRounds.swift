import Locking

/// The progress of endpoints that one sync scans in several rounds.
///
/// Each endpoint has one end, with the counts of all rounds.
final class SyncRounds: Sendable {
    private let progress: @Sendable (SyncProgress) -> Void
    /// The ends of the last rounds by endpoint, each with the counts of all rounds before it.
    private let ends = Guarded<[String: SyncProgress]>([:])

    init(_ progress: @escaping @Sendable (SyncProgress) -> Void) { self.progress = progress }

    /// Reports the progress of a round with the counts of those before it, but not its end.
    @Sendable func update(_ reported: SyncProgress) {
        let sum = ends.withLock { ends -> SyncProgress? in
            let sum = reported.following(ends[reported.endpoint])
            guard case .end = reported.event else { return sum }
            ends[reported.endpoint] = sum
            return nil
        }
        if let sum { progress(sum) }
    }

    /// Reports the ends of endpoints.
    func end(_ names: [String]) {
        let ends = ends.withLock { $0 }
        for name in names { if let end = ends[name] { progress(end) } }
    }
}
