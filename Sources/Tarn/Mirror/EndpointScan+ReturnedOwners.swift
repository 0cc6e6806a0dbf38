// Records that come back, and the lists of changes that have lost records, or references, with
// them.

import TarnStore

extension EndpointScan {
    /// The lists that may lack what was deleted with a record that has come back since their scans
    /// began, with their progress.
    ///
    /// The deletion has deleted records that refer to it, or has removed their references. A
    /// request for changes does not list them again: at the server they have not changed. The
    /// records of ``Endpoint/ForEach`` have lists of their own: see ``listsOfReturned(_:_:)``.
    ///
    /// A deletion counts as long as it is in the log of changes.
    ///
    /// - Parameter names: the names of the lists.
    func listsOfReturnedOwners(_ names: [String], _ reader: StoreReader) throws -> [(String, Checkpoint)] {
        let catalog = reader.catalog, parent = endpoint.forEach.flatMap { catalog.entity($0.entity)?.id }
        let owners = owners(catalog, except: parent)
        guard !owners.isEmpty else { return [] }
        var lists: [(name: String, progress: Checkpoint, first: UInt64)] = []
        for name in names {
            // A first scan that is under way may not have a value yet.
            guard let progress = try reader.checkpoint(name), progress.outdated != nil else { continue }
            // Earlier versions have not noted it.
            let begun =
                try progress.begunAfter.map { $0 < .max ? $0 + 1 : $0 }
                ?? reader.access.checkpoints.sequence(of: name)
            if let begun { lists.append((name, progress, begun)) }
        }
        guard let first = lists.map(\.first).min() else { return [] }
        let last: UInt64?
        do { last = try reader.access.lastReturn(of: owners, except: parent, from: first) } catch is ChangeLogError {
            last = .max
        }
        guard let last else { return [] }
        return lists.filter { $0.first <= last }.map { ($0.name, $0.progress) }
    }

    /// The entities whose deletion deletes listed records, or removes references of theirs.
    ///
    /// - Parameter parent: the entity of ``Endpoint/ForEach``, which is left out with its
    ///   descendants. Its ancestors may have other records.
    private func owners(_ catalog: Catalog, except parent: UInt16?) -> [String] {
        let listed = ([endpoint.entity] + endpoint.envelope.map(\.entity)).compactMap { catalog.entity($0)?.id }
        let family = Set(
            catalog.entities.map(\.id).filter { id in
                listed.contains { catalog.isKind(id, of: $0) || catalog.isKind($0, of: id) }
            })
        return catalog.entities.filter { owner in
            !(parent.map { catalog.isKind(owner.id, of: $0) } ?? false)
                && catalog.relationships(of: owner).contains { relationship in
                    let rule = relationship.deleteRule
                    return (rule == .cascade || rule == .nullify && !relationship.isStored)
                        && family.contains(relationship.destination)
                }
        }.map(\.name)
    }
}
