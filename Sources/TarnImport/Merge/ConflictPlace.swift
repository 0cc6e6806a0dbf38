/// The identity of a one-to-one reference: owner, relationship and target.
struct ConflictPlace: Hashable {
    private let plan: Int
    private let field: UInt16
    private let owner: [UInt8]
    private let target: [UInt8]

    init(_ claim: ReferenceConflict, _ owner: [UInt8]) {
        plan = claim.plan
        field = claim.field
        self.owner = owner
        target = claim.target
    }
}
