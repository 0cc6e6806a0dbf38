/// The planner's choice for a query.
struct QueryAccess {
    enum Form {
        case nothing
        case path(AccessPath)
        /// The records of any of several paths, each once.
        case union([AccessPath])
    }

    var form: Form
    /// The condition that is still checked on the rows found.
    var residual: QueryNode
    var isOrdered: Bool

    /// Returns whether every record found is in the result, without reading its row.
    func isExact(_ query: CompiledQuery) -> Bool {
        if case .path(let path) = form { path.isExact(query) } else { false }
    }
}
