// The description of a command that reads it again and again: a watch looks for changes of the
// file.

import Locking
import Tarn

/// Reads a description, and keeps it for a moment: with hundreds of APIs, each of which is watched
/// by itself, reading it would take all of the time.
final class DescriptionCache: Sendable {
    private struct Known: Sendable {
        let description: Description
        /// The time until which it is used.
        let end: ContinuousClock.Instant
    }

    /// A description is kept for so many times as long as it takes to read it.
    private static let share = 20
    private static let longest = Duration.seconds(2)

    private let read: @Sendable () throws -> Description
    private let known = Guarded<Known?>(nil)

    init(_ read: @escaping @Sendable () throws -> Description) { self.read = read }

    /// Returns the description as it is now, or was a moment ago.
    ///
    /// - Parameter anew: whether the file is read in any case.
    func description(anew: Bool = false) throws -> Description {
        try known.withLock { known throws -> Description in
            let began = ContinuousClock.now
            if !anew, let known, began < known.end { return known.description }
            known = nil
            let description = try read(), end = ContinuousClock.now
            let pause = min(began.duration(to: end) * DescriptionCache.share, DescriptionCache.longest)
            known = Known(description: description, end: end + pause)
            return description
        }
    }
}
