// Choosing how to find the records of a query.

internal import LMDB

struct QueryPlanner {
    let access: StoreAccess
    let query: CompiledQuery

    init(_ access: StoreAccess, _ query: CompiledQuery) {
        self.access = access
        self.query = query
    }

    func choose() throws -> QueryAccess {
        if case .never = query.node { return QueryAccess(form: .nothing, residual: .never, isOrdered: true) }
        let path = scan
        return QueryAccess(form: .path(path), residual: path.residual, isOrdered: path.isOrdered)
    }

    private var scan: AccessPath {
        let source: AccessPath.Source = query.entity.members.map { .members($0) } ?? .rows
        var path = AccessPath(source: source, residual: query.node)
        path.isOrdered = query.order.isEmpty
        return path
    }
}
