/// From one record to another along a to-one relationship.
struct QueryStep {
    /// 0 for the record itself, else one more than the step that leads there.
    let origin: Int
    let source: QueryPlace.Source
    let rank: Int
    /// The entity at which the step begins, and the one that it leads to.
    let owner: Catalog.Entity
    let destination: Catalog.Entity
    let name: String
}
