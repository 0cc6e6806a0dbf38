/// A step from one record to another along a to-one relationship.
struct QueryStep {
    /// 0 for the record itself, else the index of the preceding step plus 1.
    let origin: Int
    let source: QueryPlace.Source
    let rank: Int
    /// The entities at the start and at the end of the step.
    let owner: Catalog.Entity
    let destination: Catalog.Entity
    let name: String
}
