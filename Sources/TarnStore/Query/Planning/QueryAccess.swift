internal import LMDB

/// What a planner has chosen.
struct QueryAccess {
    enum Form {
        case nothing
        case path(AccessPath)
        /// Records that are in one of several, each once.
        case union([AccessPath])
    }

    var form: Form
    /// What rows have to meet that are found.
    var residual: QueryNode
    var isOrdered: Bool

    /// Whether what is found is in the result without a look at its row.
    func isExact(_ query: CompiledQuery) -> Bool {
        if case .path(let path) = form { path.isExact(query) } else { false }
    }
}
