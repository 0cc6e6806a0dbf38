// Records of `for_each` that came while an endpoint was scanned for the others.

import TarnStore

extension EndpointScan {
    /// Counts the records whose lists this scan has not requested, because it has stored them
    /// itself: those of a tree come a level at a time.
    func noteNewParents(after requested: [ParentRecord?]) throws {
        guard let forEach = endpoint.forEach, givenParents == nil, !options.isDryRun, !report.wasStopped,
            report.report.created > 0
        else { return }
        let catalog = client.store.catalog, root = catalog.entity(forEach.entity)?.root
        let listed = endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
        guard listed.contains(where: { catalog.entity($0)?.root == root }) else { return }
        let known = Set(requested.compactMap { $0?.key }), values = Set(requested.compactMap { $0?.values })
        report.newParents = try request.parents(forEach).parents.count { parent in
            // Without a reference to the parent, one request stands for all with equal values.
            !known.contains(parent.key) && (forEach.parent != nil || !values.contains(parent.values))
        }
    }
}
