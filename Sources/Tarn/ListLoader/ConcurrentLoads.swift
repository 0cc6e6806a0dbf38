/// The rule for a load of a list that is requested while others are under way or wait.
///
/// Loads of one list run one after the other. Two loads are the same if they load the same page.
public enum ConcurrentLoads: Sendable, Hashable, CaseIterable {
    /// The load waits for all others.
    case queue
    /// The load replaces those that wait, which are skipped, and waits for the one under way.
    case replaceQueue
    /// The load cancels all others, whose calls throw `CancellationError`.
    case cancelOthers
    /// The load is skipped if another one is under way or waits. One that was cancelled does not
    /// count.
    case skip
    /// The load is skipped if the same one is under way or waits; otherwise it waits.
    case skipSame
    /// The call waits for the same load and has its result; without one, the load waits for all
    /// others.
    case join
}
