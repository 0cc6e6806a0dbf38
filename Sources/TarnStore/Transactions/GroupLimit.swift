internal import LMDB

/// What bounds a group of writes that are committed together.
enum GroupLimit {
    static let writes = 256
    static let time = Duration.milliseconds(10)
    /// Who was committed with others last time comes again soon, each of them as soon as it has its result: the next group waits
    /// for them, but not longer than a part of what a commit takes, nor than this.
    static let patience = Duration.milliseconds(2)
}
