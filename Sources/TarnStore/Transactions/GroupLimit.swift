/// The limits of a group of writes that are committed together.
enum GroupLimit {
    static let writes = 256
    static let time = Duration.milliseconds(10)
    /// The longest wait for the writes that formed the last group.
    /// Their callers often write again as soon as they have their results. The wait is also limited
    /// to a quarter of the time of the last group.
    static let patience = Duration.milliseconds(2)
}
