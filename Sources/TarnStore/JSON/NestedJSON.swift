internal import LMDB

/// The targets of a path of relationships, written into the JSON object of one record.
struct NestedJSON {
    /// The name of the member: those of the path, joined with dots.
    let name: String
    private let names: [String]
    private let isToMany: Bool
    private let plan: Unmanaged<RowPlan>
    private let first: Step
    private let access: StoreAccess

    /// A relationship and its destination.
    private typealias Step = (relationship: Catalog.Relationship, destination: Catalog.Entity)

    init<Column: RelationshipColumn>(
        _ access: StoreAccess, _ owner: Unmanaged<RowPlan>, _ column: Column
    ) throws(StoreError) {
        names = column.names
        name = names.count == 1 ? names[0] : names.joined(separator: ".")
        isToMany = Column.isToMany
        plan = try access.plan(Column.Target.self)
        self.access = access
        let step = try owner.takeUnretainedValue().relationship(column.names.first ?? "")
        first = (step.relationship, step.destination)
    }

    /// Appends the targets of a record: an object or null, or an array.
    func append(of key: Bytes, _ row: EncodedRow, _ entity: Catalog.Entity, to text: inout JSONText) throws {
        var isFirst = true
        if isToMany { text.append(UInt8(ascii: "[")) }
        try forEachTarget(first, names.dropFirst(), key, row, entity) { target in
            let mark = access.rowMark
            defer { access.release(to: mark) }
            let (table, root) = plan._withUnsafeGuaranteedRef { ($0.table, $0.root) }
            // A missing target is left out.
            guard let bytes = try access.records.stored(target, in: table, root: root),
                let row = try access.records.lend(bytes, plan, sought: target, borrowed: false, { _ in true })
            else { return isToMany }
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            try row.appendJSON(to: &text)
            return isToMany
        }
        if isToMany { text.append(UInt8(ascii: "]")) } else if isFirst { text.append(json: "null") }
    }

    /// Calls a closure with the storage keys at the end of a path, until it returns false.
    ///
    /// - Parameters:
    ///   - step: the first relationship of the path, which `entity` has.
    ///   - rest: the names of the others.
    private func forEachTarget(
        _ step: Step, _ rest: ArraySlice<String>, _ key: Bytes, _ row: EncodedRow, _ entity: Catalog.Entity,
        _ body: (Bytes) throws -> Bool
    ) throws {
        let (relationship, destination) = step
        if rest.isEmpty, plan._withUnsafeGuaranteedRef({ $0.entity.id }) != destination.id {
            throw StoreError.wrongType(
                entity: entity.name, field: relationship.name, expected: destination.name,
                found: plan._withUnsafeGuaranteedRef { $0.entity.name })
        }
        func follow(_ target: Bytes) throws -> Bool {
            guard let name = rest.first else { return try body(target) }
            try access.lending {
                guard let row = try access.records.row(destination, target) else { return }
                try forEachTarget(next(name, destination), rest.dropFirst(), target, row, destination, body)
            }
            // A path leads through to-one relationships.
            return false
        }
        guard relationship.isStored else { return try access.targets(of: key, relationship, follow) }
        guard let value = row.body.value(of: relationship.field), !value.isNull else { return }
        if let target = value.reference {
            _ = try follow(target)
        } else if try !access.forEachReference(value, follow) {
            throw StoreError.damagedRow(entity: entity.name, key: access.describe(key))
        }
    }

    private func next(_ name: String, _ entity: Catalog.Entity) throws(StoreError) -> Step {
        guard let relationship = access.catalog.relationship(name, of: entity),
            let destination = access.catalog.entity(id: relationship.destination)
        else {
            throw .unknownField(
                entity: entity.name, name: name, known: access.catalog.relationships(of: entity).map(\.name))
        }
        return (relationship, destination)
    }
}
