internal import TarnStore

/// The trees of entities, by the positions of their plans.
struct PlanKinds {
    /// Of each plan that of the topmost entity.
    private let roots: [Int32]
    /// Whether no entity descends from another one.
    private let isFlat: Bool
    /// Of each plan those of the entities above it.
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

    /// The plan of the topmost entity of a plan's tree.
    @inline(__always)
    func root(of plan: Int) -> Int32 { isFlat ? Int32(truncatingIfNeeded: plan) : roots[plan] }

    /// Whether a plan is another one, or of an entity that descends from its.
    func isKind(_ plan: Int, of other: Int) -> Bool { plan == other || above[plan].contains(other) }
}
