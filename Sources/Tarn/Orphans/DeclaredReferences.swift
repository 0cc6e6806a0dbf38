// The references by which a record belongs to another one in a description.

import TarnStore

/// The references that the relationships of a description store, found from their targets.
///
/// A store keeps the references of relationships that its description no longer has: they lead
/// nowhere that a request would.
struct DeclaredReferences {
    private struct Index {
        var id: UInt32
        var isPositioned: Bool
    }

    /// The indexes of the references to records, by the root of their entity.
    private var indexes: [UInt16: [Index]] = [:]
    /// The relationships by which records name the owner of a list that they are in, by the root of
    /// their entity.
    private var owners: [UInt16: [Catalog.Relationship]] = [:]

    /// - Parameters:
    ///   - schema: the schema of the description.
    ///   - others: relationships of other descriptions that share the store: `Issue.labels`.
    init(_ schema: Schema, _ catalog: Catalog, others: Set<String> = []) {
        let own = schema.entities.flatMap { entity in entity.relationships.map { "\(entity.name).\($0.name)" } }
        let declared = others.union(own)
        func isDeclared(_ entity: Catalog.Entity, _ name: String) -> Bool {
            declared.contains("\(entity.name).\(name)")
        }
        for owner in catalog.entities {
            let stored = catalog.relationships(of: owner).filter(\.isStored)
            for field in owner.fields {
                guard case .reference(let reference) = field.kind, let index = field.index, index > 0,
                    let destination = catalog.entity(id: reference.destination)
                else { continue }
                if isDeclared(owner, field.name) {
                    indexes[destination.root, default: []].append(
                        Index(id: index, isPositioned: reference.inverseIsOrdered))
                }
                if let inverse = reference.inverse, isDeclared(destination, inverse),
                    let relationship = stored.first(where: { $0.field == field.id })
                {
                    owners[owner.root, default: []].append(relationship)
                }
            }
        }
    }

    /// Returns whether a reference leads to a record.
    func lead(to record: ListedRecord, _ access: StoreAccess) throws -> Bool {
        var isFound = false
        try record.storageKey.withUnsafeBytes { key in
            func find(_: Bytes) -> Bool {
                isFound = true
                return false
            }
            for index in indexes[record.entity] ?? [] where !isFound {
                try access.indexes.forEachReferrer(
                    of: key, through: index.id, positioned: index.isPositioned, find)
            }
            for relationship in owners[record.entity] ?? [] where !isFound {
                try access.targets(of: key, relationship, find)
            }
        }
        return isFound
    }
}
