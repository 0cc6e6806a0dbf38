import Locking
internal import TarnStore

/// The compiled bodies of one mapping. Another state of the catalog compiles them again.
package final class BodyPlanCache: Sendable {
    /// The entity and the forms of a body. It depends on the catalog and the mapping as well.
    private struct Key: Hashable {
        let entity: UInt16
        /// The options without the fields that are sent.
        let options: BodyOptions
    }

    private struct State {
        var catalog = Catalog()
        var plans: [Key: BodyPlan] = [:]
    }

    /// The most plans: options come from a description, so there are few.
    private static let limit = 256
    private let state = Guarded(State())

    /// Creates a cache.
    package init() {}

    /// Returns the compiled bodies of an entity.
    func plan(
        _ entity: Catalog.Entity, _ mapping: Mapping, _ catalog: Catalog, _ options: BodyOptions
    ) throws(BodyError) -> BodyPlan {
        var forms = options
        forms.fields = nil
        forms.omitted = []
        let key = Key(entity: entity.id, options: forms)
        let known = state.withLock { state in
            // An unchanged catalog has the same storage, which is compared at once.
            state.catalog == catalog ? state.plans[key] : nil
        }
        if let known { return known }
        let plan = try BodyPlan(entity, mapping, catalog, options)
        state.withLock { state in
            if state.catalog != catalog || state.plans.count >= BodyPlanCache.limit {
                state = State(catalog: catalog)
            }
            state.plans[key] = plan
        }
        return plan
    }
}
