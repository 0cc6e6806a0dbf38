/// The targets of a relationship, and the struct type that they decode to.
@usableFromInline
struct RelatedRecords<Target: StoredRecord> {
    @usableFromInline let keys: RelatedKeys
    @usableFromInline let plan: Unmanaged<RowPlan>

    /// Resolves the relationship and the struct's fields.
    ///
    /// - Throws: `.unknownField`; `.wrongType` if the relationship leads to another entity than the
    ///   struct's.
    init<Owner>(_ access: StoreAccess, _ entity: Catalog.Entity, _ inclusion: Inclusion<Owner, Target>)
        throws(StoreError)
    {
        keys = try RelatedKeys(access, entity, inclusion.relationship)
        guard keys.destination.name == Target.entity else {
            throw .wrongType(
                entity: entity.name, field: inclusion.relationship, expected: keys.destination.name,
                found: Target.entity)
        }
        plan = try access.plan(Target.self)
    }

    /// The targets of relationships that were resolved before.
    @usableFromInline
    init(_ keys: RelatedKeys, _ plan: Unmanaged<RowPlan>) {
        self.keys = keys
        self.plan = plan
    }

    @inlinable
    func load() throws -> Included<Target> {
        var records: [Target] = []
        let places = try keys.load(plan) { row in
            let row = Row<Target>(row)
            do {
                records.append(try row.copy())
                return true
            } catch let error as StoreError {
                // A partial record lacks a required value: it is left out. Every other error fails
                // the list.
                guard case .missingValue(_, _, _, isPartial: true) = error else { throw error }
                return false
            }
        }
        return Included(records, places)
    }
}
