internal import LMDB

/// What a step has come to.
struct IndexStep {
    /// The indexes that it worked on, with what is still to be done; nil if nothing is.
    var indexes: [(id: UInt32, mark: IndexMark?)]
    /// Rows or entries that it went through, and the bytes of the rows.
    var count = 0
    var bytes = 0
    /// Records that have the same values in an index that was to be unique; thrown or kept, as the caller likes.
    var violation: StoreError?
    /// Whether some index has another phase now.
    var isTransition: Bool
}
