/// The result of a step of an index build.
struct IndexStep {
    /// The indexes of the step with their new marks; nil if an index is done.
    var indexes: [(id: UInt32, mark: IndexMark?)]
    /// The number of rows or entries read, and the bytes of the rows.
    var count = 0
    var bytes = 0
    /// The violation of an index that was to be unique. The caller throws it or keeps it.
    var violation: StoreWriteError?
    /// Whether an index has another phase after the step.
    var isTransition: Bool
}
