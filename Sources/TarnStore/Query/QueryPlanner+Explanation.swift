// Plans in words.

internal import LMDB

extension QueryPlanner {
    func explanation() throws -> QueryPlan {
        let chosen = try choose()
        let total = try access.count(query.entity)
        let sort: QueryPlan.Sort = chosen.isOrdered ? (query.order.isEmpty ? .none : .byIndex) : .inMemory
        return QueryPlan(access: ["all rows of \(query.entity.name)"], filter: nil, sort: sort, estimatedRows: total, totalRows: total, advice: nil)
    }
}
