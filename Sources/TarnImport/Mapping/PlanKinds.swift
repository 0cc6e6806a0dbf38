internal import TarnStore

/// The inheritance trees of the entities, by the positions of their plans.
struct PlanKinds {
    /// For each plan, the plan of the topmost entity.
    private let roots: [Int32]
    /// Whether no entity descends from another one.
    private let isFlat: Bool
    /// For each plan, the plans of its ancestors.
    private let above: [[Int]]

    init() {
        roots = []
        above = []
        isFlat = true
    }

    init(_ catalog: Catalog) {
        let positions = Dictionary(uniqueKeysWithValues: catalog.entities.enumerated().map { ($1.id, $0) })
        roots = catalog.entities.enumerated().map { Int32(positions[$1.root] ?? $0) }
        isFlat = catalog.entities.allSatisfy { $0.parent == nil }
        above = catalog.entities.map { catalog.ancestors(of: $0.id).compactMap { positions[$0] } }
    }

    /// Returns the plan of the topmost entity of a plan's tree.
    @inline(__always)
    func root(of plan: Int) -> Int32 { isFlat ? Int32(truncatingIfNeeded: plan) : roots[plan] }

    /// Returns whether a plan is another one, or that of a descendant.
    func isKind(_ plan: Int, of other: Int) -> Bool { plan == other || above[plan].contains(other) }
}
